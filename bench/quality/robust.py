"""Looks for pages that break the conversion: none may raise, take more than two seconds or lose text in silence.

Pages of manuals with pieces cut out, doubled, swapped and broken; the documents of the web platform's tests of tree
construction; monsters. Begins with another seed each time, and prints what it takes to see a failure again.

    SITEMIRROR_VECTORS=... python -m bench.quality.robust --seconds 600
"""

from __future__ import annotations

import argparse
import os
import random
import re
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import turbohtml

from bench.corpus import installed, mixed
from sitemirror.convert import convert_html
from tests.convert.trees import to_html

URL: Final = "https://example.com/docs/page.html"
MOST_SECONDS: Final = 2.0
MONSTERS: Final = {
    "nested divs": "<div>" * 100_000 + "end",
    "our own marks": "<p>" + "\ufde2r\ufde2" * 40_000 + " end",
    "nested tables": "<table><tr><td>" * 5_000 + "end",
    "nested links in tables": "<a href=x><table><tr><td>" * 5_000 + "end",
    "nested lists": "<ul><li>" * 10_000 + "end",
    "nested asides": "<main>" + "<aside>" * 20_000 + "end",
    "nested hidden": "<div hidden>" * 20_000 + "<p>x</p>" + "</div>" * 20_000 + "end",
    "nested terms": "<dl><dt>t" * 20_000 + "end",
    "nested formulas": "<math><mrow>x" * 20_000 + "</math>" * 20_000 + "end",
    "nested code": "<pre>x" * 40_000 + "end",
    "nested code blocks": "<div class=highlight><pre><code>" * 20_000 + "end",
    "sets of tabs": "<div role=tablist><b role=tab>x</b></div><div role=tabpanel>y</div>" * 12_000 + "end",
    "lists of tabs without panels": "<ul role=tablist><li><b role=tab>x</b></ul>" * 12_000 + "end",
    "toggles without panels": "<ul role=tablist><li><a href='#x'>x</a></ul>" * 12_000 + "end",
    "buttons in a heading": "<h2>x" + "<button>Copy</button> w " * 20_000 + "</h2>end",
    "powers in a link": "<a href=/x>" + "w<sup>1</sup> " * 20_000 + "</a>end",
    "bold words far within": "<div>" * 400 + "<span style='font-weight:bold'>x</span> y " * 60_000 + "end",
    "blocks of code": "<pre><code>x</code></pre>" * 20_000 + "end",
    "nested tabs": "<div role=tablist><div role=tab>x</div><div role=tabpanel>y" * 3_000 + "end",
    "tabs that hold their panels": "<ul role=tablist>"
    + "<li role=tab>x<div role=tabpanel><p>y</p></div></li>" * 2_000
    + "</ul>end",
    "a table of boxes": "<div role=table>"
    + "<div role=row><b role=cell>x</b><b role=cell>y</b></div>" * 20_000
    + "</div>end",
    "nested notes": "<aside class=footnote id=f>x" * 8_000 + "end",
    "nested headings": "<div><h2>x</h2>" * 10_000 + "end",
    "unclosed formatting": "<b><i><u><font>" * 3_000 + "<p>x</p>" * 100 + "end",
    "a million attributes": "<p " + " ".join(f"a{number}" for number in range(1_000_000)) + ">end",
    "a huge table": "<table>" + ("<tr>" + "<td>x" * 10) * 10_000 + "</table>end",
    "a ragged table": "<table>" + "".join("<tr>" + "<td>x" * (number % 50) for number in range(2_000)) + "</table>end",
    "one wide row": "<table><tr>" + "<td>x" * 100_000 + "<tr><td>y" * 10_000 + "</table>end",
    "spans": "<table>" + "<tr><td colspan=100 rowspan=100>x" * 300 + "</table>end",
    "links": "".join(f"<a href='/{number}'>x</a>" for number in range(50_000)) + "end",
    "a long word": "<p>" + "x" * 5_000_000 + "</p>end",
    "stars": "<p>" + "*_`[<" * 200_000 + "</p>end",
    "entities": "<p>" + "&#x26;lt;" * 200_000 + "</p>end",
    "no-break spaces": "<p>&nbsp;</p>" * 50_000 + "end",
    "code": "<pre><code class=language-x>x</code></pre>" * 10_000 + "end",
    "srcsets": "<img srcset='" + "a 1x," * 50_000 + "'>end",
    "class lists": f"<pre class='{'a-b ' * 200_000}'>x</pre>end",
    "a million nested elements": "<div>" * 1_000_000 + "end",
    "a million spans": "<span>" * 1_000_000 + "end",
    "a cell over a million columns": "<table>" + "<tr><td colspan=1000000 rowspan=1000000>x" * 1_000 + "</table>end",
    "a million classes": "<div class='" + " ".join(f"a{number}" for number in range(1_000_000)) + "'>end",
    "nested emphasis": "<p>" + "<em>a<strong>" * 10_000 + "end",
    "emphasis in pieces": "<p>" + "<em>a&nbsp;</em>" * 20_000 + "end",
    "code in pieces": "<p>" + "<code>a</code>" * 50_000 + "end",
    "escapes and breaks": "<p>" + "a_b*[c]<br>" * 50_000 + "end",
    "backticks": "<p>" + "".join("`" * (number % 700) + " _a_ " for number in range(2_000)) + "end",
    "line breaks in a row": "<p>" + "<BR>" * 100_000 + "end",
    "emphasis of line breaks": "<p>" + "<b><br></b>" * 40_000 + "end",
    "emphasis over many lines": "<p><em>" + "a<br>" * 20_000 + "end</em>",
    "line breaks behind nothing": "<p>" + ("<i></i>" * 10 + "<br>") * 1_900 + "end",
    "line breaks and pictures in a cell": "<table><tr><th>a<tr><td>" + "<br><img>" * 15_000 + "end</table>",
    "nested notes and warnings": "<div class='admonition note'>" * 30_000 + "end",
    "nested boxes of notes": "<div class=note><p>x" * 30_000 + "end",
    "hidden tables between texts": "<table hidden>x</table>" * 20_000 + "end",
    "rules that hide": "<style>"
    + "".join(f".a{number}{{display:none}}" for number in range(30_000))
    + "/* " * 100_000
    + "</style>"
    + "<p class=a1>x<p>y" * 10_000
    + "end",
    "cells of spaces": "<table><tr>" + "<td>&nbsp;" * 20_000 + "</table>end",
}

_NOT_CONTENT: Final = (
    "script, style, template, nav, footer, aside, select, textarea, button, svg, math, noscript, dialog, datalist, "
    "iframe, video, audio, [hidden], canvas, rp, title, noframes, noembed"
)
_PIECES: Final = re.compile(rb"<[^<>]*>?|[^<>]+")
_ODD: Final = (
    *(b"<table>", b"</table>", b"<td>", b"<p", b"</", b"<!--", b"-->", b"<![CDATA[", b"]]>", b"<svg>", b"<math>"),
    *(b"<select>", b"<template>", b"<frameset>", b"<plaintext>", b"<a href=javascript:x>", b"<div hidden>", b"&#0;"),
    *(
        b"\x00",
        b"\xff\xfe",
        b"\r",
        b"<li>",
        b"<b><i>",
        b"</p>",
        b"<form>",
        b"<nav>",
        b"\xe2\x80\xa8",
        b"`",
        b"|",
        b"\\",
    ),
)


def tree_documents(vectors: Path) -> Iterator[str]:
    """The documents of the tree-construction tests; fragments are not pages."""
    for path in sorted((vectors / "html-wpt-treeconstruction").rglob("*.dat")):
        for block in re.split(r"(?:\A|\n\n)(?=#data\n)", path.read_bytes().decode()):
            head, mark, _ = block.partition("\n#errors")
            if mark and "#document-fragment" not in block and "#script-on" not in block:
                yield head.removeprefix("#data\n")


def letters(text: str) -> Counter[str]:
    """How often each letter and digit stands in `text`; blanks and signs depend on the rendering."""
    return Counter(char for char in text if char.isalnum())


def lost_letters(html: str | bytes) -> Counter[str]:
    """The letters of the visible text that the rendered Markdown of the whole page has not."""
    markdown = convert_html(html, url=URL, content="full").markdown
    body = turbohtml.parse(html).find("body")
    rendered = turbohtml.parse(to_html(markdown)).find("body")
    if body is None or rendered is None:
        return Counter()
    body.remove(_NOT_CONTENT)
    return letters(body.text) - letters(rendered.text)


def mutated(page: bytes, chance: random.Random) -> bytes:
    """A page with a few of its pieces broken."""
    pieces = _PIECES.findall(page)
    for _ in range(chance.choice((1, 3, 10, 100))):
        here, there = chance.randrange(len(pieces)), chance.randrange(len(pieces))
        match chance.randrange(6):
            case 0:
                del pieces[here : here + chance.choice((1, 5, 50))]
            case 1:
                pieces[here:here] = pieces[there : there + chance.choice((1, 5, 50))]
            case 2:
                pieces[here], pieces[there] = pieces[there], pieces[here]
            case 3:
                pieces.insert(here, chance.choice(_ODD) * chance.choice((1, 1, 1, 200)))
            case 4:
                pieces[here] = pieces[here][: len(pieces[here]) // 2]
            case _:
                pieces[here] = bytes(chance.randrange(256) for _ in range(chance.randrange(1, 20)))
        pieces = pieces or [b""]
    return b"".join(pieces)


def fault(html: str | bytes) -> str:
    """What is wrong with the conversion of a page; empty if nothing is."""
    for content in ("auto", "main", "full"):
        began = time.process_time()
        try:
            first = convert_html(html, url=URL, content=content)
        except Exception as error:
            return f"{content}: {type(error).__name__}: {error}"
        spent = time.process_time() - began
        if spent > MOST_SECONDS:
            return f"{content}: {spent:.1f} s"
        if convert_html(html, url=URL, content=content) != first:
            return f"{content}: another page the second time"
    return ""


def main(arguments: list[str]) -> int:
    """Looks as long as it may; the exit code is 1 if anything was found."""
    parser = argparse.ArgumentParser(prog="python -m bench.quality.robust", description=__doc__)
    parser.add_argument("--seconds", type=float, default=120, help="how long to break pages (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=time.time_ns() % 1_000_000, help="to see a failure again")
    options = parser.parse_args(arguments)
    found = [f"{name}: {wrong}" for name, html in MONSTERS.items() if (wrong := fault(html))]
    print(f"{len(MONSTERS)} monsters, {len(found)} failures")
    if vectors := os.environ.get("SITEMIRROR_VECTORS"):
        documents = list(tree_documents(Path(vectors)))
        broken = [html for html in documents if fault(html) or lost_letters(html)]
        found += (f"tree construction: {html!r}" for html in broken)
        print(f"{len(documents)} documents of the tree-construction tests, {len(broken)} failures")
    chance = random.Random(options.seed)
    pages = [page.file.read_bytes() for page in mixed(installed(), 200).pages]
    end, count = time.monotonic() + options.seconds, 0
    while pages and time.monotonic() < end:
        count += 1
        page = mutated(chance.choice(pages), chance)
        if wrong := fault(page):
            found.append(f"seed {options.seed}, page {count}: {wrong}")
            Path(f"robust-{options.seed}-{count}.html").write_bytes(page)
    print(f"{count:,} broken pages of manuals (seed {options.seed})")
    for line in found:
        print(line)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
