"""Bad input: one line that says what is wrong, a hint that says what to do, exit code 1 or 2, and no traceback."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import Finished, RunHere
from tests.site import Site
from tests.spec.mirrored import FAST

both = pytest.mark.parametrize("command", ["list", "mirror"])


def _error(done: Finished, code: int) -> tuple[str, str]:
    """The error and the hint, after checking all that holds for any of them."""
    lines = done.stderr.splitlines()
    errors = [line for line in lines if line.startswith("sitemirror: error: ")]
    assert done.returncode == code, done.stderr
    assert len(errors) == 1, done.stderr
    assert lines[-2] == errors[0]
    assert lines[-1].startswith("hint: ")
    assert "Traceback" not in done.stderr
    assert "unexpected" not in done.stderr
    message, hint = errors[0].removeprefix("sitemirror: error: "), lines[-1].removeprefix("hint: ")
    assert message
    assert hint
    if code == 2:
        assert done.stdout == ""
    else:
        assert (done.json["status"], done.json["error"], done.json["hint"]) == ("error", message, hint)
    return message, hint


def _served(site: Site) -> Site:
    """A site with nothing wrong about it, so that only the thing under test can fail."""
    site.fill(1)
    site.sitemap()
    return site


@pytest.fixture
def closed_port() -> Iterator[int]:
    """A port that is taken, and on which nobody listens."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield taken.getsockname()[1]


@both
def test_no_such_host(run_here: RunHere, out: Path, command: str) -> None:
    """A host without an address: its name is in the error, and no folder is made for it."""
    # A label of 64 letters: no resolver can know it, and none is asked.
    host = "a" * 64 + ".example"
    message, hint = _error(run_here(command, f"http://{host}/", *FAST, "--output", out), 1)
    assert host in message
    assert "no such host" in message
    assert "spelling" in hint
    assert not out.exists()


@both
def test_refused_connection(run_here: RunHere, out: Path, closed_port: int, command: str) -> None:
    """Nobody listens there."""
    message, hint = _error(run_here(command, f"http://127.0.0.1:{closed_port}/", *FAST, "--output", out), 1)
    assert "connection refused" in message
    assert "port" in hint


@both
def test_tls_failure(run_here: RunHere, out: Path, tls_site: Site, command: str) -> None:
    """A certificate that nobody vouches for is not accepted; with --ca-file it is."""
    _served(tls_site)
    message, hint = _error(run_here(command, tls_site.url, *FAST, "--output", out), 1)
    assert "TLS" in message
    assert "--ca-file" in hint
    assert tls_site.requests == []

    assert tls_site.ca_file is not None
    done = run_here(command, tls_site.url, *FAST, "--output", out, "--ca-file", tls_site.ca_file)
    assert done.json["status"] == "ok"


by_sitemaps = pytest.mark.parametrize("command", [("list",), ("mirror", "--discover", "sitemap")])


@by_sitemaps
def test_no_sitemap(run_here: RunHere, out: Path, site: Site, command: tuple[str, ...]) -> None:
    """A site without a sitemap: where it was looked for, and what else can be given."""
    site.html_page("/", "Home", "<h1>Home</h1>")
    message, hint = _error(run_here(*command, site.url, *FAST, "--output", out), 1)
    assert "no sitemap" in message
    assert "/sitemap.xml" in message
    assert "sitemap" in hint
    assert site.count("/sitemap.xml") == 1


@by_sitemaps
def test_no_sitemap_but_a_web_page(run_here: RunHere, out: Path, site: Site, command: tuple[str, ...]) -> None:
    """A server that answers everything with its home page has no sitemap either."""
    for path in ("/", "/robots.txt", "/sitemap.xml", "/sitemap_index.xml", "/sitemap.txt", "/wp-sitemap.xml"):
        site.html_page(path, "Home", "<h1>Welcome</h1>")
    message, _ = _error(run_here(*command, site.url, *FAST, "--output", out), 1)
    assert "no sitemap" in message


@pytest.mark.parametrize(("command", "given"), [("list", "/sitemap.xml"), ("mirror", "/"), ("mirror", "/sitemap.xml")])
def test_empty_sitemap(run_here: RunHere, out: Path, site: Site, command: str, given: str) -> None:
    """A sitemap that lists nothing is named."""
    site.sitemap(urls=[])
    message, hint = _error(run_here(command, site.url + given, *FAST, "--output", out), 1)
    assert f"{site.url}/sitemap.xml lists no URL" in message
    assert "sitemap" in hint


@pytest.mark.parametrize(
    ("command", "text"),
    [
        ("mirror", "ftp://example.com/"),
        ("list", "http://"),
        ("mirror", "http://exa mple.com/"),
        ("list", "mailto:a@b.c"),
        ("mirror", "http://[1::"),
        ("list", "http://x:99999/"),
        ("mirror", ""),
    ],
)
def test_not_a_url(run_here: RunHere, command: str, text: str) -> None:
    """What cannot be fetched over the web is wrong usage: exit code 2 and nothing on stdout."""
    message, _ = _error(run_here(command, text), 2)
    assert "URL" in message


@both
def test_unwritable_output(run_here: RunHere, tmp_path: Path, site: Site, command: str) -> None:
    """An output folder that cannot be written to, whoever runs it."""
    _served(site)
    out = tmp_path / "read-only" / "out"
    out.parent.mkdir(mode=0o500)
    if os.access(out.parent, os.W_OK):  # root may do anything, except in a folder that the kernel makes up
        out = Path("/proc/sitemirror")
        if not out.parent.is_dir():
            pytest.skip("root, and no folder that root cannot write to")
    message, hint = _error(run_here(command, site.url, *FAST, "--output", out), 1)
    assert str(out) in message
    assert "--output" in hint
    assert not any(path.startswith("/page") for path in site.paths())


@pytest.mark.parametrize(("command", "below"), [("list", "."), ("mirror", "."), ("mirror", "deeper/down")])
def test_output_that_is_a_file(run_here: RunHere, tmp_path: Path, site: Site, command: str, below: str) -> None:
    """A file where the output folder should be is named and left alone."""
    _served(site)
    file = tmp_path / "taken"
    file.write_text("mine", encoding="utf-8")
    message, hint = _error(run_here(command, site.url, *FAST, "--output", file / below), 1)
    assert "taken" in message
    assert "file" in message
    assert "--output" in hint
    assert file.read_text(encoding="utf-8") == "mine"


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (("--on-error", "explode"), ("--on-error", "skip, retry, abort", "explode")),
        (("--content", "some"), ("--content", "auto, main, full", "some")),
        (("--concurrency", "many"), ("--concurrency", "many")),
        (("--rate-limit", "-1"), ("--rate-limit", "-1")),
        (("--content-rate-limit", "-0.5"), ("--content-rate-limit", "-0.5")),
        (("--rate-limit", "nan"), ("--rate-limit", "nan")),
        (("--max-pages", "-3"), ("--max-pages", "-3")),
        (("--no-such-option",), ("--no-such-option",)),
    ],
    ids=lambda value: " ".join(value),
)
def test_unknown_option_value_and_negative_rate(
    run_here: RunHere, site: Site, out: Path, options: tuple[str, ...], named: tuple[str, ...]
) -> None:
    """An unknown value or a negative rate: the option, the value and what may stand there; nobody is asked anything."""
    message, hint = _error(run_here("mirror", _served(site).url, "--output", out, *options), 2)
    for words in named:
        assert words in message
    assert "sitemirror mirror --help" in hint
    assert site.connections == 0
    assert not out.exists()
