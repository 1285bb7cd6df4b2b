"""A crawl that cannot begin says why in one line, and leaves nothing behind."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import RunHere
from tests.site import Site, faults
from tests.site.wire import Exchange


def _refused(site: Site, run_here: RunHere, out: Path, url: str, *options: str) -> str:
    """What the program says on stderr, once it has failed as it should."""
    finished = run_here("crawl", url, "--output", out, "--rate-limit", 0, "--max-retries", 0, *options)
    assert finished.returncode == 1
    assert finished.json["status"] == "error"
    assert finished.json["command"] == "crawl"
    assert finished.json["hint"]
    errors = [line for line in finished.stderr.splitlines() if finished.json["error"] in line]
    assert len(errors) == 1, finished.stderr
    assert "Traceback" not in finished.stderr
    return str(finished.json["error"])


def test_start_that_is_not_html_is_refused(site: Site, run_here: RunHere, out: Path) -> None:
    """A picture is no start page."""
    site.page("/logo.png", b"\x89PNG", type="image/png")
    error = _refused(site, run_here, out, f"{site.url}/logo.png")
    assert "not HTML" in error
    assert "image/png" in error
    assert not out.exists()


@pytest.mark.parametrize("format", ["html", "markdown", "both"])
@pytest.mark.parametrize("type", ["text/html", ""])
def test_picture_sent_as_html_is_refused(site: Site, run_here: RunHere, out: Path, type: str, format: str) -> None:
    """It is recognised only when it is fetched; nothing is saved, and nothing is reported as saved."""
    site.page("/", b"\x89PNG\r\n\x1a\n" + bytes(200), type=type)
    error = _refused(site, run_here, out, site.url, "--format", format)
    assert error == f"the start page {site.url}/ is not HTML but image/png"
    assert not [path for path in out.rglob("*") if path.is_file() and not path.name.startswith(("_", "mirror-index"))]


@pytest.mark.parametrize(
    ("command", "hint"),
    [
        (("mirror", "--discover", "links"), "leave out `--discover links`"),
        (("crawl",), "with `--discover sitemap`"),
        (("crawl", "--discover", "links"), "with `--discover sitemap`"),
    ],
)
def test_sitemap_as_start_page_gives_a_hint(
    site: Site, run_here: RunHere, out: Path, command: tuple[str, ...], hint: str
) -> None:
    """The hint is the command that was typed, changed to read the sitemap."""
    site.fill(2)
    site.sitemap()
    refused = run_here(*command, f"{site.url}/sitemap.xml", "--output", out, "--rate-limit", 0)
    assert refused.returncode == 1
    assert "is not HTML but application/xml" in refused.json["error"]
    assert hint in refused.json["hint"]
    as_told = ("--discover", "sitemap") if command[0] == "crawl" else ()
    again = run_here(command[0], f"{site.url}/sitemap.xml", "--output", out, "--rate-limit", 0, *as_told)
    assert again.json["successful"] == 2


def test_start_redirecting_to_another_domain_is_refused(site: Site, run_here: RunHere, out: Path) -> None:
    """The redirect is not followed; the error names its target."""
    with Site() as other:
        elsewhere = other.url_of("other.localhost") + "/"
        site.redirect("/", elsewhere)
        error = _refused(site, run_here, out, site.url)
    assert elsewhere in error
    assert "another site" in error
    assert not out.exists()


def test_disallowed_start_page_is_not_requested(site: Site, run_here: RunHere, out: Path) -> None:
    """A start page that robots.txt disallows is not requested at all."""
    site.robots("User-agent: *\nDisallow: /private\n")
    site.html_page("/private/", "P", "<p>p</p>")
    error = _refused(site, run_here, out, f"{site.url}/private/")
    assert "disallowed by robots.txt" in error
    assert site.paths() == ["/robots.txt"]
    assert not out.exists()


def test_disallowed_redirect_target_of_the_start_is_refused(site: Site, run_here: RunHere, out: Path) -> None:
    """robots.txt applies behind a redirect as well."""
    site.robots("User-agent: *\nDisallow: /private\n")
    site.redirect("/", "/private")
    site.html_page("/private", "P", "<p>p</p>")
    assert "disallowed by robots.txt" in _refused(site, run_here, out, site.url)


def test_failing_robots_txt_ends_the_crawl(site: Site, run_here: RunHere, out: Path) -> None:
    """A server that fails to send its rules is left alone until it can."""
    site.fault("/robots.txt", faults.status(500))
    site.html_page("/", "Home", "<p>home</p>")
    error = _refused(site, run_here, out, site.url)
    assert "robots.txt" in error
    assert "HTTP 500" in error
    assert set(site.paths()) == {"/robots.txt"}


@pytest.mark.parametrize("fault", [faults.partial(), faults.chunked_cut(), faults.stall(), faults.reset_in_body()])
def test_truncated_robots_txt_ends_the_crawl(site: Site, run_here: RunHere, out: Path, fault: faults.Step) -> None:
    """The missing part may disallow anything. The next run requests it again."""
    site.robots("User-agent: *\nDisallow: /a/\nDisallow: /b/\n# far away\nDisallow: /private/\n")
    site.html_page("/", "Home", '<a href="/private/">P</a>')
    site.html_page("/private/", "P", "<p>p</p>")
    site.fault("/robots.txt", fault)
    error = _refused(site, run_here, out, site.url, "--timeout", "1")
    assert "robots.txt" in error
    assert "HTTP 200: " in error
    assert set(site.paths()) == {"/robots.txt"}
    site.heal("/robots.txt")
    assert run_here("crawl", site.url, "--output", out, "--rate-limit", 0).json["successful"] == 1
    assert "/private/" not in site.paths()


@pytest.mark.parametrize("status", [404, 403, 500])
def test_missing_start_page_reports_the_status(site: Site, run_here: RunHere, out: Path, status: int) -> None:
    """The error has the server's status."""
    site.page("/", "no", status=status)
    error = _refused(site, run_here, out, site.url)
    assert f"HTTP {status}" in error
    assert not out.exists()


@pytest.mark.parametrize("status", [404, 405, 410])
def test_404_to_head_is_checked_with_get(site: Site, run_here: RunHere, out: Path, status: int) -> None:
    """Some servers answer HEAD with 404: the page is requested all the same."""
    site.html_page("/", "Home", '<a href="/a">A</a>')
    site.html_page("/a", "A", "<p>a</p>")
    site.fault("/", faults.status(status), faults.ok())
    finished = run_here("crawl", site.url, "--output", out, "--rate-limit", 0)
    assert (finished.json["status"], finished.json["successful"]) == ("ok", 2)
    assert [request.method for request in site.requests_for("/")] == ["HEAD", "GET"]


@pytest.mark.parametrize("type", ["text/plain", "application/octet-stream", "application/json", "application/xml"])
def test_media_type_of_head_is_not_trusted(site: Site, run_here: RunHere, out: Path, type: str) -> None:
    """The page's own response counts: HEAD may have the type of an empty body."""
    site.html_page("/", "Home", '<a href="/a">A</a>')
    site.html_page("/a", "A", "<p>a</p>")
    site.fault("/", faults.status(200, headers={"Content-Type": type}), faults.ok())
    finished = run_here("crawl", site.url, "--output", out, "--rate-limit", 0)
    assert (finished.json["status"], finished.json["successful"]) == ("ok", 2)
    assert [request.method for request in site.requests_for("/")] == ["HEAD", "GET"]


@pytest.mark.parametrize("command", ["crawl", "mirror"])
def test_redirect_loop_of_head_is_checked_with_get(site: Site, run_here: RunHere, out: Path, command: str) -> None:
    """A redirect to itself counts only if GET is answered with it."""
    site.html_page("/", "Home", "<p>home</p>")
    site.sitemap()

    async def circle(exchange: Exchange) -> None:
        await (faults.redirect_to("/") if exchange.seen.method == "HEAD" else faults.ok())(exchange)

    site.fault("/", circle)
    finished = run_here(command, site.url, "--output", out, "--rate-limit", 0)
    assert (finished.json["status"], finished.json["successful"]) == ("ok", 1)


def test_sitemap_that_head_does_not_reveal_is_read(site: Site, run_here: RunHere, out: Path) -> None:
    """A start URL that turns out to be a sitemap is read as one."""
    site.html_page("/a", "A", "<p>a</p>")
    listing = f"<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'><url><loc>{site.url}/a</loc></url></urlset>"
    site.page("/list.php", listing, type="application/xml")
    site.fault("/list.php", faults.status(200), faults.ok())
    finished = run_here("mirror", f"{site.url}/list.php", "--output", out, "--rate-limit", 0)
    assert (finished.json["status"], finished.json["successful"]) == ("ok", 1)


@pytest.mark.parametrize("command", ["crawl", "mirror", "convert"])
@pytest.mark.parametrize("status", [401, 403])
def test_401_hints_at_the_login_options(site: Site, run_here: RunHere, command: str, status: int) -> None:
    """Neither another URL nor another command would help."""
    site.fault("*", faults.status(status))
    options = () if command == "convert" else ("--rate-limit", 0)
    refused = run_here(command, f"{site.url}/", *options)
    assert refused.returncode == 1
    assert "--basic-auth" in refused.stderr


def test_dead_port_is_reported_as_such(site: Site, run_here: RunHere, out: Path) -> None:
    """The error is not about robots.txt."""
    site.stop()
    error = _refused(site, run_here, out, site.url)
    assert f"cannot reach 127.0.0.1:{site.port}: " in error
    assert "refused" in error
