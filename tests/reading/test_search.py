"""Search: what is found for which query, and in which order."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sitemirror.errors import UsageError
from sitemirror.reading.search import search, snippet
from sitemirror.reading.sections import split
from sitemirror.text import UNPRINTABLE
from tests.reading.conftest import Published

PAGES = {
    "json": (
        "# `json` — JSON encoder\n\nReads and writes.\n\n## Basic Usage\n\n"
        "- `json.loads(s, *, cls=None)`\n\n  Deserialize *s* to a Python object.\n\n"
        "- `class json.JSONDecoder(*, strict=True)`\n\n  A decoder.\n\n"
        "  - `decode(s)`\n\n    Return the representation.\n"
    ),
    "pickle": "# pickle\n\nSimilar to `json.loads` but binary; loads and dumps; json.loads json.loads json.loads.\n",
    "cpp": "# Containers in C++\n\nA `std::vector` grows. Use `->` for pointers, and version v1.1.6 of a-b.\n",
    "csharp": "# Containers in C#\n\nThe vector of C and of C#.\n",
    "react": "# Hooks\n\n## `useEffect(setup)`\n\nRuns an effect.\n\n## Rules\n\nCall useEffect at the top.\n",
    "cli": "# Options\n\n- `--rate-limit R, -r R`\n\n  Requests per second.\n\n- `-R`\n\n  Recursive.\n",
    "guide": "# Guide\n\nSet the rate limit with an option. The limit of the rate is one.\n\n## Timeouts\n\nWait.\n",
    "ja": "# 設定\n\nデータベースの設定方法について説明します。\n",
    "fn": "# Functions\n\n- **Parameters**\n  - **separators** – what parts items\n  - **indent** – how far\n",
}


@pytest.fixture
def docs(mirror: Published) -> Published:
    mirror.have(PAGES)
    return mirror


@pytest.mark.parametrize(
    ("query", "page"),
    [
        ("json.loads", "json"),
        ("json.loads()", "json"),
        ("loads", "json"),
        ("JSONDecoder.decode", "json"),
        ("json.JSONDecoder.decode", "json"),
        ("std::vector", "cpp"),
        ("C++", "cpp"),
        ("c#", "csharp"),
        ("->", "cpp"),
        ("v1.1.6", "cpp"),
        ("a-b", "cpp"),
        ("useEffect", "react"),
        ("@useEffect", "react"),
        ("--rate-limit", "cli"),
        ("-r", "cli"),
        ("rate limits", "guide"),
        ("timeout", "guide"),
        ("設定方法", "ja"),
        ("データベース", "ja"),
        ("separators", "fn"),
        ('"limit of the rate"', "guide"),
        ("how do I set the rate limit?", "guide"),
        ("deserial", "json"),
        ("DÉSERIALIZE", "json"),
        ("pickle", "pickle"),
    ],
)
def test_found_first(docs: Published, query: str, page: str) -> None:
    """Symbols, operators, options, words, phrases, CJK and beginnings of words find their page."""
    assert docs.found(query)[:1] == [page]


@pytest.mark.parametrize(
    "query",
    [
        *(
            '"',
            "'",
            "*",
            "^",
            "(",
            ")",
            "NEAR(",
            "AND",
            "OR NOT",
            "a OR",
            "title:",
            "-",
            "--",
            "{x}",
            "\\",
            "%",
            "_",
            ";",
        ),
        *(
            "a\x00b",
            "a\ud800",
            "😀",
            "👩‍👩‍👧",
            "'; drop table page; --",
            "x" * 10_000,
            "word " * 2_000,
            '"' * 99,
            ".",
        ),
        *(
            "@x",
            "C++",
            "v1.1.6",
            "a-b",
            "foo(bar",
            "a:b",
            "NOT",
            "+x",
            "x*",
            "^x",
            "a AND (b",
            "\n\tx\n",
            "İ",
            "ß",
            "１",
        ),
    ],
)
def test_any_text_is_a_query(docs: Published, query: str) -> None:
    """No text is an error of the index."""
    report = docs.search(query)
    assert report.results or report.suggestions


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60, deadline=None)
@given(st.text(min_size=1, max_size=60))
def test_any_unicode_is_a_query(docs: Published, query: str) -> None:
    """The same for any text at all, unless it is nothing but what cannot be seen."""
    if UNPRINTABLE.sub(" ", query).strip():
        docs.search(query)


@pytest.mark.parametrize("query", ["", "  ", "\x00", "\n", "\u202e", "\ud800"])
def test_empty_query_is_refused(docs: Published, query: str) -> None:
    """Nothing is no query."""
    with pytest.raises(UsageError, match="empty"):
        docs.search(query)


def test_no_hit_names_what_there_is(docs: Published) -> None:
    """Where nothing matches, the titles most like the query are named."""
    report = docs.search("timeoutz")
    assert report.results == ()
    assert report.total == 0
    assert docs.search("Hoooks").suggestions[0] == "Hooks"


def test_result_says_where(docs: Published) -> None:
    """A result has title, headings, file, lines, tokens, snippet, site and date of its section."""
    [first, *_] = docs.search("json.loads").results
    assert first.headings == ("json — JSON encoder", "Basic Usage")
    assert first.title == "`json` — JSON encoder"
    assert (first.url, first.site) == ("https://docs.example/json", "docs.example")
    assert first.path == docs.file("json").as_posix()
    text = Path(first.path).read_text("utf-8")
    lines = text.splitlines()
    assert lines[first.lines[0] - 1] == "## Basic Usage"
    assert first.lines[1] == len(lines)
    assert "Deserialize" in first.snippet
    assert "`" not in first.snippet
    assert (first.fetched_at, first.anchor) == ("2026-01-01T00:00:00Z", "basic-usage")
    [section] = [each for each in split(text, url=first.url, path="x") if each.id == first.id]
    assert section.tokens == first.tokens


def test_one_page_does_not_fill_the_list(mirror: Published) -> None:
    """Each page is named once before a page is named twice."""
    many = "# Quotas\n\n" + "".join(f"## Quota {number}\n\nA quota of quotas.\n\n" for number in range(30))
    mirror.have({"many": many, "one": "# One\n\nA word on a quota.\n", "two": "# Two\n\nHere is the quota.\n"})
    found = mirror.found("quota")
    assert sorted(found[:3]) == ["many", "one", "two"]
    assert len(found) == 10
    assert mirror.search("quota", limit=2).total == 33


def test_index_pages_come_last(mirror: Published) -> None:
    """A page that is nothing but links names everything and answers nothing."""
    links = "".join(f"- [walrus {number}](https://docs.example/p{number})\n" for number in range(60))
    mirror.have({"genindex": f"# Index of walrus\n\n{links}", "p": "# Animals\n\nThe walrus eats clams.\n"})
    assert mirror.found("walrus")[0] == "p"


def test_release_notes_are_not_the_definition(mirror: Published) -> None:
    """An item that is a link to another page mentions a name, and does not define it."""
    mirror.have(
        {
            "news": "# News\n\n- [`frob()`](https://docs.example/api#frob)\n- [`frob()`](https://docs.example/api#frob)\n",
            "api": "# API\n\n" + "Some words.\n\n" * 50 + "- `frob(x)`\n\n  Turns.\n",
        }
    )
    assert mirror.found("frob")[0] == "api"


def test_owner_decides_between_equal_names(mirror: Published) -> None:
    """Of two members with one name, that of the class in the query comes first."""
    mirror.have(
        {
            "a": "# A\n\n- `class Alpha()`\n\n  - `close()`\n\n    Ends it.\n",
            "b": "# B\n\n- `class Beta()`\n\n  - `close()`\n\n    Ends it.\n",
        }
    )
    assert mirror.found("Beta.close")[0] == "b"
    assert mirror.found("Alpha.close")[0] == "a"
    assert mirror.found("x.y.Beta.close")[0] == "b"


def test_case_decides_between_options(mirror: Published) -> None:
    """`-r` and `-R` are two options."""
    mirror.have({"a": "# A\n\n- `-r`\n\n  One.\n", "b": "# B\n\n- `-R`\n\n  Other.\n"})
    assert (mirror.found("-r")[0], mirror.found("-R")[0]) == ("a", "b")


def test_many_mirrors_are_one_ranking(tmp_path: Path) -> None:
    """More mirrors than SQLite attaches at once are searched together, and the best of all comes first."""
    for number in range(14):
        title = "Zebra" if number == 7 else "Other"
        Published(tmp_path / "output" / f"h{number}.example").have({"p": f"# {title}\n\nA zebra.\n", "q": "# Q\n"})
    report = search("zebra", [tmp_path], limit=20)
    assert len(report.results) == 14
    assert report.results[0].site == "h7.example"
    assert len({result.site for result in report.results}) == 14
    assert len(search("zebra", [tmp_path / "output/h1.example", tmp_path / "output/h2.example"]).results) == 2


def test_common_end_of_titles_is_left_out(mirror: Published) -> None:
    """The site's name at the end of each title says nothing about a page."""
    mirror.have({name: f"# {name.title()} — Example Docs\n\nText.\n" for name in ("setup", "usage", "faq")})
    assert mirror.search("usage").results[0].title == "Usage"


def test_folder_without_mirrors(tmp_path: Path) -> None:
    """A folder that holds no mirror, or is none, is refused with a hint."""
    with pytest.raises(UsageError, match=r"no mirror in .* _manifest\.json"):
        search("x", [tmp_path])
    with pytest.raises(UsageError, match="does not exist"):
        search("x", [tmp_path / "nowhere"])
    with pytest.raises(UsageError, match="1 or more"):
        search("x", [tmp_path], limit=0)


def test_html_mirror_is_refused_with_a_hint(mirror: Published) -> None:
    """An HTML copy has no Markdown to search; the hint names the option that saves it."""
    row = mirror.write("p", "# P\n")
    row.path = "p/index.html"
    mirror.publish([row])
    with pytest.raises(UsageError, match="no Markdown") as caught:
        mirror.search("p")
    assert "--format both" in caught.value.hint


def test_snippet_shows_the_words() -> None:
    """A snippet is a piece of plain text around the words, in one line."""
    text = "# T\n\n" + "Filler text. " * 100 + "The [needle](https://e.example/x) is **here**.\n\n" + "More. " * 100
    piece = snippet(text, ["needle"])
    assert "The needle is here." in piece
    assert piece.startswith("… ")
    assert piece.endswith(" …")
    assert len(piece) < 260
    assert snippet("# T\n\n```py\nx = 1\n```\n", ["x"]) == "x = 1"
