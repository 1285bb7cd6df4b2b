"""What a site says of itself never reaches a terminal, a log or a data file as anything but readable text.

Escape sequences drive terminals, line ends forge log lines, and bidi controls show a name that is not the one on disk.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import Finished, RunHere
from tests.site import Site, faults
from tests.spec.mirrored import FAST, Mirrored

CONTROLS = "\x1b]0;owned\x07\x1b[2J\x9b31m\x85\u2028\u202e\u2066\u200f\u061c\ufeff\u200b\U000e0041"
RAW = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff]"
    "|[\U000e0000-\U000e007f]"
)
ESCAPED = "".join(f"&#x{ord(char):x};" for char in "\u2028\u202e\u2066\u200f\u061c\ufeff\u200b\U000e0041")
QUERY = f"?q={CONTROLS}"


@pytest.fixture
def hostile(site: Site) -> Site:
    """A site that puts controls everywhere a site can put text."""
    title = f"Title {CONTROLS} end"
    head = (
        f'<meta name="description" content="D {CONTROLS}"><meta name="author" content="A {CONTROLS}">'
        f'<meta name="keywords" content="k {CONTROLS}, l"><meta property="og:title" content="{CONTROLS}">'
        f'<link rel="canonical" href="/canon{CONTROLS}"><link rel=alternate hreflang="de{CONTROLS}" href="/de">'
    )
    links = (
        f'<a href="javascript:{CONTROLS}">j</a><a href="/sub{CONTROLS}">s</a><a href="http://[{CONTROLS}/">b</a>'
        f'<a href="mailto:{CONTROLS}@x.test">m</a><a href="/broken">x</a><a href="/away">y</a>'
        f'<img src="/img{CONTROLS}">'
    )
    headers = {"X-Odd": f"h {CONTROLS[8:12]}", "Last-Modified": "Mon \u202e\x9b", "ETag": '"e\u202e\x9b31m"'}
    html = f"<h1>Heading {CONTROLS}</h1><h2 id='{CONTROLS}'>Two {CONTROLS}</h2><p>Text.</p>{links}"
    site.page("/", f"<html lang='en{CONTROLS}'><head><title>{title}</title>{head}</head><body>{html}", headers=headers)
    site.html_page("/sub", "S", "<p>sub</p>")
    site.page("/odd-type", b"data", type="application/x-\u202e\x9b31m")
    site.redirect("/away", f"ftp://x.test/{CONTROLS.replace(chr(0x85), '')}")
    site.redirect("/away2", f"http://x.test/{CONTROLS[8:]}")
    site.fault("/broken", faults.raw(b"HTTP/1.1 200 \x1b[2J\r\nX: \x1b[31m\r\nContent-Length: 5\r\n\r\nab"))
    rows = [
        f"<url><loc>{site.url}{path}</loc><lastmod>2026-01-01{ESCAPED}</lastmod>"
        f'<xhtml:link rel="alternate" hreflang="de{ESCAPED}" href="{site.url}/de{ESCAPED}"/></url>'
        for path in ("/", f"/sub?q={ESCAPED}", "/odd-type", "/away", "/away2", "/broken", f"/sub{ESCAPED}")
    ]
    rows.append(f"<url><loc>javascript:{ESCAPED}</loc></url><url><loc>http://[{ESCAPED}/</loc></url>")
    rows.append(f"<url><loc>http://user{ESCAPED}:p@x.test/</loc></url>")
    namespaces = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:xhtml="http://www.w3.org/1999/xhtml"'
    site.page("/sitemap.xml", f"<urlset {namespaces}>{''.join(rows)}</urlset>", type="application/xml")
    return site


def test_nothing_raw_from_a_mirror(hostile: Site, out: Path, run_here: RunHere) -> None:
    """Titles, headers, dates and URLs full of controls: none is in a file, on stdout or on stderr as it came."""
    done = run_here("mirror", hostile.url, *FAST, "--output", out, "--verbose", "--index", "--max-retries", 0)
    assert done.json["successful"] >= 1
    _nothing_raw(done, Mirrored.of(hostile, out).folder)
    [home] = [page for page in Mirrored.of(hostile, out).manifest["pages"] if page["url"] == hostile.url + "/"]
    assert home["title"].startswith("Title ")
    _nothing_raw(run_here("verify", out))
    for target in (hostile.url + "/sub" + QUERY, next(iter(Mirrored.of(hostile, out).folder.rglob("index.md")))):
        _nothing_raw(run_here("where", target, "--output", out))


def test_nothing_raw_from_a_crawl(hostile: Site, out: Path, run_here: RunHere) -> None:
    """The same for a crawl with its mirror index and both formats."""
    done = run_here("crawl", hostile.url, *FAST, "--output", out, "--verbose", "--format", "both", "--max-retries", 0)
    assert done.json["successful"] >= 1
    _nothing_raw(done, Mirrored.of(hostile, out).folder)
    _nothing_raw(run_here("verify", out))


@pytest.mark.parametrize("extra", [(), ("--format", "md")])
def test_nothing_raw_from_a_list(hostile: Site, out: Path, run_here: RunHere, extra: tuple[str, ...]) -> None:
    """The outline and its report hold no control either."""
    _nothing_raw(run_here("list", hostile.url, *FAST, "--output", out, *extra), Mirrored.of(hostile, out).folder)


@pytest.mark.parametrize("path", ["/", "/odd-type", "/away", "/away2", "/broken"])
def test_nothing_raw_from_convert(hostile: Site, run_here: RunHere, path: str) -> None:
    """One page on stdout: its front matter and text carry nothing that a terminal obeys, its failure neither."""
    done = run_here("convert", hostile.url + path, "--max-retries", 0)
    assert not RAW.search(done.stderr)
    front, _, text = done.stdout.removeprefix("---\n").partition("\n---\n")
    assert not RAW.search(front)
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028]", text)


def test_nothing_raw_from_a_list_of_sites(hostile: Site, out: Path, tmp_path: Path, run_here: RunHere) -> None:
    """Many sites at once report under the same rule."""
    (tmp_path / "sites.txt").write_text(f"{hostile.url}\nhttp://user:pw@x.test/\n", encoding="utf-8")
    done = run_here("mirror", "--sites", tmp_path / "sites.txt", *FAST, "--output", out, "--max-retries", 0)
    assert not RAW.search(done.stdout + done.stderr)
    assert "pw" not in done.stderr + done.stdout


@pytest.mark.parametrize("url", ["https://h.test/\\u001b[31m\\u202e\\nx", "javascript:\\u001b[31m"])
def test_a_page_cannot_make_up_its_url(tmp_path: Path, run_here: RunHere, url: str) -> None:
    """Front matter that a text page brought along is no more to be believed than its text."""
    file = tmp_path / "page.md"
    file.write_text(f'---\nurl: "{url}"\n---\n', encoding="utf-8")
    done = run_here("where", file)
    assert done.stdout in ("https://h.test/%1B[31m%E2%80%AEx\n", "")
    _nothing_raw(done)


def test_a_saved_page_shows_nothing_that_drives_a_terminal(hostile: Site, out: Path, run_here: RunHere) -> None:
    """The text of a page keeps the marks that scripts are written with, and no control character."""
    run_here("mirror", hostile.url, *FAST, "--output", out, "--max-retries", 0)
    for file in Mirrored.of(hostile, out).folder.rglob("*.md"):
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028]", file.read_bytes().decode())


def _nothing_raw(done: Finished, folder: Path | None = None) -> None:
    assert not RAW.search(done.stdout), _around(done.stdout)
    assert not RAW.search(done.stderr), _around(done.stderr)
    for name, text in _own_words(folder) if folder else ():
        assert not RAW.search(text), (name, _around(text))


def _own_words(folder: Path) -> Iterator[tuple[str, str]]:
    """Every file of the tool's own, and the front matter of every page."""
    for file in (path for path in folder.rglob("*") if path.is_file()):
        name = file.relative_to(folder).as_posix()
        assert not RAW.search(name)
        if name.startswith("_state") or (file.suffix not in (".md", ".json", ".txt", ".log") and name[0] != "_"):
            continue
        text = file.read_bytes().decode()
        if file.suffix == ".json":
            json.loads(text)
        if text.startswith("---\n"):
            text = text[4:].partition("\n---\n")[0]
        yield name, text
    # A record is one line, whatever is in it.
    for line in (folder / "_failed.log").read_text("utf-8").splitlines() if (folder / "_failed.log").exists() else ():
        assert line.count("\t") == 2


def _around(text: str) -> str:
    found = RAW.search(text)
    return ascii(text[max(0, found.start() - 80) : found.end() + 20]) if found else ""
