"""Links of a Markdown page lead to other pages of the mirror; text, code and everything else stay as they are."""
# ruff: noqa: E501 - one list of pieces reads best as it would stand in a text

from __future__ import annotations

import json
import os
import re
import time
from pathlib import Path
from urllib.parse import unquote

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from sitemirror.urls import InvalidUrl, normalize
from tests.convert.pages import markdown as converted
from tests.links.localized import localize_markdown

RENDERER = MarkdownIt("commonmark", {"html": True, "maxNesting": 10_000}).enable(["table", "strikethrough"])

SITE = {
    "https://e.x/a": "../a/index.md",
    "https://e.x/b_c": "b(1).md",
    "https://e.x/p|q": "pq.md",
    "https://e.x/i.png": "i.png",
    "": "",
}


def target(url: str, fragment: str) -> str | None:
    """Four pages are saved; fragments of theirs become `s-` and the fragment."""
    if url not in SITE:
        return None
    return SITE[url] + (f"#s-{fragment}" if fragment else "")


def localized(text: str) -> str:
    """`text` localised for the site above."""
    return localize_markdown(text, target=target)


def expected(href: str) -> str:
    """What a link of the rendered page should be."""
    url, _, fragment = href.partition("#")
    try:
        new = target(normalize(url.replace("%7C", "|")) if url else "", fragment) if url or fragment else None
    except InvalidUrl:
        new = None
    return href if new is None else new.replace("(", "%28").replace(")", "%29")


def rendered(text: str) -> str:
    """The page as HTML."""
    return str(RENDERER.render(text))


def mapped(text: str) -> str:
    """The page as HTML, with its links replaced after rendering."""
    tokens = RENDERER.parse(text)
    _map(tokens)
    return str(RENDERER.renderer.render(tokens, RENDERER.options, {}))


def _map(tokens: list[Token]) -> None:
    depth = 0
    for token in tokens:
        depth += token.nesting if token.type.startswith("link") else 0
        if depth > 1:
            continue  # An autolink in a link, which could not be one in any other form.
        for name in ("href", "src"):
            if isinstance(value := token.attrGet(name), str):
                token.attrSet(name, expected(value))
        _map(token.children or [])


REWRITTEN = {
    "inline": ("[x](https://e.x/a)", "[x](../a/index.md)"),
    "fragment": ("[x](https://e.x/a#part)", "[x](../a/index.md#s-part)"),
    "own fragment": ("[x](#part)", "[x](#s-part)"),
    "title": ("[x]( https://e.x/a 'the \"title\"' )", "[x]( ../a/index.md 'the \"title\"' )"),
    "pointed": ("[x](<https://e.x/a>)", "[x](../a/index.md)"),
    "encoded": ("[x](https://e.x/b_c)", "[x](b%281%29.md)"),
    "escaped": (r"[x](https://e.x/b\_c)", "[x](b%281%29.md)"),
    "references": ("[x](https://e.x/b&#95;c)", "[x](b%281%29.md)"),
    "another spelling": ("[x](HTTPS://E.x:443/./a)", "[x](../a/index.md)"),
    "nested brackets": ("[a [b] `]` \\] <i t=']'>](https://e.x/a)", "[a [b] `]` \\] <i t=']'>](../a/index.md)"),
    "over lines": ("> [x\n> y](https://e.x/a\n> 'z')", "> [x\n> y](../a/index.md\n> 'z')"),
    "picture": ("![x](https://e.x/i.png)", "![x](i.png)"),
    "picture in a link": ("[![x](https://e.x/i.png)](https://e.x/a)", "[![x](i.png)](../a/index.md)"),
    "definition": ("[x][1]\n\n[1]: https://e.x/a 'T'", "[x][1]\n\n[1]: ../a/index.md 'T'"),
    "definition over lines": ("[x]\n\n[x]:\n  <https://e.x/a>\n", "[x]\n\n[x]:\n  ../a/index.md\n"),
    "autolink": ("<https://e.x/a>", "[https://e.x/a](../a/index.md)"),
    "autolink, marked": ("*<https://e.x/b_c>*", "*[https://e.x/b\\_c](b%281%29.md)*"),
    "autolink, pointed out": (r"a \<<https://e.x/a>>", r"a \<[https://e.x/a](../a/index.md)>"),
    "autolink, in brackets": (r"\[a\](<https://e.x/a>)", r"\[a\]([https://e.x/a](../a/index.md))"),
    "autolink, called out": ("a!<https://e.x/a>", r"a\![https://e.x/a](../a/index.md)"),
    "heading": ("## [x](https://e.x/a) ##", "## [x](../a/index.md) ##"),
    "item": ("1. [x](https://e.x/a)\n   - [y](https://e.x/a)", "1. [x](../a/index.md)\n   - [y](../a/index.md)"),
    "cell": ("| a |\n|---|\n| [x\\|y](https://e.x/a) |", "| a |\n|---|\n| [x\\|y](../a/index.md) |"),
    "pipe": ("|a|\n|-|\n|[x](https://e.x/p\\|q)|", "|a|\n|-|\n|[x](pq.md)|"),
    "after code": ("```\n[x](https://e.x/a)\n```\n[x](https://e.x/a)", "```\n[x](https://e.x/a)\n```\n[x](../a/index.md)"),
    "lone backtick": ("` [x](https://e.x/a)", "` [x](../a/index.md)"),
    "inner of two": ("[a [x](https://e.x/a) b](https://e.x/a)", "[a [x](../a/index.md) b](https://e.x/a)"),
    "front matter": ('---\nurl: "https://e.x/a"\n---\n\n[x](#p)', '---\nurl: "https://e.x/a"\n---\n\n[x](#s-p)'),
}  # fmt: skip


@pytest.mark.parametrize("name", REWRITTEN)
def test_links_are_rewritten(name: str) -> None:
    """Each form of link, with the page otherwise unchanged."""
    before, after = REWRITTEN[name]
    assert localized(before) == after
    if name != "front matter":
        assert rendered(after) == mapped(before)


@pytest.mark.parametrize(
    "text",
    [
        "[x](https://other.example/)",
        "`[x](https://e.x/a)`",
        "```` `[x](https://e.x/a)` ````",
        "    [x](https://e.x/a)",
        "- a\n\n      [x](https://e.x/a)",
        "~~~ [x](https://e.x/a)\n[x](https://e.x/a)",
        "> ```\n> [x](https://e.x/a)",
        r"\[x](https://e.x/a)",
        r"[x\](https://e.x/a)",
        "[x] (https://e.x/a)",
        "[x](https://e.x/a b)",
        "[x](<https://e.x/a)",
        "https://e.x/a",
        "<a href='https://e.x/a'>x</a>",
        "<div>\n[x](https://e.x/a)\n</div>",
        "<!-- [x](https://e.x/a) -->",
        "<pre>\n\n[x](https://e.x/a)</pre>",
        "[x](#)",
        "[x]()",
        "[x](../a)",
        "<mailto:a@e.x>",
        "text\n[1]: https://e.x/a",
        "",
    ],
)
def test_other_text_is_unchanged(text: str) -> None:
    """Code, raw HTML, escaped brackets, bare URLs and links to pages that are not saved."""
    assert localized(text) == text


@pytest.mark.parametrize("answer", ["a b", "a(b", "a)b", "<a>", "a\\b", "a`b", "a&amp;b", "a|b", "", "a*b_c[d]", "ä#ö"])
def test_any_target_is_escaped(answer: str) -> None:
    """Any result of `target` becomes one link that leads there."""
    for text in (
        "x [t](https://e.x/a) `y`",
        "<https://e.x/a>",
        "[t]\n\n[t]: https://e.x/a\n",
        "|[t](https://e.x/a)|\n|-|",
    ):
        found = localize_markdown(text, target=lambda *_: answer)
        tokens = [token for block in RENDERER.parse(found) for token in block.children or []]
        (link,) = (token for token in tokens if token.type == "link_open")
        assert unquote(str(link.attrGet("href"))) == answer


def test_target_gets_url_and_fragment() -> None:
    """`target` gets normalised web URLs without fragments."""
    seen: list[tuple[str, str]] = []
    text = "[a](HTTPS://E.x#f) [b](#g) [c](mailto:x@e.x) [d](rel.md) <https://e.x/b#h> [e](https://e.x/c?d#)"

    def watch(url: str, fragment: str) -> None:
        seen.append((url, fragment))

    assert localize_markdown(text, target=watch) == text
    assert seen == [("https://e.x/", "f"), ("", "g"), ("https://e.x/b", "h"), ("https://e.x/c?d", "")]


def test_converted_pages_are_rewritten() -> None:
    """Brackets, backticks, tables, code and quotes of a converted page are unchanged."""
    link = '<a href="https://e.x/a">a [b] <code>`c]`</code> \\ *d*</a>'
    html = f"""<h1>T {link}</h1><p>{link} <a href="https://e.x/a">https://e.x/a</a></p><pre>[x](https://e.x/a)</pre>
        <ul><li>{link}<ol><li>{link}<pre>  [x](https://e.x/a)</pre></li></ol></li></ul><blockquote><p>{link}<p>&lt;{link}
        </blockquote><table><tr><th>|{link}|</th><th><code>|[x](https://e.x/a)</code></th></tr></table>
        <p>[x](https://e.x/a) `[x](https://e.x/a)` &lt;https://e.x/a&gt; [1]: https://e.x/a</p>
        <a href="https://e.x/b_c"><img src="https://e.x/i.png" alt="]("></a>"""
    text = converted(html)
    assert rendered(localized(text)) == mapped(text)
    assert localized(text).count("../a/index.md") == 8


INDENTED = re.compile(r"\n[> \t]*(?:\t|    )")
AFTER_BRACKETS = re.compile(r"\](?:[(:][\s>]*)?<|<[^\s<>]+<")
QUOTE_IN_CODE = re.compile(r"(?:\t|    )[ \t]*>")
WORDS = r"""
    [ ] ( ) ![ ]( ]: [x] [x]: [x][ ][x] < > ` `` ``` ~~~ # ## - + * _ ** 1. 2) > | |-| |-|-| --- === \ " ' & &amp; &#95; !
    <!-- --> <b> </b> <div> <pre> <script> https://e.x/a https://e.x/b_c <https://e.x/a> <https://e.x/b_c> a b é #f \|
    [t](https://e.x/a) [t](<https://e.x/a#f>) ![i](https://e.x/i.png) (https://e.x/a) https://e.x/p\|q https://o.x/
"""
SPACED = [
    "(https://e.x/a 'T')",
    "[x]: https://e.x/a",
    "\n",
    "\n\n",
    " ",
    "  ",
    "    ",
    "\t",
    "\n> ",
    "\n- ",
    "\n  ",
    "\n1. ",
]
PIECES = st.sampled_from([*WORDS.split(), *SPACED])


@given(st.lists(PIECES, max_size=25).map("".join))
@example("[a]: https://e.x/a\n===\n[a]")
def test_any_text_renders_the_same_except_links(text: str) -> None:
    """CommonMark renders the page as before, with all links rewritten."""
    # After a definition the renderer takes an indented line for code, cmark and GitHub for text.
    assume("]:" not in text or not INDENTED.search(text))
    # To the renderer a quote goes on behind any indentation, and an escaped blank ends a destination.
    assume(not QUOTE_IN_CODE.search(text) and not re.search(r"\\\s", text))
    assume("--->" not in text)  # To the renderer this ends no comment; the standard says that it does.
    assume(not AFTER_BRACKETS.search(text))  # Such an autolink cannot be spelled out.
    assert rendered(localized(text)) == mapped(text)


REPEATED = r"""
    [ ] [a](b ![ ](a ](" `a <a <!-- <? <![CDATA[ > - #~ |a~|-~ * _ \ [a]: < [a][ <https://e.x/a> ``a` & [a](<b ((( !<a@b
"""


@pytest.mark.slow
@pytest.mark.parametrize("piece", REPEATED.split())
def test_time_is_linear(piece: str) -> None:
    """No repetition makes a page slow."""
    text = piece.replace("~", "\n") * (100_000 // len(piece))
    start = time.process_time()
    localized(f"[x](https://e.x/a) {text}\n\n[x](https://e.x/a)")
    assert time.process_time() - start < 5


VECTORS = os.environ.get("SITEMIRROR_VECTORS")


@pytest.mark.vectors
@pytest.mark.skipif(VECTORS is None, reason="SITEMIRROR_VECTORS names no folder with the test data")
@pytest.mark.parametrize("name", ["md-commonmark/spec-0.31.2.jsonl", "md-gfm/gfm-spec-0.29.jsonl"])
def test_examples_of_the_standards(name: str) -> None:
    """Each example renders to the same page with rewritten links."""
    for line in (Path(VECTORS or "") / name).read_text(encoding="utf-8").splitlines():
        case = json.loads(line)
        text = re.sub(r"/ur[li]\d?(?![\w.])", "https://e.x/a", case["markdown"])
        assert rendered(localized(text)) == mapped(text), case
