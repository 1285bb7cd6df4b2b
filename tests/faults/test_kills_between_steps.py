"""Kills between two related steps, some with a lost state: nothing dangles or is left over."""

from __future__ import annotations

import itertools
import os
import signal
from pathlib import Path

import pytest

from tests.conftest import Finished, RunCli, RunHere
from tests.crawl.conftest import Copy, link, timeless
from tests.site import Site, faults

pytestmark = [pytest.mark.skipif(os.name == "nt", reason="kills with signals"), pytest.mark.timeout(200)]


def _run(run_here: RunHere, site: Site, out: Path, command: str, *options: str, die_at: str = "") -> Finished:
    env = {"SITEMIRROR_FAILPOINT": die_at} if die_at else None
    done = run_here(command, site.url, "--rate-limit", 0, "--quiet", "--output", out, *options, env=env)
    assert done.returncode == (-signal.SIGKILL if die_at else 0), done.stderr
    return done


def _sound(run_here: RunHere, out: Path) -> None:
    done = run_here("verify", out)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("command", ["mirror", "crawl"])
def test_kill_between_alias_and_file_removal_leaves_no_file(
    site: Site, run_here: RunHere, out: Path, command: str
) -> None:
    """The page is an alias now; its files, two with both formats, are removed by the next run."""
    both = ("--format", "both") if command == "crawl" else ()
    site.html_page("/", "Home", link("/old", "/new"))
    site.html_page("/old", "Old", "<p>old</p>", etag="o1")
    site.html_page("/new", "New", "<p>new</p>")
    site.sitemap(urls=["/", "/old", "/new"])
    _run(run_here, site, out, command, *both)
    site.redirect("/old", "/new")
    _run(run_here, site, out, command, *both, "--update", die_at="decided")
    _run(run_here, site, out, command, *both, "--update")
    copy = Copy(out / f"127.0.0.1_{site.port}")
    endings = ("html", "md") if both else ("md",)
    assert sorted(copy.files) == sorted(f"{name}.{end}" for name in ("index", "new/index") for end in endings)
    [new] = [page for page in copy.manifest["pages"] if page["url"].endswith("/new")]
    assert new["aliases"] == [f"{site.url}/old"]
    _sound(run_here, out)


@pytest.mark.parametrize("step", ["file-renamed:14", "links-rewritten:1", "links-committed:1", "links-committed:2"])
def test_kill_while_links_made_local_follow_pages_that_move_later(
    site: Site, run_here: RunHere, tmp_path: Path, step: str
) -> None:
    """A crawl cut by --max-pages is killed while it rewrites links; then a new page takes another's path."""
    leaves = [f"/leaf/{number}" for number in range(30)]
    site.html_page("/", "Home", link("/p/", *leaves))
    site.html_page("/p/", "Slash", link(*leaves, "/way"))
    for leaf in leaves:
        site.html_page(leaf, leaf, link("/p/", "/", "/p", leaves[0]))
    site.html_page("/p", "Bare", link("/p/"))
    site.html_page("/way", "Way", "<p>way</p>")
    copies = {}
    for name in ("whole", "killed"):
        _run(run_here, site, tmp_path / name, "crawl", "--max-pages", "28", die_at=step if name == "killed" else "")
        if name == "killed":
            _run(run_here, site, tmp_path / name, "crawl", "--max-pages", "2", die_at="links-rewritten:1")
        _run(run_here, site, tmp_path / name, "crawl")
        _sound(run_here, tmp_path / name)
        copies[name] = Copy(tmp_path / name / f"127.0.0.1_{site.port}")
    assert copies["killed"].files == copies["whole"].files
    assert timeless(copies["killed"].manifest) == timeless(copies["whole"].manifest)


@pytest.mark.parametrize("options", [(), ("--format", "html"), ("--format", "both", "--links", "local")])
@pytest.mark.parametrize("command", ["mirror", "crawl"])
def test_pages_replaced_by_a_killed_update_are_published(
    site: Site, run_here: RunHere, out: Path, command: str, options: tuple[str, ...]
) -> None:
    """Files were new and rows still old; the next run is no update."""
    changing, kept = ["/", "/a", "/s.css", "/i.png"], "/b"

    def publish(version: str) -> None:
        needs = '<link rel="stylesheet" href="/s.css"><img src="/i.png">'
        site.html_page("/", "Home", f"<p>{version}</p>{needs}{link('/a', '/b')}", etag=version)
        site.html_page("/a", "A", f"<p>{version}</p>{link('/')}", etag=version)
        site.page("/s.css", f"/* {version} */", type="text/css", etag=version)
        site.page("/i.png", version, type="image/png", etag=version)

    publish("old")
    site.html_page(kept, "B", link("/a"), etag="same")
    site.sitemap(urls=["/", "/a", kept])
    _run(run_here, site, out, command, *options)
    publish("newer")
    _run(run_here, site, out, command, *options, "--update", die_at="rows-written:2")
    site.clear_log()
    _run(run_here, site, out, command, *options)
    _sound(run_here, out)
    assert [path for path in changing if site.count(path)]
    assert site.count(kept) == 0
    copy = Copy(out / f"127.0.0.1_{site.port}")
    assert any(b"newer" in text for text in copy.files.values())
    site.clear_log()
    _run(run_here, site, out, command, *options)
    assert not [path for path in changing if site.count(path) and path != "/"]  # from where the site is found


@pytest.mark.parametrize("step", ["rows-written:2", "rows-written:1"])
def test_pages_replaced_by_an_update_survive_a_second_kill(site: Site, run_here: RunHere, out: Path, step: str) -> None:
    """The run after the kill is killed as well, before it has fetched anything."""
    site.sitemap(urls=site.fill(3, etag="old"))
    _run(run_here, site, out, "mirror")
    paths = site.fill(3, etag="new")
    for path in paths:
        site.html_page(path, path, "<p>something else</p>", etag="new")
    _run(run_here, site, out, "mirror", "--update", die_at="rows-written:2")
    _run(run_here, site, out, "mirror", die_at=step)
    _run(run_here, site, out, "mirror")
    _sound(run_here, out)


@pytest.mark.parametrize("command", ["mirror", "crawl"])
def test_state_lost_during_a_swap_loses_no_page(site: Site, run_here: RunHere, out: Path, command: str) -> None:
    """A page had left its path for another at the kill: no page is lost."""
    site.html_page("/", "Home", link("/p/", "/p", "/q"))
    for path in ("/p/", "/p", "/q"):
        site.html_page(path, path, f"<p>{path}</p>")
    site.sitemap(urls=["/", "/p/", "/p", "/q"])
    _run(run_here, site, out, command, die_at="op-done")
    copy = Copy(out / f"127.0.0.1_{site.port}")
    for left in copy.folder.glob("_state.sqlite3*"):
        left.unlink()
    _run(run_here, site, out, command)
    texts = b"".join(copy.files.values())
    assert all(text in texts for text in (b"/p/", b"/p", b"/q"))
    assert len(copy.manifest["pages"]) == len(copy.files) == 4
    _sound(run_here, out)


def test_temporary_files_are_removed_after_state_loss(site: Site, run_cli: RunCli, out: Path) -> None:
    """Only the state knew that there may be such files, and where."""
    site.sitemap(urls=site.fill(3))
    _run(run_cli, site, out, "mirror", die_at="draft-written")
    folder = out / f"127.0.0.1_{site.port}"
    assert [*folder.rglob("*.tmp")]
    for left in folder.glob("_state.sqlite3*"):
        left.unlink()
    _run(run_cli, site, out, "mirror")
    assert not [*folder.rglob("*.tmp")]
    _sound(run_cli, out)


@pytest.mark.parametrize("renewing", ["--update", "--re-download-all"])
def test_file_deleted_after_a_killed_update_is_fetched(site: Site, run_cli: RunCli, out: Path, renewing: str) -> None:
    """The resumed run checks no page twice, but counts no missing page."""
    paths = site.fill(3, etag="1")
    site.sitemap(urls=paths)
    _run(run_cli, site, out, "mirror")
    _run(run_cli, site, out, "mirror", renewing, die_at="settled")
    copy = Copy(out / f"127.0.0.1_{site.port}")
    (copy.folder / "page/0002/index.md").unlink()
    (copy.folder / "page/0003/index.md").write_bytes(b"")
    assert _run(run_cli, site, out, "mirror", renewing).json["successful"] == 3
    _sound(run_cli, out)


def test_run_after_a_crash_reads_pages_in_workers(site: Site, out: Path, run_cli: RunCli) -> None:
    """A page that crashes the parser would end every run; a worker's death is reported."""
    site.sitemap(urls=site.fill(20))
    options = ("--rate-limit", "0", "--profile", "--output")
    alone = run_cli("mirror", site.url, *options, out / "alone")
    assert alone.json["profile"]["workers_cpu_sec"] == 0  # so small a site is read by the run itself
    assert run_cli("mirror", site.url, *options, out, env={"SITEMIRROR_FAILPOINT": "lines-appended:1"}).returncode != 0
    resumed = run_cli("mirror", site.url, *options, out)
    assert resumed.json["successful"] == 20
    assert resumed.json["profile"]["workers_cpu_sec"] > 0


def test_page_that_takes_over_a_gone_pages_path(site: Site, out: Path, run_here: RunHere) -> None:
    """A kill between two file operations: no page has another's text afterwards."""
    for path in ("/a.html", "/a"):
        site.html_page(path, path, f"<p>This is {path} itself.</p>")
    options = ("--rate-limit", 0, "--output", out)
    site.sitemap(urls=["/a.html"])
    assert run_here("mirror", site.url, *options).returncode == 0
    site.sitemap(urls=["/a"])
    (file,) = out.glob("*/a/index.md")
    for step in range(1, 9):
        died = run_here("mirror", site.url, *options, "--update", env={"SITEMIRROR_FAILPOINT": f"op-done:{step}"})
        if file.exists() and "/a itself" in file.read_text(encoding="utf-8"):
            break
    assert died.returncode != 0
    assert "/a itself" in file.read_text(encoding="utf-8")
    site.sitemap(urls=["/a.html"])
    for _ in range(2):
        assert run_here("mirror", site.url, *options).returncode == 0
    assert "/a.html itself" in file.read_text(encoding="utf-8")
    assert run_here("verify", file.parents[1]).returncode == 0


@pytest.mark.parametrize("format", ["markdown", "both", "html"])
def test_local_links_are_updated_after_a_kill_during_rebuild(
    site: Site, run_here: RunHere, out: Path, format: str
) -> None:
    """The state is lost and its rebuilding killed: links lead where a page has moved to all the same."""
    leaves = [f"/leaf/{number}" for number in range(20)]
    for leaf in leaves:
        site.html_page(leaf, leaf, link("/b"), etag="1")
    site.html_page("/b", "B", "<h1>B</h1><p>b</p>", etag="1")
    site.html_page("/c", "C", "<h1>C</h1><p>c</p>", etag="1")
    site.sitemap(urls=[*leaves, "/b", "/c"])
    options = ("--format", format, *(("--links", "local") if format != "html" else ()), "--update")
    _run(run_here, site, out, "mirror", *options)
    copy = Copy(out / f"127.0.0.1_{site.port}")
    (copy.folder / "_state.sqlite3").unlink()
    site.redirect("/b", "/c")
    _run(run_here, site, out, "mirror", *options, die_at="rebuilt")
    _run(run_here, site, out, "mirror", *options)
    ending = "html" if format == "html" else "md"
    for leaf in leaves:
        assert f"../../c/index.{ending}" in copy.text(f"{leaf[1:]}/index.{ending}")
    _sound(run_here, out)


def test_markdown_edited_after_a_kill_during_relinking_is_foreign(site: Site, run_here: RunHere, out: Path) -> None:
    """The killed run recorded the hashes of relinked files; other bytes are an edit."""
    pages = [f"/p/{number}" for number in range(6)]
    for page in pages:
        site.html_page(page, page, f"<p>Hello</p>{link(*pages)}")
    site.sitemap(urls=pages)
    options = ("--links", "local")
    _run(run_here, site, out, "mirror", *options, die_at="page-linked:4")
    copy = Copy(out / f"127.0.0.1_{site.port}")
    edited = copy.folder / "p/1/index.md"
    edited.write_text(edited.read_text(encoding="utf-8").replace("Hello", "HELLO"), encoding="utf-8")
    site.clear_log()
    _run(run_here, site, out, "mirror", *options)
    assert not any(site.count(page) for page in pages)
    assert "HELLO" in edited.read_text(encoding="utf-8")
    done = run_here("verify", out)
    assert [Path(problem["where"]).parent.name for problem in done.json["problems"]] == ["1"]
    for page in {"/p/0", "/p/3", "/p/5"}:
        assert "](../2/index.md)" in copy.text(f"{page[1:]}/index.md")


@pytest.mark.parametrize("kind", ["_failed", "_skipped"])
def test_placeholder_without_a_row_is_removed(site: Site, run_here: RunHere, out: Path, kind: str) -> None:
    """Killed when the placeholders are there and the manifest is not; then the page succeeds."""
    fault = faults.status(500) if kind == "_failed" else faults.raw(b"HTTP/1.1 204 Nothing\r\n\r\n")
    site.html_page("/", "Home", "<p>home</p>")
    for path in ("/a", "/b"):
        site.html_page(path, path, f"<p>{path}</p>")
    site.page("/c.pdf", b"%PDF-1.4", type="application/pdf")
    site.sitemap(urls=["/c.pdf", "/", "/a", "/b"])
    _run(run_here, site, out, "mirror", "--max-pages", "1")  # which leaves a reason that stays true, and is kept
    site.fault("/a", fault)
    folder = out / f"127.0.0.1_{site.port}"
    [stays] = folder.glob("_*/*.md")
    _run(run_here, site, out, "mirror", die_at="run-finished")
    assert len([path for path in folder.glob(f"{kind}/*.md") if path != stays]) == 1
    site.heal("/a")
    _run(run_here, site, out, "mirror", "--update")
    assert list(folder.glob("_*/*.md")) == [stays]
    _sound(run_here, out)


@pytest.mark.parametrize("format", ["markdown", "html", "both"])
@pytest.mark.parametrize("now", ["missing", "redirect", "file"])
def test_file_without_a_row_counts_if_it_is_whole(
    site: Site, run_here: RunHere, out: Path, format: str, now: str
) -> None:
    """Killed between file and row; then the site no longer has the page. Of two files one is not enough."""
    for path in ("/a", "/b"):
        site.html_page(path, path, f"<p>{path}</p>")
    site.sitemap(urls=["/a", "/b"])
    for step in itertools.count(1):
        tried = out / str(step)
        _run(run_here, site, tried, "mirror", "--format", format, die_at=f"file-renamed:{step}")
        if list(tried.glob("*/a")):
            break
    site.remove("/a")
    if now == "redirect":
        site.redirect("/a", "/b")
    elif now == "file":
        site.page("/a", b"PK", type="application/zip")
    _run(run_here, site, tried, "mirror", "--format", format)
    copy = Copy(tried / f"127.0.0.1_{site.port}")
    endings = {"markdown": ["md"], "html": ["html"], "both": ["html", "md"]}[format]
    saved = [f"a/index.{endings[0]}"] if format != "both" else ["a"] if now == "file" else []
    assert sorted(copy.files) == [*saved, *(f"b/index.{ending}" for ending in endings)]
    _sound(run_here, tried)


def test_file_of_another_mirror_stays_when_its_page_fails(site: Site, run_here: RunHere, out: Path) -> None:
    """Killed before a page of another host, which has its own mirror in the same folder."""
    main, docs = site.url_of("site.localhost"), site.url_of("docs.site.localhost")
    options = ("--rate-limit", 0, "--concurrency", 1, "--quiet", "--max-retries", 0, "--output", out)
    site.html_page("/a", "A", "<p>a</p>", host="site.localhost")
    site.html_page("/b", "B", "<p>b</p>", host="docs.site.localhost")
    site.sitemap(urls=[f"{docs}/b"], host="docs.site.localhost")
    site.sitemap(urls=[f"{main}/a", f"{docs}/b"], host="site.localhost")
    assert run_here("mirror", docs, *options).returncode == 0
    killed = run_here("mirror", main, *options, env={"SITEMIRROR_FAILPOINT": "file-renamed:1"})
    assert killed.returncode == -signal.SIGKILL
    site.remove("/b", host="docs.site.localhost")
    run_here("mirror", main, *options)
    assert (out / f"docs.site.localhost_{site.port}" / "b/index.md").exists()
