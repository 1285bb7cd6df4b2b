"""`where`: the map both ways, for what has been mirrored and for what has not."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitemirror.store.paths import asset_path, host_folder, leads_to, page_path, url_at
from sitemirror.urls import normalize
from tests.conftest import RunHere
from tests.site import Site

_WORDS = st.text("abcXYZ019-.~é中%", min_size=1, max_size=8).filter(lambda word: word.strip(".") == word)


@pytest.mark.parametrize(
    ("path", "url"),
    [
        ("docs.example.com/index.md", "https://docs.example.com/"),
        ("docs.example.com/api/users/create/index.md", "https://docs.example.com/api/users/create"),
        ("docs.example.com/v1.2/index.md", "https://docs.example.com/v1.2"),
        ("docs.example.com/caf\u00e9/index.md", "https://docs.example.com/caf%C3%A9"),
        ("docs.example.com/__manifest.json/index.md", "https://docs.example.com/_manifest.json"),
        ("docs.example.com/a.html/index.md", "https://docs.example.com/a.html/"),
        ("docs.example.com/a/index.html", "https://docs.example.com/a"),
        ("docs.example.com/logo.png", "https://docs.example.com/logo.png"),
        ("docs.example.com/_external/cdn.example.com/s.css", "https://cdn.example.com/s.css"),
        ("localhost_8080/a/index.md", "https://localhost:8080/a"),
        ("example.com_443/a/index.md", "http://example.com:443/a"),
        ("@ipv6---1/a/index.md", "https://[::1]/a"),
    ],
)
def test_a_file_that_is_not_there_has_the_url_that_leads_to_it(path: str, url: str, run_here: RunHere) -> None:
    """`where FILE` reads the path backwards, and what it had to guess stands on stderr."""
    done = run_here("where", f"output/{path}")
    assert (done.returncode, done.stdout) == (0, f"{url}\n"), done.stderr
    assert done.stderr.startswith("note: no manifest names it; guessed: http")
    if path.endswith(".md"):
        assert run_here("where", url).stdout == f"output/{path}\n"


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("search__q_93b5eb01.md", "a query is kept as a hash"),
        ("p_0123abcd.md", "a hash in a name cannot be read backwards"),
        ("_index.md", "no page of a mirror would have this path"),
    ],
)
def test_a_path_that_cannot_be_read_backwards_is_refused_with_the_reason(
    path: str, why: str, run_here: RunHere
) -> None:
    """Nothing is made up where the name does not tell it."""
    done = run_here("where", f"output/docs.example.com/{path}")
    assert (done.returncode, done.stdout) == (2, "")
    assert why in done.stderr
    assert "hint: " in done.stderr


def test_outside_the_output_folder_nothing_is_guessed(run_here: RunHere) -> None:
    """The folder above the host's is --output; -o says another."""
    refused = run_here("where", "elsewhere/docs.example.com/x/index.md")
    assert refused.returncode == 2
    assert "neither a file here nor a URL" in refused.stderr
    assert run_here("where", "elsewhere/h.example/x/index.md", "-o", "elsewhere").stdout == "https://h.example/x\n"


def test_without_a_mirror_it_is_said_what_is_assumed(run_here: RunHere, tmp_path: Path) -> None:
    """Nobody knows whether it will be Markdown or HTML; a file that is there answers that."""
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


def test_the_manifest_tells_what_the_path_does_not(site: Site, run_here: RunHere, tmp_path: Path) -> None:
    """The scheme of a mirrored host is known, and so is the URL of a page that failed, its query included."""
    site.html_page("/a", "A", "<h1>A</h1>")
    site.sitemap("/sitemap.xml", ["/a", "/gone/", "/search?q=1"])
    report = run_here("mirror", site.url, "--rate-limit", 0).json
    for path in ("/gone/", "/search?q=1"):
        file = run_here("where", site.url + path).stdout.strip()
        assert not (tmp_path / file).exists()
        back = run_here("where", file)
        assert (back.stdout, back.stderr) == (f"{site.url}{path}\n", "")
    back = run_here("where", f"{report['output_dir']}/other/index.md")
    assert back.stdout == f"{site.url}/other\n"
    assert back.stderr == "note: no manifest names it; guessed: that no slash or extension ends it\n"


def test_it_is_said_why_there_is_no_file(site: Site, run_here: RunHere, tmp_path: Path) -> None:
    """What failed, was skipped, is out of scope, was not reached or has never been heard of is no page on disk."""
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
    """The other scheme, with or without `www` and the last slash: most likely the same page, and reported so."""
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
    """A URL in a manifest is answered for itself, whatever its similar URL became."""
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
def test_what_is_not_saved_has_no_other_pages_file(site: Site, run_here: RunHere, tmp_path: Path, format: str) -> None:
    """A script that asks whether the file is there is not shown that of a page which has the same path."""
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
def test_a_folder_that_may_not_be_looked_into(run_here: RunHere, tmp_path: Path) -> None:
    """The folder is named, with what to do."""
    closed = tmp_path / "output" / "127.0.0.1_9"
    closed.mkdir(parents=True, mode=0o000)
    done = run_here("where", "http://127.0.0.1:9/a")
    closed.chmod(0o700)
    assert done.returncode == 2
    assert "Permission denied" in done.stderr
    assert "hint: check the name and its permissions" in done.stderr


def test_the_tools_own_files_have_no_url(site: Site, run_here: RunHere) -> None:
    """And nobody is sent to look for one in the manifest."""
    site.html_page("/a", "A", "<h1>A</h1>")
    site.sitemap()
    folder = run_here("mirror", site.url, "--rate-limit", 0).json["output_dir"]
    for name in ("_manifest.json", "_failed/0123456789abcdef.md"):
        refused = run_here("where", f"{folder}/{name}")
        assert refused.returncode == 2
        assert "it is one of sitemirror's own files" in refused.stderr
        assert "hint: give a page's file, or a URL" in refused.stderr


@given(st.lists(_WORDS, max_size=4), st.sampled_from([".md", ".html"]))
def test_ordinary_urls_come_back_as_they_went(words: list[str], extension: str) -> None:
    """URL → path → URL, and always a URL that leads to that path."""
    url = normalize("https://docs.example.com/" + "/".join(words))
    path = page_path(url, extension)
    back = url_at(host_folder(url), path)
    assert back is not None
    assert page_path(back, extension) == path
    if all(word.isascii() and word.replace("-", "").isalnum() for word in words):
        assert back == url


def test_an_asset_comes_back_as_it_went() -> None:
    """Its own name is its path."""
    url = "https://cdn.example.com/fonts/a%20b.min.css"
    path = asset_path(url)
    assert url_at(host_folder(url), path) == "https://cdn.example.com/fonts/a_b.min.css"


def test_an_asset_that_needed_an_ending_is_found_by_it() -> None:
    """A URL without the ending that its type has on disk leads to the file with it."""
    url = "https://cdn.example.com/badge/passing"
    assert leads_to(url, asset_path(url, "image/svg+xml"))
    assert not leads_to(url, "badge/passing.png")


def test_an_html_mirror_may_hold_markdown(site: Site, run_here: RunHere, out: Path) -> None:
    """A file that the site itself has in Markdown does not make its other pages Markdown."""
    site.html_page("/", "Home", '<a href="/readme.md">read me</a>')
    site.page("/readme.md", "# Read me", type="text/markdown")
    run_here("crawl", site.url, "--rate-limit", 0, "--output", out)
    assert list(out.glob("*/readme*.md"))
    done = run_here("where", f"{site.url}/new/page", "--output", out)
    assert done.stdout.strip().endswith("new/page/index.html")
