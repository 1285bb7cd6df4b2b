"""`sitemirror convert` as a person or a program calls it."""

from __future__ import annotations

from pathlib import Path

import pytest

import sitemirror
from sitemirror.errors import NoPage, UsageError
from tests.conftest import RunCli, RunHere
from tests.site import Site

HTML = '<title>T</title><nav>menu</nav><h1>Hello</h1><p>See <a href="more">more</a>.</p>'
BODY = "# Hello\n\nSee [more]({}more).\n"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A page on disk."""
    path = tmp_path / "page.html"
    path.write_text(HTML, encoding="utf-8")
    return path


def test_a_file(run_cli: RunCli, file: Path) -> None:
    """Front matter and Markdown on stdout, nothing on stderr, nothing written; links stay as they are."""
    before = {path.name for path in file.parent.iterdir()}
    done = run_cli("convert", file)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == '---\ntitle: "T"\n---\n\n' + BODY.format("")
    assert {path.name for path in file.parent.iterdir()} == before


def test_a_file_with_its_address(run_here: RunHere, file: Path) -> None:
    """`--url` says what relative links count from."""
    done = run_here("convert", file, "--url", "https://example.com/docs/", "--no-front-matter")
    assert (done.returncode, done.stdout) == (0, BODY.format("https://example.com/docs/"))


def test_stdin(run_cli: RunCli) -> None:
    """`-` reads the page from stdin."""
    done = run_cli("convert", "-", "--url=https://example.com/", "--no-front-matter", "--content", "full", stdin=HTML)
    assert (done.returncode, done.stdout) == (0, BODY.format("https://example.com/"))


def test_a_url(run_cli: RunCli, site: Site) -> None:
    """A private address that the user names is asked, once, and its redirects and refreshes are followed."""
    site.page("/docs/page", HTML)
    site.redirect("/moved", "/stub")
    site.page("/stub", '<meta http-equiv="refresh" content="0; url=/docs/page">')
    done = run_cli("convert", f"{site.url}/moved")
    assert (done.returncode, done.stderr) == (0, "")
    url = f"{site.url}/docs/"
    assert done.stdout == f'---\ntitle: "T"\nurl: "{url}page"\n---\n\n' + BODY.format(url)
    assert [seen.path for seen in site.requests] == ["/moved", "/stub", "/docs/page"]


def test_text_is_markdown_already(run_here: RunHere, site: Site, tmp_path: Path) -> None:
    """A Markdown page or file is printed as it is, without front matter, as a mirror would save it."""
    text = "# Title\n\n<b>*as is*</b>\n"
    site.page("/a.md", text, type="text/markdown")
    (tmp_path / "b.md").write_text(text, encoding="utf-8")
    assert run_here("convert", f"{site.url}/a.md").stdout == text
    assert run_here("convert", tmp_path / "b.md").stdout == text


@pytest.mark.parametrize(
    ("name", "content", "code", "message"),
    [
        ("missing.html", None, 2, "no such file: missing.html"),
        (".", None, 2, "is a folder"),
        ("image.html", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", 1, "image.html is not HTML but image/png"),
        ("page", b"\x00\x01\x02\x03 not text", 1, "page is not HTML but binary data"),
        ("sitemap.xml", b"<?xml version='1.0'?><urlset/>", 1, "sitemap.xml is not HTML but text/xml"),
        ("notes", b"no tags here, 1 < 2", 1, "notes is not HTML: there is no tag in it"),
        ("nothing", b" \n", 1, "nothing is empty"),
        ("nothing.html", b"", 1, "nothing.html is empty"),
        ("nothing.md", b"", 1, "nothing.md is empty"),
        ("data.json", b'{"a": "<b>hi</b>"}', 1, "data.json is not HTML but application/json"),
        ("program.py", b'print("<p>" if a<b else c)', 1, "program.py is not HTML but text/x-python"),
        ("drawing.svg", b"<svg><text>hi</text></svg>", 1, "drawing.svg is not HTML but image/svg+xml"),
        ("program.rs", b"let a: Vec<u8> = b;", 1, "program.rs is not HTML: it does not begin with a tag"),
    ],
)
def test_what_is_no_page(
    run_here: RunHere, tmp_path: Path, name: str, content: bytes | None, code: int, message: str
) -> None:
    """One line says why, another what to do, and stdout stays empty."""
    if content is not None:
        (tmp_path / name).write_bytes(content)
    done = run_here("convert", name, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (code, "")
    error, hint = done.stderr.splitlines()
    assert message in error
    assert hint.startswith("hint: ")


@pytest.mark.parametrize(
    "typed", ["docs.localhost/page", "docs.localhost/page.html", "127.0.0.1:9/a?b=c", "localhost:9"]
)
def test_an_address_without_its_scheme(run_here: RunHere, typed: str) -> None:
    """`mirror` would take it for https; here it could be a file, so the hint says what to type."""
    done = run_here("convert", typed)
    hint = f"hint: if it is the address of a page, give it as https://{typed}\n"
    assert (done.returncode, done.stderr) == (2, f"sitemirror: error: no such file: {typed}\n{hint}")


@pytest.mark.parametrize("name", ["page.html", "notes.md", "docs/page.html", "README", "../v1.2/page"])
def test_a_file_that_is_not_there(run_here: RunHere, name: str) -> None:
    """What looks like a file's name is taken for no host's."""
    assert run_here("convert", name).stderr.endswith("\nhint: the address of a page begins with https://\n")


@pytest.mark.parametrize("name", ["index.php", "index.php?id=3", "v1.2", "page.xml", "part.tmpl", "page.py"])
def test_pages_under_other_names(run_here: RunHere, tmp_path: Path, name: str) -> None:
    """What begins as HTML does is a page, whatever its file is called."""
    (tmp_path / name).write_bytes(b"\xef\xbb\xbf\n<!DOCTYPE html><html><p>Hello")
    done = run_here("convert", name, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "Hello\n")


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("gone", "cannot fetch {url}: HTTP 404"),
        ("file.pdf", "cannot convert {url}: content type application/pdf"),
        ("nothing", "cannot fetch {url}: HTTP 204: no content"),
        ("large", "cannot convert {url}: exceeds size limit"),
        ("inside", "cannot reach 169.254.169.254: address not allowed: 169.254.169.254"),
    ],
)
def test_urls_without_a_page(run_here: RunHere, site: Site, path: str, message: str) -> None:
    """Exit code 1 with the reason; a redirect cannot lead to an address that the user did not name."""
    site.page("/file.pdf", b"%PDF-1.7", type="application/pdf")
    site.page("/nothing", "", status=204)
    site.page("/large", "<p>" + "x" * 20_000)
    site.redirect("/inside", "http://169.254.169.254/latest/meta-data/")
    arguments = ("--max-file-size", "0.01") if path == "large" else ()
    done = run_here("convert", f"{site.url}/{path}", *arguments)
    assert (done.returncode, done.stdout) == (1, "")
    assert message.replace("{url}", f"{site.url}/{path}") in done.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("https://example.com/", "--url", "https://example.com/x"), "--url is for a page in a file"),
        (("file:///etc/hosts",), "is not a URL"),
        (("-", "--url", "ftp://example.com/"), "is not a URL"),
        (("-", "--url", "notaurl"), "'notaurl' is not a complete URL\nhint: give it as https://example.com/docs/page"),
        (("-", "--url", "docs/page.html"), "'docs/page.html' is not a complete URL"),
        (("-", "--url", ""), "'' is not a complete URL"),
        (("-", "--url", "https://u:p@example.com/"), "the URL carries credentials\nhint: leave them out"),
        (("x.html", "--concurrency", "3"), "no such option: --concurrency"),
    ],
)
def test_wrong_usage(run_here: RunHere, arguments: tuple[str, ...], message: str) -> None:
    """Exit code 2, and nothing is fetched or printed."""
    done = run_here("convert", *arguments, stdin="<p>x")
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr


def test_nothing_to_say_at_the_top(run_here: RunHere) -> None:
    """Without a title and an address there is no front matter: an empty block says nothing."""
    done = run_here("convert", "-", stdin="<p>Hello")
    assert (done.returncode, done.stdout, done.stderr) == (0, "Hello\n", "")


def test_an_empty_page_says_so(run_here: RunHere) -> None:
    """No text is no error, but is not passed over in silence either."""
    done = run_here("convert", "-", "--no-front-matter", stdin="<script>render()</script>")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "note: the page has no text\n")


async def test_the_library_converts_urls(site: Site) -> None:
    """`convert_url` gives the page that `convert_html` gives, and raises what the command says."""
    site.page("/docs/page", HTML)
    page = await sitemirror.convert_url(f"{site.url}/docs/page", content="full")
    assert page == sitemirror.convert_html(HTML, url=f"{site.url}/docs/page", content="full")
    assert (page.title, [link.url for link in page.links]) == ("T", [f"{site.url}/docs/more"])
    with pytest.raises(NoPage, match="HTTP 404"):
        await sitemirror.convert_url(f"{site.url}/docs/none")
    site.redirect("/loop", "/loop")
    with pytest.raises(NoPage, match="redirects more than 10 times"):
        await sitemirror.convert_url(f"{site.url}/loop", rate_limit=0)
    with pytest.raises(UsageError, match="is not a URL"):
        await sitemirror.convert_url("mailto:a@example.com")


def test_explain_shows_what_is_kept_and_cut(run_here: RunHere, file: Path) -> None:
    """Every block stands under the reason, and stderr has the sum."""
    done = run_here("convert", file, "--explain")
    assert (done.returncode, done.stderr) == (0, "2 of 3 blocks kept, 14 of 18 characters\n")
    assert done.stdout == "cut: navigation\n  - nav: menu\n\nkept: the page\n  + h1: Hello\n  + p: See more.\n"


def test_explain_and_conversion_agree(run_here: RunHere, tmp_path: Path) -> None:
    """What is said to be kept is in the Markdown, what is said to be cut is not; text is kept whole."""
    html = "<nav>menu</nav><main><h1>Title</h1><p>words</p><p hidden>secret</p></main><footer>imprint</footer>"
    shown = run_here("convert", "-", "--explain", "--quiet", stdin=html)
    text = run_here("convert", "-", "--no-front-matter", stdin=html).stdout
    kept = [line for line in shown.stdout.splitlines() if line.startswith("  + ")]
    cut = [line for line in shown.stdout.splitlines() if line.startswith("  - ")]
    assert shown.stderr == ""
    assert len(kept) == 2
    assert all(line.rpartition(": ")[2] in text for line in kept)
    assert len(cut) == 3
    assert not any(line.rpartition(": ")[2] in text for line in cut)
    (tmp_path / "a.md").write_text("# A\n\nb\n", encoding="utf-8")
    assert run_here("convert", tmp_path / "a.md", "--explain").stdout == (
        "kept: plain text is kept as it is\n  + text: # A b\n"
    )
