"""Links between saved files follow the files, and are what the site wrote again when asked."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import closing
from hashlib import sha256
from pathlib import Path

import pytest

from sitemirror import urls
from sitemirror.reasons import Reason
from sitemirror.run.relink_html import relink_saved_html
from sitemirror.run.relink_markdown import link_locally, link_to_the_site
from sitemirror.stopwatch import IDLE
from sitemirror.store.database import State
from sitemirror.store.ending import resolve_aliases
from sitemirror.store.files import Tree
from sitemirror.store.link_targets import (
    HtmlLinkTargets,
    MarkdownLinkTargets,
    Relinked,
    finish_relinking,
    is_unfinished,
)
from sitemirror.store.paths import path_key
from sitemirror.store.tables import ASSET, PAGE, Due, FileKind, UrlState
from tests.workers.pools import pool_of

SITE = "https://example.com/"
_ENDINGS = {".md": FileKind.MARKDOWN, ".html": FileKind.HTML}


class Mirror:
    """A few files with their rows."""

    def __init__(self, folder: Path) -> None:
        self.tree = Tree(folder, min_free_mb=0)
        self.tree.prepare()
        self.state = State.open(folder / "_state.sqlite3")
        self.db = self.state.db

    def url(self, name: str, what: UrlState = UrlState.PAGE, **columns: object) -> int:
        row = {"key": urls.key(SITE + name), "url": SITE + name, "state": what, "queue": Due.NO, "start_id": 1}
        row |= {"named": 1, "kind": PAGE} | columns
        query = f"INSERT INTO url ({', '.join(row)}) VALUES ({', '.join('?' * len(row))}) RETURNING id"
        return int(self.db.execute(query, tuple(row.values())).fetchone()[0])

    def save(self, name: str, content_type: str = "text/html", **files: str) -> int:
        """A page by the last part of its URL, with its text by the ending of the file."""
        id = self.url(name, kind=PAGE if content_type == "text/html" else ASSET)
        self.db.execute("INSERT INTO page (url_id, content_type) VALUES (?, ?)", (id, content_type))
        for ending, text in files.items():
            path, kind = f"example.com/{name}.{ending}", _ENDINGS.get(f".{ending}", FileKind.ASSET)
            self.db.execute(
                "INSERT INTO file (url_id, kind, path, preferred_path, path_key) VALUES (?, ?, ?, ?, ?)",
                (id, kind, path, path, path_key(path)),
            )
            self.write(path, text)
        return id

    def write(self, path: str, text: str) -> None:
        """What a run writes when a page has changed."""
        self.tree.write(path, text.encode())
        self.db.execute(
            "UPDATE file SET sha256 = ?, size = ?, linked_path = NULL, link_spans = NULL WHERE path = ?",
            (sha256(text.encode()).digest(), len(text), path),
        )

    def link(self, src: int, dst: int) -> None:
        self.db.execute("INSERT INTO link VALUES (?, ?, 0, 0)", (src, dst))

    def move(self, old: str, new: str) -> None:
        self.tree.rename(old, new)
        self.db.execute("UPDATE file SET path = ? WHERE path = ?", (new, old))

    def read(self, path: str) -> str:
        return self.tree.read(path).decode()

    def digest(self, path: str) -> bytes | None:
        return sha256(self.tree.read(path)).digest() if self.tree.exists(path) else None

    def relink_html(self) -> None:
        async def relink() -> None:
            resolve_aliases(self.db)
            async with pool_of(0) as (pool, _):
                await relink_saved_html(self.tree, HtmlLinkTargets(self.state), pool, IDLE)

        asyncio.run(relink())

    def relink_markdown(self, *, to_the_site: bool = False) -> None:
        resolve_aliases(self.db)
        relink = link_to_the_site if to_the_site else link_locally
        asyncio.run(relink(self.tree, MarkdownLinkTargets(self.state), IDLE))

    def rows_agree(self) -> bool:
        """True if every file is what its row says."""
        return all(self.digest(path) == digest for path, digest in self.db.execute("SELECT path, sha256 FROM file"))


@pytest.fixture
def mirror(tmp_path: Path) -> Iterator[Mirror]:
    made = Mirror(tmp_path / "output")
    with closing(made.state):
        yield made


def anchor(*names: str) -> str:
    return "<html><body>" + "".join(f'<a href="{SITE}{name}">x</a>' for name in names) + "</body></html>"


def test_html_links_follow_files_and_names(mirror: Mirror) -> None:
    """A file that moves, a page that comes later, and one that goes: whoever links there is changed, nobody else."""
    a, b = mirror.save("a", html=anchor("b", "name", "later")), mirror.save("b", html=anchor("a"))
    name, later = mirror.url("name", UrlState.ALIAS, target_id=b, reason=Reason.MOVED), mirror.url("later", UrlState(0))
    for dst in (b, name, later):
        mirror.link(a, dst)
    mirror.link(b, a)
    mirror.relink_html()
    assert mirror.read("example.com/a.html") == (
        '<html><body><a href="b.html">x</a><a href="b.html">x</a>'
        '<a href="https://example.com/later">x</a></body></html>'
    )
    assert mirror.rows_agree()
    assert not is_unfinished(mirror.state)
    before = mirror.tree.stat("example.com/b.html")
    mirror.move("example.com/b.html", "example.com/c.html")
    mirror.db.execute("UPDATE url SET state = ? WHERE id = ?", (UrlState.PAGE, later))
    mirror.db.execute("INSERT INTO page (url_id, content_type) VALUES (?, 'text/html')", (later,))
    mirror.db.execute(
        "INSERT INTO file (url_id, kind, path, preferred_path, path_key) VALUES (?, ?, 'example.com/d.html', '', x'')",
        (later, FileKind.HTML),
    )
    mirror.write("example.com/d.html", anchor("a"))
    mirror.link(later, a)
    mirror.relink_html()
    assert mirror.read("example.com/a.html").count("c.html") == 2
    assert 'href="d.html"' in mirror.read("example.com/a.html")
    assert mirror.read("example.com/d.html") == '<html><body><a href="a.html">x</a></body></html>'
    after = mirror.tree.stat("example.com/c.html")
    assert before is not None
    assert after is not None
    assert before.st_mtime_ns == after.st_mtime_ns
    assert mirror.rows_agree()


def test_a_page_that_is_written_again_is_relinked(mirror: Mirror) -> None:
    """Its row says that its links are as received."""
    a, b = mirror.save("a", html=anchor("b")), mirror.save("b", html=anchor())
    mirror.link(a, b)
    mirror.relink_html()
    mirror.write("example.com/a.html", anchor("b", "b"))
    mirror.relink_html()
    assert mirror.read("example.com/a.html").count('"b.html"') == 2


def test_an_edited_file_is_left_alone(mirror: Mirror) -> None:
    """What somebody has changed by hand is not ours to relink."""
    a, b = mirror.save("a", html=anchor("b")), mirror.save("b", html=anchor())
    mirror.link(a, b)
    mirror.relink_html()
    mirror.tree.write("example.com/a.html", b'<a href="b.html">mine</a>')
    mirror.move("example.com/b.html", "example.com/c.html")
    mirror.relink_html()
    assert mirror.read("example.com/a.html") == '<a href="b.html">mine</a>'


def test_a_pass_that_was_killed_is_finished_by_its_own_paths(mirror: Mirror) -> None:
    """Files that have their new links and rows that do not know it: two pages that change places stay right."""
    a, b, c = mirror.save("a", html=anchor()), mirror.save("b", html=anchor()), mirror.save("c", html=anchor("a", "b"))
    d = mirror.save("d", html=anchor("a", "b"))
    for src in (c, d):
        mirror.link(src, a)
        mirror.link(src, b)
    mirror.relink_html()
    mirror.move("example.com/a.html", "example.com/x.html")
    mirror.move("example.com/b.html", "example.com/a.html")
    mirror.move("example.com/x.html", "example.com/b.html")
    resolve_aliases(mirror.db)
    killed = HtmlLinkTargets(mirror.state)
    killed.begin()
    swapped = '<html><body><a href="b.html">x</a><a href="a.html">x</a></body></html>'
    mirror.tree.write("example.com/c.html", swapped.encode())  # and its row was not written
    assert is_unfinished(mirror.state)
    mirror.relink_html()
    assert mirror.read("example.com/c.html") == swapped
    assert mirror.read("example.com/d.html") == swapped
    assert not is_unfinished(mirror.state)
    assert mirror.rows_agree()
    assert mirror.db.execute("SELECT count(*) FROM link_target WHERE pending_path IS NOT NULL").fetchone() == (0,)


def test_styles_are_relinked_and_pictures_are_not_read(mirror: Mirror) -> None:
    """Of assets, only style sheets and drawings have links."""
    style, image = (
        mirror.save("s", "text/css", css=f"a {{ background: url({SITE}i) }}"),
        mirror.save("i", "image/png", png=""),
    )
    mirror.link(style, image)
    assert [place.path for place in HtmlLinkTargets(mirror.state).received()] == ["example.com/s.css"]
    mirror.relink_html()
    assert "url(i.png)" in mirror.read("example.com/s.css")


def test_markdown_links_lead_to_files_and_back(mirror: Mirror) -> None:
    """Links lead from file to file, follow a file that moves, and are as the site wrote them again when asked."""
    text = f"# A\n\n[b]({SITE}b), [name]({SITE}name#top), [away](https://other.org/)\n"
    mirror.save("a", md=text, html=anchor("b"))
    b = mirror.save("b", md="# B\n\n## Top\n", html=anchor())
    mirror.url("name", UrlState.ALIAS, target_id=b, reason=Reason.DUPLICATE)
    mirror.relink_markdown()
    assert mirror.read("example.com/a.md") == "# A\n\n[b](b.md), [name](b.md#top), [away](https://other.org/)\n"
    assert MarkdownLinkTargets(mirror.state).has_local_links()
    mirror.move("example.com/b.md", "example.com/c.md")
    mirror.relink_markdown()
    assert "[b](c.md), [name](c.md#top)" in mirror.read("example.com/a.md")
    assert mirror.rows_agree()
    mirror.relink_markdown(to_the_site=True)
    assert mirror.read("example.com/a.md") == text
    assert not MarkdownLinkTargets(mirror.state).has_local_links()
    assert mirror.rows_agree()


def test_relinking_that_was_killed_is_recorded(mirror: Mirror) -> None:
    """Of the files that were announced, those that are there have their rows; the others are as they were."""
    a, b = mirror.save("a", md="old a"), mirror.save("b", md="old b")
    digests = {id: sha256(f"new {name}".encode()).hexdigest() for id, name in ((a, "a"), (b, "b"))}
    changes = [Relinked(id, 5, digest, b"links", is_vague=False) for id, digest in digests.items()]
    MarkdownLinkTargets(mirror.state).announce(changes)
    mirror.tree.write("example.com/a.md", b"new a")
    finish_relinking(mirror.db, mirror)  # type: ignore[arg-type]
    assert mirror.rows_agree()
    assert mirror.db.execute("SELECT url_id, linked_path FROM file ORDER BY 1").fetchall() == [
        (a, "example.com/a.md"),
        (b, None),
    ]
    assert mirror.db.execute("SELECT count(*) FROM journal").fetchone() == (0,)
