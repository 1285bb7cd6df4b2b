"""The tools alone: what they answer, within which budget, and what they make of arguments."""

from __future__ import annotations

import json
import re
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from sitemirror.errors import SitemirrorError, UsageError
from sitemirror.mcp.answers import LEAST, MOST
from sitemirror.mcp.shelf import Shelf
from sitemirror.mcp.tools import TOOLS, tool_named
from sitemirror.reading.sections import estimate_tokens

QUOTE = re.compile(r"^\[quote ([0-9a-f]{12})\]\n(.*)\n\[end of quote \1\]$", re.DOTALL | re.MULTILINE)


def call(shelf: Shelf, name: str, **arguments: Any) -> str:
    return tool_named(name)(shelf, arguments)


def quoted(answer: str) -> str:
    """What an answer quotes from the site; the mark is that of what is between the marks."""
    found = QUOTE.search(answer)
    assert found is not None, answer
    assert sha256(found[2].encode()).hexdigest()[:12] == found[1]
    return found[2]


def said(answer: str) -> str:
    """What an answer says of its own."""
    return QUOTE.sub("", answer)


def test_list_names_copies_with_source_and_date(shelf: Shelf) -> None:
    """Each with its pages and when it was copied."""
    answer = call(shelf, "docs_list")
    assert answer.startswith("2 mirrors of websites")
    lines = r"- (\S+): http://127\.0\.0\.1:\d+/, 5 pages, copied 20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ"
    assert re.findall(lines, answer) == ["docs.example.com", "other.example.com"]
    assert re.findall(r"- (\S+):", call(shelf, "docs_list", query="other")) == ["other.example.com"]


def test_search_names_source_file_lines_and_date(shelf: Shelf) -> None:
    """All that a citation needs, and the call that reads on."""
    answer = call(shelf, "docs_search", query="run_fast")
    assert "run()" in quoted(answer)
    assert re.search(r"source: http://127\.0\.0\.1:\d+/api/run\n", answer)
    assert re.search(
        r"file: docs\.example\.com/api/run/index\.md, lines \d+-\d+, \d+ tokens, section [0-9a-f]{16}", answer
    )
    assert re.search(r"docs\.example\.com: copied 20", said(answer))
    assert "other.example.com" not in call(shelf, "docs_search", query="run_fast", **{"in": "docs"})


def test_found_section_can_be_read_by_its_id(shelf: Shelf) -> None:
    """With the source that the search gave."""
    found = call(shelf, "docs_search", query="On Linux pip", **{"in": "docs"})
    source = re.search(r"source: (\S+)", found)
    section = re.search(r"section ([0-9a-f]{16})", found)
    assert source
    assert section
    assert quoted(call(shelf, "docs_read", ref=source[1], section=section[1])).strip() == "## On Linux\n\nUse pip."


def test_no_hit_says_what_there_is(shelf: Shelf) -> None:
    """Not an empty answer."""
    answer = call(shelf, "docs_search", query="zzqqxx")
    assert "Nothing found for 'zzqqxx' in docs.example.com, other.example.com (10 pages)" in answer
    assert quoted(answer)


@pytest.mark.parametrize(
    "query", ["@x", "C++", "v1.1.6", "a-b", '"', "'; --", "NEAR(", "a\0b", "💥", "日本語", "-", "x" * 10_000]
)
def test_any_query_is_answered(shelf: Shelf, query: str) -> None:
    """Operators, quotes, controls: found or not, never an error, and within the budget."""
    answer = call(shelf, "docs_search", query=query)
    assert estimate_tokens(answer) <= 4_000


@pytest.mark.parametrize(
    "ref",
    [
        "guide/install/index.md",
        "guide/install",
        "/guide/install/",
        "docs.example.com/guide/install/index.md",
        "docs.example.com/guide/install",
        "{url}guide/install",
        "{url}guide/install/",
        "{url}guide/install#on-linux-2",
        "{folder}/docs.example.com/guide/install/index.md",
    ],
)
def test_page_is_found_however_it_is_named(shelf: Shelf, mirrors: Path, ref: str) -> None:
    """By URL, by path, with the copy's name or folder before it, with or without a slash."""
    url = json.loads((mirrors / "docs.example.com" / "_manifest.json").read_text())["source_url"]
    answer = call(shelf, "docs_read", ref=ref.format(url=url, folder=mirrors))
    assert "file: docs.example.com/guide/install/index.md" in answer
    assert quoted(answer).startswith("# Install\n")


def test_section_by_heading_anchor_or_fragment(shelf: Shelf) -> None:
    """With what stands below it."""
    for arguments in ({"section": "On Linux"}, {"section": "on-linux"}, {"section": "linux"}):
        assert quoted(call(shelf, "docs_read", ref="guide/install", **arguments)).strip() == "## On Linux\n\nUse pip."
    assert quoted(call(shelf, "docs_read", ref="guide/install#on-linux")).startswith("## On Linux")
    assert quoted(call(shelf, "docs_read", ref="guide/install", section="Install")).endswith("Use pip.")
    with pytest.raises(UsageError, match="no section 'Windows'"):
        call(shelf, "docs_read", ref="guide/install", section="Windows")


def test_long_page_comes_with_headings_and_goes_on(shelf: Shelf, mirrors: Path) -> None:
    """Following the calls that the answers name gives every line of the file once."""
    file = (mirrors / "docs.example.com/guide/long/index.md").read_text("utf-8")
    arguments: dict[str, Any] = {"ref": "guide/long", "in": "docs", "budget": 1_500}
    lines: list[str] = []
    first = 0
    for _ in range(100):
        answer = call(shelf, "docs_read", **arguments)
        assert estimate_tokens(answer) <= 1_500
        span = re.search(r"^lines (\d+)-(\d+) of (\d+)", answer, re.MULTILINE)
        assert span
        first = first or int(span[1])
        assert int(span[1]) == first + len(lines)
        text = quoted(answer)
        if not lines:
            assert text.startswith("Headings of the page:\n- Long (lines ")
            text = text.partition("\n\n")[2]
        got = text.split("\n")
        got += [""] * (int(span[2]) - int(span[1]) + 1 - len(got))  # blank lines at the end of a quote
        lines += got
        more = re.search(r"^more: docs_read with ref=(\S+) and lines=(\d+-\d+)", answer, re.MULTILINE)
        if more is None:
            break
        arguments |= {"ref": more[1], "lines": more[2]}
    assert [line.rstrip() for line in lines] == [line.rstrip() for line in file.rstrip("\n").split("\n")[first - 1 :]]


@pytest.mark.parametrize("budget", [1, LEAST, 700, 4_000, MOST, 10**9])
def test_no_answer_breaks_its_budget(shelf: Shelf, budget: int) -> None:
    """Whatever is asked; more than the hard limit is never given."""
    most = min(max(budget, LEAST), MOST)
    calls: list[tuple[str, dict[str, Any]]] = [
        ("docs_list", {}),
        ("docs_search", {"query": "words part", "limit": 50}),
        ("docs_outline", {}),
        ("docs_outline", {"in": "docs"}),
        ("docs_outline", {"ref": "guide/long"}),
        ("docs_changes", {"since": "2020-01-01"}),
        *(("docs_read", {"ref": path}) for path in ("", "guide/long", "guide/install", "evil") if path),
    ]
    for name, arguments in calls:
        assert estimate_tokens(call(shelf, name, budget=budget, **arguments)) <= most, name


def test_line_longer_than_the_budget_is_said(own: Path) -> None:
    """There is a way round it."""
    file = own / "docs.example.com/guide/install/index.md"
    file.write_text("# Install\n\n" + "word " * 5_000 + "\n\nEnd.\n")
    shelf = Shelf([own])
    assert quoted(call(shelf, "docs_read", ref="guide/install", **{"in": "docs"})).endswith("# Install")
    with pytest.raises(UsageError, match=r"does not hold line 3 of the page.* lines=4-"):
        call(shelf, "docs_read", ref="guide/install", lines="3-", **{"in": "docs"})
    assert quoted(call(shelf, "docs_read", ref="guide/install", lines="4-", **{"in": "docs"})).strip() == "End."


def test_outline_goes_down_to_headings(shelf: Shelf) -> None:
    """Copies, folders, pages, headings with tokens."""
    assert "docs.example.com: http" in call(shelf, "docs_outline")
    top = quoted(call(shelf, "docs_outline", **{"in": "docs"}))
    assert "- guide/ (2 pages)" in top
    assert re.search(r"- index\.md: docs home \(~\d+ tokens\)", top)
    assert re.search(
        r"- guide/install/index\.md: Install", quoted(call(shelf, "docs_outline", ref="guide", **{"in": "docs"}))
    )
    page = quoted(call(shelf, "docs_outline", ref="guide/install"))
    assert re.fullmatch(r"- Install \(lines \d+-\d+, \d+ tokens\)\n  - On Linux \(lines \d+-\d+, \d+ tokens\)", page)


def test_listing_goes_on_where_it_ended(shelf: Shelf) -> None:
    """`skip` with the number that the answer names."""
    first = call(shelf, "docs_outline", ref="guide/long", budget=500)
    more = re.search(r"(\d+) more: docs_outline with skip=(\d+)", first)
    assert more
    rest = call(shelf, "docs_outline", ref="guide/long", skip=more[2])
    assert len(quoted(first).splitlines()) + len(quoted(rest).splitlines()) == 41
    assert "more:" not in rest


def test_changes_since_a_day(own: Path) -> None:
    """Changed pages and URLs that are gone, newest first."""
    manifest = own / "docs.example.com" / "_manifest.json"
    found = json.loads(manifest.read_text())
    for page in found["pages"]:
        page["changed_at"] = "2026-01-02T00:00:00Z" if page["path"].startswith("guide") else "2025-01-01T00:00:00Z"
    found["gone"] = [{"url": "https://docs.example.com/old", "path": "old/index.md", "since": "2026-01-03T00:00:00Z"}]
    manifest.write_text(json.dumps(found))
    answer = call(Shelf([own]), "docs_changes", since="2026-01-01", **{"in": "docs.example.com"})
    assert "2 pages new or changed, 1 URL gone or moved" in said(answer)
    entries = [line for line in quoted(answer).splitlines() if line.startswith("- ")]
    assert entries[0] == "- 2026-01-03T00:00:00Z gone or moved https://docs.example.com/old"
    assert len(entries) == 3
    with pytest.raises(UsageError, match="not a date"):
        call(Shelf([own]), "docs_changes", since="last week")


def test_updated_mirror_is_seen(own: Path) -> None:
    """A server that runs for days answers from what is there now."""
    shelf = Shelf([own])
    assert "there is no page" in str(error_of(shelf, "docs_read", ref="new"))
    folder = own / "docs.example.com"
    (folder / "new.md").write_text("# New\n\nA page called brandnew.\n")
    manifest = json.loads((folder / "_manifest.json").read_text())
    manifest["pages"].append({"url": "https://docs.example.com/new", "path": "new.md"})
    temporary = folder / "_manifest.json.tmp"
    temporary.write_text(json.dumps(manifest))
    temporary.replace(folder / "_manifest.json")
    assert "A page called brandnew." in call(shelf, "docs_read", ref="new")
    assert "new.md" in call(shelf, "docs_search", query="brandnew")


def error_of(shelf: Shelf, name: str, **arguments: Any) -> SitemirrorError:
    with pytest.raises(SitemirrorError) as raised:
        call(shelf, name, **arguments)
    return raised.value


# --- arguments --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("docs_search", {"q": "install", "library": "docs", "top_k": "2", "maxTokens": 1000.0}),
        ("docs_search", {"question": "install", "Site": ["docs"], "num_results": 2, "tokens": "1000"}),
        ("docs_search", {"query": "install", "in": "docs.example.com", "limit": "2", "budget": None}),
    ],
)
def test_other_names_for_arguments_are_understood(shelf: Shelf, name: str, arguments: dict[str, Any]) -> None:
    """As models write them, in any case, numbers in quotes."""
    entries = re.findall(r"^\d+\. ", quoted(tool_named(name)(shelf, arguments)), re.MULTILINE)
    assert 1 <= len(entries) <= 2


@pytest.mark.parametrize("name", ["url", "path", "uri", "page", "file", "source", "ID"])
def test_other_names_for_a_page_are_understood(shelf: Shelf, name: str) -> None:
    """The word under which another answer gave it, too."""
    assert quoted(tool_named("docs_read")(shelf, {name: "guide/install"})).startswith("# Install")


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        ("docs_search", {}, "docs_search needs query. Its arguments: query (needed), in, limit, skip, budget."),
        ("docs_search", {"querry": "x"}, 'docs_search has no argument "querry". Did you mean query?'),
        ("docs_search", {"query": "x", "version": "5"}, 'docs_search has no argument "version".'),
        ("docs_search", {"query": "x", "limit": "many"}, 'limit of docs_search must be a number, not "many".'),
        ("docs_search", {"query": {"a": 1}}, 'query of docs_search must be a text, not {"a": 1}.'),
        (
            "docs_search",
            {"query": "x", "in": "nowhere"},
            "no mirror called 'nowhere'. There are: docs.example.com, ",
        ),
        ("docs_read", {"ref": "instal"}, "Near ones: guide/install/index.md"),
        ("docs_read", {"ref": "../../etc/passwd"}, "there is no page"),
        ("docs_read", {"ref": "_manifest.json"}, "there is no page"),
        ("docs_read", {"ref": "guide/install", "lines": "x"}, "lines must be a range such as 41-80, not 'x'."),
        ("docs_read", {"ref": "guide/install", "lines": "900-"}, "is not in it"),
    ],
)
def test_what_is_not_understood_is_answered_with_what_there_is(
    shelf: Shelf, name: str, arguments: dict[str, Any], message: str
) -> None:
    """So that the next call is right."""
    assert message in str(error_of(shelf, name, **arguments))


@pytest.mark.parametrize("name", ["search_docs", "docs-search", "searchDocs", "docs_serach"])
def test_unknown_tool_is_answered_with_the_right_one(name: str) -> None:
    """One call in eight names a tool that does not exist."""
    with pytest.raises(UsageError, match=r"Did you mean docs_search\? The tools: docs_list, docs_search, "):
        tool_named(name)


def test_schemas_are_valid() -> None:
    """Clients check arguments against them."""
    import jsonschema

    for tool in TOOLS:
        jsonschema.Draft202012Validator.check_schema(tool.schema())


# --- what sites say ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("docs_search", {"query": "ignore previous instructions"}),
        ("docs_read", {"ref": "evil"}),
        ("docs_outline", {"in": "docs"}),
        ("docs_changes", {"since": "2020-01-01"}),
        ("docs_search", {"query": "zzqqxx"}),
    ],
)
def test_what_a_site_says_stays_between_the_marks(shelf: Shelf, name: str, arguments: dict[str, Any]) -> None:
    """Its titles, too. It cannot close the quote, and holds nothing that a terminal obeys."""
    answer = call(shelf, name, **arguments)
    inside = quoted(answer)
    assert "Ignore previous instructions" not in said(answer)
    assert "secret" not in said(answer)
    if name != "docs_search" or "ignore" in arguments["query"]:
        assert "Ignore previous instructions" in inside
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f\u202e]", answer)
    assert answer.count("\n[end of quote ") == 1
    assert answer.count("\nmore:") == 0
