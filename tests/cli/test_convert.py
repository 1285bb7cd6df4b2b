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


def test_file_is_converted(run_cli: RunCli, file: Path) -> None:
    """Front matter and Markdown on stdout, nothing on stderr or disk; relative links are unchanged."""
    before = {path.name for path in file.parent.iterdir()}
    done = run_cli("convert", file)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == '---\ntitle: "T"\n---\n\n' + BODY.format("")
    assert {path.name for path in file.parent.iterdir()} == before


def test_url_option_makes_links_absolute(run_here: RunHere, file: Path) -> None:
    """Relative links are resolved against `--url`."""
    done = run_here("convert", file, "--url", "https://example.com/docs/", "--no-front-matter")
    assert (done.returncode, done.stdout) == (0, BODY.format("https://example.com/docs/"))


def test_stdin_is_converted(run_cli: RunCli) -> None:
    """`-` reads the page from stdin."""
    done = run_cli("convert", "-", "--url=https://example.com/", "--no-front-matter", "--content", "full", stdin=HTML)
    assert (done.returncode, done.stdout) == (0, BODY.format("https://example.com/"))


def test_url_is_converted(run_cli: RunCli, site: Site) -> None:
    """A given private address is requested once; its redirects and refreshes are followed."""
    site.page("/docs/page", HTML)
    site.redirect("/moved", "/stub")
    site.page("/stub", '<meta http-equiv="refresh" content="0; url=/docs/page">')
    done = run_cli("convert", f"{site.url}/moved")
    assert (done.returncode, done.stderr) == (0, "")
    url = f"{site.url}/docs/"
    assert done.stdout == f'---\ntitle: "T"\nurl: "{url}page"\n---\n\n' + BODY.format(url)
    assert [seen.path for seen in site.requests] == ["/moved", "/stub", "/docs/page"]


def test_text_files_are_printed_unchanged(run_here: RunHere, site: Site, tmp_path: Path) -> None:
    """Without front matter, as a mirror would save them."""
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
def test_other_files_are_refused(
    run_here: RunHere, tmp_path: Path, name: str, content: bytes | None, code: int, message: str
) -> None:
    """A reason and a hint on stderr, nothing on stdout."""
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
def test_url_without_scheme_gets_a_hint(run_here: RunHere, typed: str) -> None:
    """It could be a file name, so the hint shows the full URL."""
    done = run_here("convert", typed)
    hint = f"hint: if it is the address of a page, give it as https://{typed}\n"
    assert (done.returncode, done.stderr) == (2, f"sitemirror: error: no such file: {typed}\n{hint}")


@pytest.mark.parametrize("name", ["page.html", "notes.md", "docs/page.html", "README", "../v1.2/page"])
def test_missing_file_is_not_taken_for_a_host(run_here: RunHere, name: str) -> None:
    """The message names the file."""
    assert run_here("convert", name).stderr.endswith("\nhint: the address of a page begins with https://\n")


@pytest.mark.parametrize("name", ["index.php", "index.php?id=3", "v1.2", "page.xml", "part.tmpl", "page.py"])
def test_html_under_any_name_is_converted(run_here: RunHere, tmp_path: Path, name: str) -> None:
    """Content that begins like HTML is a page, whatever the file name."""
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
def test_url_without_page_exits_1(run_here: RunHere, site: Site, path: str, message: str) -> None:
    """The message has the reason; redirects to private addresses are refused."""
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
def test_wrong_usage_exits_2(run_here: RunHere, arguments: tuple[str, ...], message: str) -> None:
    """Nothing is fetched or printed to stdout."""
    done = run_here("convert", *arguments, stdin="<p>x")
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr


def test_empty_front_matter_is_omitted(run_here: RunHere) -> None:
    """Without title and URL there is no front matter."""
    done = run_here("convert", "-", stdin="<p>Hello")
    assert (done.returncode, done.stdout, done.stderr) == (0, "Hello\n", "")


def test_empty_page_gives_a_note(run_here: RunHere) -> None:
    """A page without text is not an error."""
    done = run_here("convert", "-", "--no-front-matter", stdin="<script>render()</script>")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "note: the page has no text\n")


async def test_library_converts_urls(site: Site) -> None:
    """`convert_url` gives the same page as `convert_html` and raises the command's errors."""
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


def test_explain_lists_blocks_by_reason(run_here: RunHere, file: Path) -> None:
    """Each block is under its reason, and the totals are on stderr."""
    done = run_here("convert", file, "--explain")
    assert (done.returncode, done.stderr) == (0, "2 of 3 blocks kept, 14 of 18 characters\n")
    assert done.stdout == "cut: navigation\n  - nav: menu\n\nkept: the page\n  + h1: Hello\n  + p: See more.\n"


def test_explain_and_conversion_agree(run_here: RunHere, tmp_path: Path) -> None:
    """Blocks listed as kept are in the Markdown, the others are not."""
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
