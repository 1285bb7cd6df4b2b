"""Each kind of damage is found, named once, and nothing else with it."""

from __future__ import annotations

import json
import os
import sqlite3
from pathlib import Path

import pytest

from sitemirror.publish.report import RunStatus
from tests.verify.conftest import Mirrored

GUIDE = {"mirror": "guide/index.md", "crawl": "guide/index.html"}


def rewrite(path: Path, old: str, new: str) -> None:
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new), "utf-8")


@pytest.mark.parametrize("way", GUIDE)
def test_missing_file_is_reported(mirrored: Mirrored, way: str) -> None:
    """A missing page is one problem, whatever the number of links to it."""
    copy = mirrored(way)
    (copy.folder / GUIDE[way]).unlink()
    report = copy.verify()
    assert copy.problems() == [("missing", GUIDE[way])]
    assert (report.status, report.problems_total, report.error) == (RunStatus.ERROR, 1, "1 problem found")
    assert report.hint


@pytest.mark.parametrize("way", GUIDE)
def test_missing_contents_and_placeholders_are_reported(mirrored: Mirrored, way: str) -> None:
    """Missing `_index.md` and placeholders are problems."""
    copy = mirrored(way)
    stand_ins = sorted(copy.folder.glob("_failed/*.md")) + sorted(copy.folder.glob("_skipped/*.md"))
    assert stand_ins
    names = [path.relative_to(copy.folder).as_posix() for path in stand_ins]
    for path in stand_ins:
        path.unlink()
    (copy.folder / "_index.md").unlink()
    assert copy.problems() == [*(("missing", name) for name in names), ("missing", "_index.md")]


def test_own_notes_beside_markdown_are_no_orphans(mirrored: Mirrored) -> None:
    """With Markdown only, orphans are files that look like pages; otherwise all files."""
    for way, found in (("mirror", ["notes.md"]), ("crawl", ["foo.tmp", "notes.md"])):
        copy = mirrored(way)
        for name in ("foo.tmp", "notes.md"):
            (copy.folder / name).write_text("mine")
        assert copy.problems() == [("orphan", name) for name in found]


@pytest.mark.parametrize("way", GUIDE)
def test_changed_file_is_reported(mirrored: Mirrored, way: str) -> None:
    """A changed letter is found by the hash, an added one by the size."""
    copy = mirrored(way)
    rewrite(copy.folder / GUIDE[way], "first of all", "first of alL")
    assert copy.problems() == [("changed", GUIDE[way])]
    rewrite(copy.folder / GUIDE[way], "first of alL", "first of all!")
    assert copy.problems() == [("changed", GUIDE[way])]
    assert "bytes" in copy.verify().problems[0].message


def test_changed_asset_is_reported(mirrored: Mirrored) -> None:
    """Images are compared like pages."""
    copy = mirrored("crawl")
    (copy.folder / "pictures/dot.png").write_bytes(b"\x89PNG\r\n\x1a\ntod")
    assert copy.problems() == [("changed", "pictures/dot.png")]


def test_changed_html_beside_markdown_is_reported(mirrored: Mirrored) -> None:
    """The manifest hashes the Markdown; the HTML is compared by the state."""
    copy = mirrored("mirror-both")
    rewrite(copy.folder / "guide/index.html", "first of all", "first of alL")
    assert copy.problems() == [("changed", "guide/index.html")]
    (copy.folder / "guide/index.html").unlink()
    assert copy.problems() == [("missing", "guide/index.html")]


def test_page_without_hash_only_has_to_exist(mirrored: Mirrored) -> None:
    """Without size and hash only a missing file is a problem."""
    copy = mirrored("mirror")
    copy.change_page("guide/index.md", sha256=None, size_bytes=None)
    (copy.folder / "guide/index.md").write_text("other")
    assert copy.problems() == []
    (copy.folder / "guide/index.md").unlink()
    assert copy.problems() == [("missing", "guide/index.md")]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('href="guide/index.html"', 'href="guide/nowhere.html"'),
        ("pictures/dot2.png 2x", "pictures/dot3.png 2x"),
        ('src="pictures/dot.png"', "src=&#112;ictures/dot9.png"),
        ('href="guide/index.html"', 'href="guide"'),
        ('href="guide/index.html"', 'href="/guide/index.html"'),
        ('href="guide/index.html"', 'href="../../../../../../../../../../etc/passwd"'),
        ("<h1 id=home>", '<h1 id=home style="background:url(no.png)">'),
        ("<h1 id=home>", "<style>h1 { background: url(no.png) }</style><h1 id=home>"),
        ("<h1 id=home>", '<meta http-equiv=refresh content="9; url=no.html"><h1 id=home>'),
    ],
)
def test_link_to_missing_file_is_reported(mirrored: Mirrored, old: str, new: str) -> None:
    """All forms of links, also to files outside the mirror."""
    copy = mirrored("crawl")
    copy.forget_what_was_saved()
    (copy.folder / "mirror-index.json").unlink()
    rewrite(copy.folder / "index.html", old, new)
    assert copy.problems() == [("link", "index.html")]


def test_link_in_css_to_missing_file_is_reported(mirrored: Mirrored) -> None:
    """Files that a style sheet loads must exist."""
    copy = mirrored("crawl")
    copy.forget_what_was_saved()
    (copy.folder / "mirror-index.json").unlink()
    rewrite(copy.folder / "style.css", "more.css", "less.css")
    assert copy.problems() == [("link", "style.css")]


@pytest.mark.parametrize("link", ["[x](no.md)", "![x](<no no.png> 'title')", r"\\[x](../../../no.md)"])
def test_link_in_markdown_to_missing_file_is_reported(mirrored: Mirrored, link: str) -> None:
    """Relative links in Markdown must lead to files."""
    copy = mirrored("mirror")
    copy.forget_what_was_saved()
    page = copy.folder / "guide/index.md"
    page.write_text(page.read_text("utf-8") + f"\n{link} and [up](../index.md#home)\n", "utf-8")
    assert copy.problems() == [("link", "guide/index.md")]


@pytest.mark.parametrize(("old", "new"), [("#second", "#third"), ('href="#home"', 'href="#house"')])
def test_missing_anchor_is_reported(mirrored: Mirrored, old: str, new: str) -> None:
    """An anchor that the other page, or the page itself, lacks."""
    copy = mirrored("crawl")
    copy.forget_what_was_saved()
    (copy.folder / "mirror-index.json").unlink()
    rewrite(copy.folder / "index.html", old, new)
    assert copy.problems() == [("anchor", "index.html")]


@pytest.mark.parametrize(
    "link",
    [
        "[x](../index.md#house)",
        "[x](#third)",
        "[x](#Second)",
        "[x](<index.md#third> 'title')",
        "![x](index.md#third)",
        "> - [x](../index.md#home_)",
    ],
)
def test_missing_anchor_in_markdown_is_reported(mirrored: Mirrored, link: str) -> None:
    """A heading that the other file, or the file itself, lacks."""
    copy = mirrored("mirror-local")
    copy.forget_what_was_saved()
    page = copy.folder / "guide/index.md"
    good = "[a](#second) [b](#first) [c](../index.md#home) [d](../index.md#%68ome) [e](#top) [f](../index.md#)"
    page.write_text(page.read_text("utf-8") + f"\n{good}\n\n```\n[x](#no)\n```\n", "utf-8")
    assert copy.problems() == []
    page.write_text(page.read_text("utf-8") + f"\n{link}\n", "utf-8")
    assert copy.problems() == [("anchor", "guide/index.md")]


def test_renamed_heading_is_reported(mirrored: Mirrored) -> None:
    """The page that links to a heading renamed by hand is reported."""
    copy = mirrored("mirror-local")
    copy.forget_what_was_saved()
    rewrite(copy.folder / "guide/index.md", "## Second", "## Third")
    (problem,) = copy.verify().problems
    assert (problem.kind, copy.below(problem.where)) == ("anchor", "index.md")
    assert "#second" in problem.message
    assert "guide/index.md" in problem.message


@pytest.mark.parametrize(
    "text",
    [
        "- ```\n" + "  code `\n" * 2000 + "  [x](no.md#y) [x](../../../../no.md)\n  ```",
        "<div>\n[x](no.md) [x](../index.md#no)\n</div>",
        "    [x](no.md) [x](#no)",
    ],
)
def test_text_that_looks_like_a_link_is_ignored(mirrored: Mirrored, text: str) -> None:
    """Code and raw HTML contain no links, at any depth."""
    copy = mirrored("mirror-local")
    copy.forget_what_was_saved()
    page = copy.folder / "guide/index.md"
    page.write_text(page.read_text("utf-8") + f"\n{text}\n", "utf-8")
    assert copy.problems() == []


def test_unaccounted_url_is_reported(mirrored: Mirrored) -> None:
    """URLs of the state or log that the manifest lacks; a truncated last line does not count."""
    copy = mirrored("mirror")
    content = copy.manifest
    lost = content["failures"].pop()["url"]
    content |= {"failed": 0, "total_pages": content["total_pages"] - 1}
    copy.manifest = content
    with (copy.folder / "_processed.txt").open("a", encoding="utf-8") as log:
        log.write("http://127.0.0.1/new\nhttp://127.0.0.1/tor")
    assert copy.problems() == [("unaccounted", lost), ("unaccounted", "http://127.0.0.1/new")]


def test_url_only_in_the_state_is_reported(mirrored: Mirrored) -> None:
    """A URL that a run found and did not publish is found in its state."""
    copy = mirrored("crawl")
    with sqlite3.connect(copy.folder / "_state.sqlite3") as db:
        db.execute(
            "INSERT INTO url (key, url, state, queue, named, listed_run, start_id)"
            " VALUES (x'00', 'http://x/', 0, 1, 1, 1, 1)"
        )
    db.close()
    for name in ("_state.sqlite3-wal", "_state.sqlite3-shm"):
        (copy.folder / name).unlink(missing_ok=True)
    assert copy.problems() == [("unaccounted", "http://x/")]


def test_url_reported_twice_is_a_problem(mirrored: Mirrored) -> None:
    """A URL that is both a page and not reached is counted twice."""
    copy = mirrored("mirror")
    content = copy.manifest
    content["not_reached"].append(content["pages"][0]["url"])
    copy.manifest = content
    kinds = [kind for kind, _ in copy.problems()]
    assert kinds == ["twice", "count"]


def test_orphan_is_reported(mirrored: Mirrored) -> None:
    """Files without an entry: pages in any mirror, all files in one with assets, temporary files."""
    copy = mirrored("mirror")
    (copy.folder / "guide/extra.md").write_text("x")
    (copy.folder / "guide/extra.png").write_text("x")
    (copy.folder / "guide/.sitemirror 0123456789abcdef.tmp").write_text("x")
    assert copy.problems() == [("orphan", "guide/.sitemirror 0123456789abcdef.tmp"), ("orphan", "guide/extra.md")]
    copy = mirrored("crawl")
    (copy.folder / "guide/extra.png").write_text("x")
    (copy.folder / "_external/cdn.example").mkdir(parents=True)
    (copy.folder / "_external/cdn.example/x.js").write_text("x")
    assert copy.problems() == [("orphan", "_external/cdn.example/x.js"), ("orphan", "guide/extra.png")]


@pytest.mark.parametrize(
    "path", ["../../secret", "/etc/passwd", "../other.example/secret", "guide/../index.md", "a//b", "a\0b", "", "."]
)
def test_path_outside_the_mirror_is_not_opened(mirrored: Mirrored, path: str, tmp_path: Path) -> None:
    """A manifest cannot make verify read other files."""
    copy = mirrored("mirror")
    for secret in (tmp_path / "secret", copy.output / "other.example" / "secret"):
        secret.parent.mkdir(exist_ok=True)
        secret.write_text("[x](y)")
    url = copy.page("guide/index.md")["url"]
    copy.change_page("guide/index.md", path=path)
    assert "delete" not in (copy.verify().hint or "delete")  # the page, which the manifest does not name now
    (copy.folder / "guide/index.md").unlink()
    found = [(kind, where) for kind, where in copy.problems() if not where.endswith(("_index.md", "_llms.txt"))]
    if path:
        assert found == [("path", url)]
    else:
        assert "manifest" in {kind for kind, _ in found}


def test_two_urls_with_one_file_are_reported(mirrored: Mirrored) -> None:
    """Each page has a file of its own."""
    copy = mirrored("mirror")
    odd = next(page["path"] for page in copy.manifest["pages"] if "__q_" in page["path"])
    guide = copy.page("guide/index.md")
    copy.change_page(odd, path="guide/index.md", sha256=guide["sha256"], size_bytes=guide["size_bytes"])
    (copy.folder / odd).unlink()
    assert ("path", "guide/index.md") in copy.problems()


def link(at: Path, to: Path) -> None:
    try:
        at.symlink_to(to, target_is_directory=to.is_dir())
    except OSError:
        pytest.skip("this system makes no symlinks")


@pytest.mark.parametrize("way", GUIDE)
def test_symlink_is_reported(mirrored: Mirrored, way: str, tmp_path: Path) -> None:
    """A page that is a symlink, or behind one, is not followed."""
    copy = mirrored(way)
    page = copy.folder / GUIDE[way]
    page.rename(tmp_path / "elsewhere")
    link(page, tmp_path / "elsewhere")
    assert copy.problems() == [("unreadable", GUIDE[way])]
    page.unlink()
    page.parent.rmdir()
    (tmp_path / "folder").mkdir()
    (tmp_path / "elsewhere").rename(tmp_path / "folder" / page.name)
    link(page.parent, tmp_path / "folder")
    assert ("unreadable", GUIDE[way]) in copy.problems()


def test_tool_files_that_are_symlinks_are_not_read(mirrored: Mirrored, tmp_path: Path) -> None:
    """A manifest behind a symlink is not read."""
    copy = mirrored("mirror")
    (copy.folder / "_manifest.json").rename(tmp_path / "manifest")
    link(copy.folder / "_manifest.json", tmp_path / "manifest")
    assert copy.problems() == [("manifest", "_manifest.json")]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes in the file system here")
def test_pipe_does_not_block(mirrored: Mirrored) -> None:
    """A pipe in place of a page is reported without reading it."""
    copy = mirrored("mirror")
    (copy.folder / "guide/index.md").unlink()
    os.mkfifo(copy.folder / "guide/index.md")
    assert copy.problems() == [("unreadable", "guide/index.md")]


def test_broken_mirror_index_is_reported(mirrored: Mirrored) -> None:
    """A truncated index, or one that contradicts the disk."""
    copy = mirrored("crawl")
    index = copy.folder / "mirror-index.json"
    whole = index.read_bytes()
    index.write_bytes(whole[: len(whole) // 2])
    assert set(copy.problems()) == {("index", "mirror-index.json")}
    content = json.loads(whole)
    item = next(item for item in content["items"] if item.get("path") == "guide/index.html")
    item["sha256"] = "0" * 64
    index.write_text(json.dumps(content), "utf-8")
    assert copy.problems() == [("changed", "guide/index.html")]
    content = json.loads(whole)
    next(iter(content["urls"].values()))["local_path"] = "nowhere.html"
    index.write_text(json.dumps(content), "utf-8")
    assert copy.problems() == [("missing", "nowhere.html")]
    next(iter(content["urls"].values()))["local_path"] = "../../secret"
    index.write_text(json.dumps(content), "utf-8")
    assert copy.problems() == [("index", "mirror-index.json")]


def test_damaged_manifest_is_reported(mirrored: Mirrored) -> None:
    """A damaged line is named and the rest is checked; other content is refused."""
    copy = mirrored("mirror")
    path = copy.folder / "_manifest.json"
    lines = path.read_bytes().splitlines(keepends=True)
    number = next(number for number, line in enumerate(lines) if b'"path":"guide/index.md"' in line)
    path.write_bytes(b"".join([*lines[:number], b'    {"url": oops},\n', *lines[number + 1 :]]))
    problems = copy.verify().problems
    assert f"line {number + 1}" in problems[0].message
    assert {problem.kind for problem in problems} == {"manifest", "count", "unaccounted", "orphan"}
    path.write_bytes(b"no manifest")
    assert copy.problems() == [("manifest", "_manifest.json")]


def test_wrong_counts_are_reported(mirrored: Mirrored) -> None:
    """Counts in the header that differ from the lists."""
    copy = mirrored("mirror")
    copy.manifest = {**copy.manifest, "successful": 99}
    assert copy.problems() == [("count", "_manifest.json"), ("count", "_manifest.json")]


def test_unfinished_run_is_reported(mirrored: Mirrored) -> None:
    """A running or killed run is a problem, but its newest files are no orphans."""
    copy = mirrored("mirror")
    (copy.folder / "_lock").write_text("1")
    (copy.folder / "new.md").write_text("x")
    with (copy.folder / "_processed.txt").open("a", encoding="utf-8") as log:
        log.write("http://127.0.0.1/new\n")
    assert copy.problems() == [("unfinished", "_lock")]
    (copy.folder / "_manifest.json").unlink()
    assert copy.problems() == [("unfinished", "_lock"), ("manifest", "_manifest.json")]
    assert copy.verify().complete is False


def test_damaged_state_is_a_warning(mirrored: Mirrored) -> None:
    """The state can be rebuilt, so a damaged one is not a problem of the mirror."""
    copy = mirrored("mirror")
    (copy.folder / "_state.sqlite3").write_bytes(b"x" * 5000)
    report = copy.verify()
    assert report.problems == ()
    assert "_state.sqlite3" in report.warnings[0]
