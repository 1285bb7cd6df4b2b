"""Sections of a page: where they begin, how long ones are cut, and that nothing is lost."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitemirror.errors import UsageError
from sitemirror.links.markdown import anchors, body_start
from sitemirror.reading.sections import Section, estimate_tokens, join, split

FRONT = '---\ntitle: "T"\nurl: "https://e.example/"\n---\n\n'
URL = "https://e.example/"


def cut(markdown: str, max_tokens: int = 800) -> list[Section]:
    """Cut the page, and assert what holds for every page: nothing lost, lines right, ids unique, the cap respected."""
    found = split(markdown, url=URL, path="index.md", max_tokens=max_tokens)
    assert join(found) == markdown[body_start(markdown) :]
    lines = [f"{line}\n" for line in markdown.split("\n")]
    for section in found:
        first, last = section.lines
        assert "".join(lines[first - 1 : last]).removesuffix("\n") == section.source.removesuffix("\n")
        assert section.tokens == estimate_tokens(section.text)
        assert not max_tokens or section.tokens <= max_tokens or section.source.strip().count("\n") == 0
    assert len({section.id for section in found}) == len(found)
    return found


def headings(markdown: str) -> list[tuple[str, ...]]:
    return [section.headings for section in cut(markdown)]


def test_section_per_heading_of_any_level() -> None:
    """A section reaches to the next heading, and its headings are those above it."""
    found = cut(FRONT + "Before.\n\n# A\n\n## B\n\ntext\n\n#### C\n\n## D\n")
    assert [each.headings for each in found] == [(), ("A",), ("A", "B"), ("A", "B", "C"), ("A", "D")]
    assert [each.lines for each in found] == [(6, 7), (8, 9), (10, 13), (14, 15), (16, 16)]
    assert found[2].text == "## B\n\ntext\n\n"
    assert (found[0].url, found[0].path) == (URL, "index.md")


def test_front_matter_is_no_section() -> None:
    """A page without text has no sections, and a rule at the top of a page is no front matter."""
    assert cut(FRONT) == []
    assert cut("") == []
    assert headings("---\n\ntext\n\n---\n") == [()]


def test_titles_without_markup() -> None:
    """Headings are the plain text that a reader sees, and anchors those of the file."""
    markdown = "# `json` \\_x\\_ [a](b) #\n\n## a\n\n## a\n\n> ## a\n\n## a\n"
    found = cut(markdown)
    assert [each.headings[-1] for each in found] == ["json _x_ a", "a", "a", "a"]
    assert [each.anchor for each in found] == ["json-_x_-a", "a", "a-1", "a-3"]
    assert {each.anchor for each in found} <= anchors(markdown)


@pytest.mark.parametrize(
    "code",
    [
        "```\n# no\n```\n",
        "~~~\n# no\n```\n# no\n~~~\n",
        "````md\n```\n# no\n```\n````\n",
        "- ```sh\n  # no\n  ```\n",
        "1. a\n\n   ```sh\n# no\n   ```\n",
        "> ```\n> # no\n> ```\n",
        "```\n# no\n",
        "```\n# no\n``` x\n# no\n```\n",
    ],
)
def test_no_heading_in_code(code: str) -> None:
    """A comment in a code block is no heading, however the block is fenced."""
    assert headings(f"# A\n\n{code}") == [("A",)]


def test_heading_after_quoted_code() -> None:
    """A code block that nobody closed ends with its quotation."""
    assert headings("> ```\n> x\n\n# A\n") == [(), ("A",)]


def test_underlined_titles() -> None:
    """A Markdown page of the site's own may underline its titles."""
    assert headings("A\n===\n\ntext\n\nB\n---\n\n---\n\n- x\n---\n| a |\n---\n") == [("A",), ("A", "B")]


def test_no_heading_without_space() -> None:
    """`#tag` is text, and so are seven hashes and a line that is indented by four."""
    assert headings("#tag\n\n####### x\n\n    # code\n") == [()]


def test_ids_survive_edits_elsewhere() -> None:
    """A section keeps its id when others change, and a second one of the same name has another."""
    before = cut("# A\n\nx\n\n## B\n\ny\n\n## B\n\nz\n")
    after = cut("# A\n\nlonger\n\ntext\n\n## New\n\n## B\n\ny\n\n## B\n\nz\n")
    assert [each.id for each in after if each.headings != ("A", "New")] == [each.id for each in before]
    assert len(before[0].id) == 16
    assert int(before[0].id, 16)
    [other] = split("# A\n", url="https://e.example/other", path="index.md")
    assert other.id != before[0].id


def test_long_section_is_cut_between_blocks() -> None:
    """Paragraphs, items and rows stay whole."""
    paragraphs = [f"Paragraph {number} has some words\nin two lines.\n" for number in range(40)]
    items = [f"- item {number} with a few more words\n  and a second line\n" for number in range(40)]
    rows = [f"| row {number} | with | cells |\n" for number in range(40)]
    text = "# A\n\n" + "\n".join(paragraphs) + "\n" + "".join(items) + "\n" + "".join(rows)
    found = cut(text, 100)
    assert len(found) > 10
    for block in (*paragraphs, *items, *rows):
        assert sum(block in each.text for each in found) == 1
    assert all(each.headings == ("A",) and each.anchor == "a" for each in found)


@pytest.mark.parametrize(("before", "indent"), [("", ""), ("- item\n\n", "  "), ("> said\n>\n", "> ")])
def test_long_code_repeats_its_fence(before: str, indent: str) -> None:
    """A code block is cut at a line; each part is a code block of its own, in the same language."""
    code = "".join(f"{indent}call({number})  # {'`' * 3}\n" for number in range(200))
    found = cut(f"# A\n\n{before}{indent}````py\n{code}{indent}````\n\nAfter.\n", 120)
    parts = [each for each in found if "call(" in each.text]
    assert len(parts) > 10
    for each in parts:
        fenced = [line for line in each.text.splitlines() if line.startswith(f"{indent}````")]
        assert fenced == [f"{indent}````py", f"{indent}````"]
    assert parts[0].repeated[0] == 0
    assert parts[1].text.startswith(f"{indent}````py\n{indent}call(")
    assert parts[1].source.startswith(f"{indent}call(")


def test_code_that_fits_is_not_cut() -> None:
    """A code block begins a new part rather than being cut."""
    code = "```\n" + "x = 1\n" * 20 + "```\n"
    found = cut("# A\n\n" + "word " * 60 + "\n\n" + code, 120)
    assert [code in each.text for each in found] == [False, True]


def test_single_line_may_be_longer() -> None:
    """A line is never cut."""
    found = cut("short\n\n" + "word " * 500 + "\n\nshort\n", 50)
    assert [each.tokens > 50 for each in found] == [False, True, False]


def test_no_limit() -> None:
    """0 means sections as long as they are; less is refused."""
    assert len(cut("# A\n\n" + "word\n\n" * 5000, 0)) == 1
    with pytest.raises(UsageError, match="0 or more"):
        split("x", url=URL, path="index.md", max_tokens=-1)


def test_other_line_ends() -> None:
    """Carriage returns belong to their lines; form feeds and Unicode's separators end none."""
    found = cut("# A\r\n\r\ntext\r\n\r\n```\r\n# no\r\n```\r\n\r\n## B\r\na\fb\u2028c\x85d\r\n")
    assert [each.headings for each in found] == [("A",), ("A", "B")]
    cut("# A\r\n" + "a\fb\u2028c\x85d\r\n" * 100, 20)


PIECES = st.sampled_from(
    [
        *(
            "# A\n",
            "## B ##\n",
            "text",
            "\n",
            "\n\n",
            "```\n",
            "~~~py\n",
            "> ",
            "- ",
            "  ",
            "    ",
            "1. ",
            "| a | b |\n",
        ),
        *("===\n", "---\n", "`", "#", "\r\n", "é", "漢字", "\u2028", "\t", "\\", "[x](y)", "9999", "| a | b |\n"),
    ]
)


@given(st.lists(PIECES, max_size=60), st.sampled_from([1, 5, 30, 800]))
def test_any_page_comes_back_whole(pieces: list[str], max_tokens: int) -> None:
    """Joined, the sections of any text are that text."""
    markdown = "".join(pieces)
    found = split(markdown, url=URL, path="index.md", max_tokens=max_tokens)
    assert join(found) == markdown[body_start(markdown) :]
    assert len({each.id for each in found}) == len(found)
    for before, after in pairwise(found):
        assert after.lines[0] == before.lines[1] + 1


def test_long_lines_take_linear_time() -> None:
    """Lines that look like marks to their very end are read once."""
    for unit in ("> ", "- ", "  ", "1. ", "`", "#", "=", "-", "* > "):
        cut(unit * 100_000 + "\n")


def test_tokens_are_those_of_a_tokenizer() -> None:
    """The estimate is near the count of OpenAI's o200k, for prose, code, tables and other scripts."""
    bpe = pytest.importorskip("bpe_openai")
    count = bpe.get_encoding("o200k_base").encode
    texts = {
        "prose": "The quick brown fox jumps over the lazy dog, and nobody in the whole village knows the reason. " * 8,
        "code": "for index, value in enumerate(self._values):\n    if value is None:\n        continue\n" * 8,
        "table": "| `name` | integer | The number of rows that were read |\n| --- | --- | --- |\n" * 8,
        "numbers": "".join(f"{number * 7919}, " for number in range(100)),
        "japanese": "このページでは、データベースの設定方法について説明します。" * 8,
    }
    for name, text in texts.items():
        assert estimate_tokens(text) == pytest.approx(len(count(text)), rel=0.5), name
    words = random.Random(4).choices("".join(texts.values()).split(), k=3000)
    mixed = " ".join(words)
    assert estimate_tokens(mixed) == pytest.approx(len(count(mixed)), rel=0.15)
    assert estimate_tokens("") == 0
