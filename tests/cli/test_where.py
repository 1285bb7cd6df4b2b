"""`where`: from a URL to its file, mirrored or not, and from a file of a mirror to its URL."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.conftest import RunHere
from tests.site import Site


def test_file_without_entry_has_no_url(run_here: RunHere, tmp_path: Path) -> None:
    """Several URLs map to the same path, so it is not reversed."""
    for path in ("output/docs.example.com/api/index.md", "elsewhere/docs.example.com/x/index.html", "a/logo.png"):
        refused = run_here("where", path)
        assert (refused.returncode, refused.stdout) == (2, "")
        assert f"{path} is neither a file here nor a URL" in refused.stderr
        (tmp_path / path).parent.mkdir(parents=True)
        (tmp_path / path).write_text("x")
        refused = run_here("where", path)
        assert (refused.returncode, refused.stdout) == (2, "")
        assert f"{path} is a file that no manifest names" in refused.stderr
        assert "hint: give a URL, or the file of a page" in refused.stderr


def test_front_matter_gives_the_url(run_here: RunHere, tmp_path: Path) -> None:
    """A page copied out of its mirror still has its URL."""
    (tmp_path / "page.md").write_text("---\ntitle: A\nurl: https://e.com/a\n---\n\n# A\n")
    assert run_here("where", "page.md").stdout == "https://e.com/a\n"


def test_without_a_mirror_a_note_names_the_format(run_here: RunHere, tmp_path: Path) -> None:
    """Without a mirror the format is unknown; an existing file decides it."""
    note = "note: no manifest names it: this is where it would be in Markdown; in HTML it would be output/e.com"
    for url, markdown, html in (("a", "a/index.md", "a/index.html"), ("i.png", "i.png/index.md", "i.png")):
        done = run_here("where", f"https://e.com/{url}")
        assert (done.stdout, done.stderr) == (f"output/e.com/{markdown}\n", f"{note}/{html}\n")
    saved = tmp_path / "output/e.com/a/index.html"
    saved.parent.mkdir(parents=True)
    saved.write_text("<p>a</p>")
    done = run_here("where", "https://e.com/a")
    assert done.stdout == "output/e.com/a/index.html\n"
    assert done.stderr == "note: no manifest names it, but this is where it would be, and there is a file\n"


def test_missing_file_has_a_reason(site: Site, run_here: RunHere, tmp_path: Path) -> None:
    """Failed, skipped, out of scope, not reached or unknown."""
    site.html_page("/a", "A", "<h1>A</h1>")
    site.page("/x.zip", b"PK", type="application/zip")
    site.redirect("/loop", "/loop")
    site.html_page("/later", "Later", "<h1>Later</h1>")
    site.sitemap(urls=["/missing", "/x.zip", "/loop", "/out/b", "/a", "/later"])
    folder = Path(
        run_here("mirror", site.url, "--rate-limit", 0, "--max-pages", 1, "--exclude-path", "/out/*").json["output_dir"]
    )
    said = {
        "/a": "",
        "/missing": "not saved: HTTP 404; the next run tries again; see ",
        "/x.zip": "not saved: content type application/zip; see ",
        "/loop": "not saved: redirect loop; the next run tries again; see ",
        "/out/b": "not saved: ",
        "/later": "not saved yet: ",
        "/never": "no manifest names it: this is where it would be",
    }
    for path, why in said.items():
        done = run_here("where", site.url + path)
        assert done.returncode == 0
        assert done.stdout.startswith(f"{folder}/{path.lstrip('/')}")
        assert (why and f"note: {why}") == done.stderr[: len(f"note: {why}")]
        if why.endswith("see "):
            placeholder = done.stderr.strip().rpartition("see ")[2]
            assert (tmp_path / placeholder).is_file()
            assert run_here("where", placeholder).stdout == f"{site.url}{path}\n"
    (tmp_path / folder / "a/index.md").unlink()
    assert "it was saved, but is not there any more" in run_here("where", f"{site.url}/a").stderr


def test_page_is_found_under_similar_urls(site: Site, run_here: RunHere) -> None:
    """Other scheme, with or without `www` or trailing slash, with a note."""
    host = "docs.localhost"
    site.html_page("/a", "A", "<h1>A</h1>", host=host)
    site.html_page("/b/", "B", "<h1>B</h1>", host=host)
    site.sitemap(urls=[f"{site.url_of(host)}/a", f"{site.url_of(host)}/b/"], host=host)
    folder = run_here("mirror", site.url_of(host), "--rate-limit", 0).json["output_dir"]
    secure, www = site.url_of(host).replace("http:", "https:"), site.url_of(f"www.{host}")
    for typed, path in (
        (f"{secure}/a", "/a"),
        (f"{secure}/a/", "/a"),
        (f"{site.url_of(host)}/a/", "/a"),
        (f"{site.url_of(host)}/b", "/b/"),
        (f"{www}/b", "/b/"),
        (f"{www.replace('http:', 'https:')}/a/", "/a"),
        (f"{secure.removeprefix('https://')}/a", "/a"),  # as `mirror` would take it
    ):
        done = run_here("where", typed)
        assert done.stdout == f"{folder}{path.rstrip('/')}/index.md\n", typed
        assert done.stderr == f"note: no manifest names it, but {site.url_of(host)}{path}: this is that page's file\n"
    assert "this is where it would be" in run_here("where", f"{secure}/a?b=c").stderr


def test_similar_urls_of_two_pages_are_distinguished(site: Site, run_here: RunHere) -> None:
    """A URL in the manifest has precedence over similar URLs."""
    site.html_page("/p", "One", "<h1>One</h1>")
    site.html_page("/p/", "Two", "<h1>Two</h1>")
    site.html_page("/q", "Q", "<h1>Q</h1>")
    site.sitemap(urls=["/p", "/p/", "/q", "/q/"])
    folder = run_here("mirror", site.url, "--rate-limit", 0).json["output_dir"]
    one, two = (run_here("where", f"{site.url}{path}") for path in ("/p", "/p/"))
    assert (one.stdout, one.stderr, two.stderr) == (f"{folder}/p/index.md\n", "", "")
    assert two.stdout not in ("", one.stdout)
    assert run_here("where", f"{site.url}/q/").stderr.startswith("note: not saved: HTTP 404")
    secure = site.url.replace("http:", "https:")
    assert [run_here("where", f"{secure}{path}").stdout for path in ("/p", "/p/")] == [one.stdout, two.stdout]


@pytest.mark.parametrize("format", ["markdown", "html", "both"])
def test_unsaved_url_does_not_get_another_pages_file(
    site: Site, run_here: RunHere, tmp_path: Path, format: str
) -> None:
    """Even if a page with the same path was saved."""
    site.html_page("/a", "A", "<h1>A</h1>")
    site.sitemap(urls=["/a", "/a/", "/a.html"])
    run_here("mirror", site.url, "--rate-limit", 0, "--format", format)
    assert (tmp_path / run_here("where", f"{site.url}/a").stdout.strip()).is_file()
    for path in ("/a/", "/a.html", "/a/index.php"):
        done = run_here("where", site.url + path)
        assert done.returncode == 0
        assert not (tmp_path / done.stdout.strip()).exists()
        site.html_page(path, path, f"<h1>{path}</h1>")
        site.sitemap(urls=["/a", "/a/", "/a.html", "/a/index.php"])
        run_here("mirror", site.url, "--rate-limit", 0, "--format", format)
        assert run_here("where", site.url + path).stdout == done.stdout


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="permissions do not hold for this user")
def test_unreadable_folder_is_reported(run_here: RunHere, tmp_path: Path) -> None:
    """The message names the folder and a solution."""
    closed = tmp_path / "output" / "127.0.0.1_9"
    closed.mkdir(parents=True, mode=0o000)
    done = run_here("where", "http://127.0.0.1:9/a")
    closed.chmod(0o700)
    assert done.returncode == 2
    assert "Permission denied" in done.stderr
    assert "hint: check the name and its permissions" in done.stderr


def test_own_files_have_no_url(site: Site, run_here: RunHere) -> None:
    """They are not pages, whatever their content."""
    site.html_page("/a", "A", "<h1>A</h1>")
    site.sitemap()
    folder = run_here("mirror", site.url, "--rate-limit", 0).json["output_dir"]
    for name in ("_manifest.json", "_failed/0123456789abcdef.md"):
        refused = run_here("where", f"{folder}/{name}")
        assert (refused.returncode, refused.stdout) == (2, "")


@pytest.mark.parametrize("format", ["markdown", "both"])
def test_deleted_file_keeps_its_url(site: Site, run_here: RunHere, tmp_path: Path, format: str) -> None:
    """The manifest still has it, and the HTML beside Markdown."""
    site.html_page("/a", "A", "<h1>A</h1>")
    site.sitemap()
    folder = run_here("mirror", site.url, "--rate-limit", 0, "--format", format).json["output_dir"]
    for file in sorted((tmp_path / folder / "a").iterdir()):
        file.unlink()
        assert run_here("where", f"{folder}/a/{file.name}").stdout == f"{site.url}/a\n"


def test_file_of_a_subdomain_is_found(site: Site, run_here: RunHere) -> None:
    """Pages of a subdomain are in a folder without a manifest."""
    home, other = "site.localhost", "docs.site.localhost"
    site.html_page("/b", "B", "<h1>B</h1>", host=other)
    site.html_page("/a", "A", "<h1>A</h1>", host=home)
    site.sitemap(urls=[f"{site.url_of(home)}/a", f"{site.url_of(other)}/b"], host=home)
    run_here("mirror", site.url_of(home), "--rate-limit", 0, "--format", "html")
    file = run_here("where", f"{site.url_of(other)}/b").stdout.strip()
    assert run_here("where", file).stdout == f"{site.url_of(other)}/b\n"


def test_html_mirror_with_markdown_file(site: Site, run_here: RunHere, out: Path) -> None:
    """A Markdown file of the site does not change the format of other pages."""
    site.html_page("/", "Home", '<a href="/readme.md">read me</a>')
    site.page("/readme.md", "# Read me", type="text/markdown")
    run_here("crawl", site.url, "--rate-limit", 0, "--output", out)
    assert list(out.glob("*/readme*.md"))
    done = run_here("where", f"{site.url}/new/page", "--output", out)
    assert done.stdout.strip().endswith("new/page/index.html")
