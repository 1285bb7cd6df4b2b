"""Hints of errors whose obvious cause is the wrong one."""

from __future__ import annotations

import asyncio
import os
import re
from pathlib import Path

import pytest

from sitemirror import crawl_sync, mirror
from sitemirror.errors import EmptySitemap, Unreachable
from sitemirror.run.where import locate
from sitemirror.settings import Settings
from tests.conftest import RunHere
from tests.crawl.conftest import link
from tests.run.conftest import Mirror
from tests.site import Site, faults


@pytest.mark.parametrize(
    ("listed", "options", "reason", "hint"),
    [
        ("https://elsewhere.example/{}", {}, "domain lock", "--no-domain-lock"),
        ("/page/{}", {"exclude_path": ["*"]}, "matched by --exclude-path", "--exclude-path"),
        (
            "/page/{}",
            {"include_path": ["/docs/*"]},
            "not matched by --include-path",
            "list` without --include-path",
        ),
        (
            "/page/{}",
            {"include_path": ["page/*"]},
            "not matched by --include-path",
            "globs match the whole path, e.g. /docs/*",
        ),
        ("/page/{}", {"start": "/docs/"}, "outside the start path /docs/", "--whole-site"),
    ],
)
async def test_sitemap_out_of_scope_names_the_option_that_excludes_it(
    site: Site, out: Path, listed: str, options: dict[str, object], reason: str, hint: str
) -> None:
    """The one that excluded most URLs, also where another option is set that excluded none."""
    site.sitemap(urls=[listed.format(number) for number in range(5)])
    site.html_page("/docs/", "Docs", "<p>docs</p>")
    start = str(options.pop("start", "/"))
    with pytest.raises(EmptySitemap, match=re.escape(f"({reason})")) as caught:
        await mirror(site.url + start, output=out, rate_limit=0, **options)  # type: ignore[arg-type]
    assert hint in (caught.value.hint or "")


async def test_sitemap_out_of_scope_with_saved_pages_is_an_error(site: Site, out: Path) -> None:
    """Pages saved by an earlier run do not hide what excludes them from this one."""
    site.sitemap(urls=site.fill(3))
    site.html_page("/docs/", "Docs", "<p>docs</p>")
    await mirror(site.url, output=out, rate_limit=0)
    with pytest.raises(EmptySitemap, match=re.escape("(outside the start path /docs/)")) as caught:
        await mirror(f"{site.url}/docs/", output=out, rate_limit=0)
    assert "--whole-site" in (caught.value.hint or "")


async def _answer_in_plain_text(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.read(100)
    writer.write(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
    writer.close()


async def test_http_server_at_an_https_url(out: Path) -> None:
    """The error does not blame a certificate."""
    async with await asyncio.start_server(_answer_in_plain_text, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        with pytest.raises(Unreachable) as caught:
            await mirror(f"https://127.0.0.1:{port}/", output=out, max_retries=0)
    assert "http://" in (caught.value.hint or "")


async def test_unknown_proxy_host_is_named(site: Site, out: Path) -> None:
    """The hint is about the proxy, not about the site's host."""
    with pytest.raises(Unreachable, match="proxy: no such host") as caught:
        await mirror(site.url, output=out, proxy="http://nowhere.invalid:3128", max_retries=0)
    assert "--proxy" in (caught.value.hint or "")


def test_where_explains_a_processed_url_without_a_file(site: Site, out: Path, run_here: RunHere) -> None:
    """A URL in `_processed.txt` is not requested again; `where` says why its file is missing."""
    site.sitemap(urls=site.fill(3))
    home = out / site.url.removeprefix("http://").replace(":", "_")
    home.mkdir(parents=True)
    home.joinpath("_processed.txt").write_text(f"{site.url}/page/0001\n", encoding="utf-8")
    done = run_here("mirror", site.url, "--rate-limit", 0, "--output", out)
    assert "1 URL in _processed.txt without a file here: taken as done" in done.stderr
    assert "found again" not in done.stderr


def test_where_predicts_paths_in_an_html_mirror(site: Site, out: Path) -> None:
    """A page that was not mirrored gets an HTML path, and a picture stays a picture."""
    site.html_page("/", "Home", link("/a"))
    site.html_page("/a", "A", "<p>a</p>")
    crawl_sync(site.url, output=out, rate_limit=0)
    home = out / site.url.removeprefix("http://").replace(":", "_")
    settings = Settings(output=out)
    assert locate(f"{site.url}/new", settings) == str(home / "new" / "index.html")
    assert locate(f"{site.url}/new.png", settings) == str(home / "new.png")
    assert locate(f"{site.url}/a", settings) == str(home / "a" / "index.html")


async def test_path_with_two_slashes_stays_on_its_host(site: Site, out: Path) -> None:
    """Alone, `//name` would be another host."""
    site.html_page("//guide/a", "A", "<h1>A</h1>")
    site.sitemap("//guide/sitemap.xml", urls=[f"{site.url}//guide/a"])
    report = await mirror(f"{site.url}//guide/", output=out, rate_limit=0)
    assert (report.successful, site.count("//guide/a")) == (1, 1)


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="no /proc")
def test_output_that_cannot_be_created_does_not_blame_the_disk(site: Site, run_here: RunHere) -> None:
    """The hint is to choose another --output."""
    done = run_here("mirror", site.url, "--rate-limit", 0, "--output", "/proc/x")
    assert done.json["error"] == "/proc/x cannot be the output folder: no folder can be made there"
    assert done.json["hint"] == "choose another --output"


@pytest.mark.parametrize("command", ["mirror", "crawl", "convert"])
def test_https_server_at_an_http_url(tls_site: Site, run_here: RunHere, command: str) -> None:
    """The hint is https://, not a longer timeout: such a server just hangs up."""
    done = run_here(command, tls_site.url.replace("https:", "http:"))
    assert done.returncode == 1
    assert done.stderr.endswith("hint: try again later; if it speaks https there, give the address with https://\n")


@pytest.mark.parametrize(
    ("secure", "hint"), [(False, "if it speaks https there, give the address with https://"), (True, "no web server")]
)
def test_server_that_speaks_no_http(site: Site, tls_site: Site, run_here: RunHere, secure: bool, hint: str) -> None:
    """The error says malformed response, and the hint fits the URL's scheme."""
    there = tls_site if secure else site
    there.fault("*", faults.garbage())
    done = run_here("mirror", there.url, *(("--ca-file", there.ca_file) if there.ca_file else ()))
    assert (done.returncode, done.json["status"]) == (1, "error")
    assert done.json["error"].startswith(f"cannot reach {there.url.partition('://')[2]}: malformed response")
    assert done.json["hint"].endswith(hint)


@pytest.mark.skipif(os.name == "nt", reason="making symlinks is a privilege there")
@pytest.mark.parametrize("output", ["link", "link/below"])
def test_dangling_symlink_is_named_as_such(site: Site, run_here: RunHere, tmp_path: Path, output: str) -> None:
    """A file that blocks the path would not be found there."""
    (tmp_path / "link").symlink_to("nowhere")
    done = run_here("mirror", site.url, "--rate-limit", 0, "--output", output)
    message = f"{output} cannot be the output folder: it is or lies under a symlink that leads nowhere"
    assert (done.returncode, done.json["error"]) == (1, message)


@pytest.mark.parametrize("name", ["_processed.txt", "_checkpoint.json", "_manifest.json"])
def test_blocking_file_is_named_with_the_output_folder(
    site: Site, run_here: RunHere, tmp_path: Path, name: str
) -> None:
    """The path works from the folder where the command was typed."""
    site.html_page("/a", "A", "<h1>A</h1>")
    site.sitemap()
    there = Path("some", "where", site.url.removeprefix("http://").replace(":", "_"), name)
    (tmp_path / there).mkdir(parents=True)
    done = run_here("mirror", site.url, "--rate-limit", 0, "--output", "some/where")
    assert (done.returncode, done.json["status"]) == (1, "error")
    assert f"cannot write {there}: something else is in its place" in done.stderr


@pytest.mark.parametrize(
    ("body", "what"),
    [
        ("<html><p>no", ": HTML page instead of a sitemap; its URLs are missing here, and the next run reads it again"),
        ("{start}<url>", "no element found; what follows is missing here, and the next run reads it again"),
        ("{start}<url></url></urlset>", ": 1 entry without a URL; all else in it was taken"),
        (
            "{start}</urlset><!--" + " " * 3000 + "-->",
            ": exceeds size limit; what follows is missing here: allow more with --max-sitemap-size",
        ),
    ],
)
async def test_broken_sitemap_warning_names_its_consequences(site: Site, out: Path, body: str, what: str) -> None:
    """The warning says what is missing because of it, and what to do."""
    good = f"{site.url}{site.fill(1)[0]}"
    start = f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>{good}</loc></url>'
    site.page("/broken.xml", body.format(start=start), type="application/xml")
    site.sitemap("/good.xml", [good])
    site.sitemap_index("/sitemap.xml", [f"{site.url}/good.xml", f"{site.url}/broken.xml"])
    report = await mirror(site.url, output=out, rate_limit=0, max_sitemap_size=0.002)
    (warning,) = report.warnings
    assert warning.startswith(f"sitemap {site.url}/broken.xml: ")
    assert warning.endswith(what)


async def test_failures_of_another_part_name_the_run_that_retries_them(site: Site, run: Mirror) -> None:
    """They are counted, but repeating a run for a part would not retry them."""
    site.html_page("/guide/a", "A", "<p>a</p>")
    site.sitemap(urls=["/missing", "/guide/a", "/guide/missing"])
    whole = await run(f"{site.url}/")
    assert (whole.failed, whole.failed_elsewhere, whole.warnings) == (2, None, ())
    site.clear_log()
    part = await run(f"{site.url}/guide/")
    assert (part.failed, part.failed_elsewhere) == (2, 1)
    assert part.warnings[-1] == f"1 failed page out of scope and not tried; a run for {site.url}/ does"
    assert (site.count("/missing"), site.count("/guide/missing")) == (0, 1)
    assert (await run(f"{site.url}/")).failed_elsewhere is None
    assert (site.count("/missing"), site.count("/guide/missing")) == (1, 2)
