"""The faults of the test site: each does to a client what its name says."""

from __future__ import annotations

import http.client
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.site import Site, faults
from tests.site.asking import ask, ask_for_all, body_of, length_of, raw_answer


def test_steps_play_in_order_and_the_last_repeats(site: Site) -> None:
    """One step per request to the path; other paths are left alone; healing ends it."""
    site.page("/a", "fine")
    site.page("/b", "fine")
    site.fault("/a", faults.status(503, retry_after="7"), faults.ok(), faults.status(404))
    status, _, headers = ask_for_all(site, "/a")
    assert (status, headers["Retry-After"]) == (503, "7")
    assert ask(site, "/b") == (200, b"fine")
    assert [ask(site, "/a")[0] for _ in range(3)] == [200, 404, 404]
    site.heal("/a")
    assert ask(site, "/a") == (200, b"fine")
    assert [seen.status for seen in site.requests_for("/a")] == [503, 200, 404, 404, 200]


def test_a_fault_for_every_path(site: Site) -> None:
    """A storm hits whatever is asked for first, except paths with a fault of their own."""
    site.fill(3)
    site.fault("*", faults.status(429), faults.ok())
    site.fault("/own", faults.status(500))
    answers = [ask(site, path)[0] for path in ("/own", "/page/0001", "/page/0002")]
    assert answers == [500, 429, 200]


def test_a_fault_needs_no_page_but_needs_a_step(site: Site) -> None:
    """A fault on an empty path spoils a plain page made for it."""
    site.fault("/new", faults.ok())
    assert ask(site, "/new")[0] == 200
    with pytest.raises(ValueError, match="at least one step"):
        site.fault("/new")


def test_redirect_to(site: Site) -> None:
    """A step can be a redirect, so a path can redirect once and answer later."""
    site.fault("/a", faults.redirect_to("/b", 307), faults.ok())
    status, _, headers = ask_for_all(site, "/a")
    assert (status, headers["Location"]) == (307, "/b")
    assert ask(site, "/a")[0] == 200


def test_slow(site: Site) -> None:
    """Nothing for the given time, then the answer, or the step that was given."""
    site.fault("/a", faults.slow(0.2), faults.slow(0.1, faults.status(502)))
    began = time.monotonic()
    assert ask(site, "/a")[0] == 200
    assert time.monotonic() - began >= 0.2
    assert ask(site, "/a")[0] == 502


def test_held(site: Site) -> None:
    """The answer waits for the test to open the gate."""
    gate = threading.Event()
    site.fault("/a", faults.held(gate))
    with ThreadPoolExecutor(1) as pool:
        answer = pool.submit(ask, site, "/a")
        site.wait_for(1)
        time.sleep(0.05)
        assert not answer.done()
        gate.set()
        assert answer.result(5)[0] == 200


@pytest.mark.slow
def test_drip(site: Site) -> None:
    """The whole body arrives, in many small pieces, at the given speed."""
    site.page("/a", "x" * 400)
    site.fault("/a", faults.drip(2000))
    began = time.monotonic()
    assert ask(site, "/a") == (200, b"x" * 400)
    assert 0.15 <= time.monotonic() - began < 2


def test_stall_and_silence(site: Site) -> None:
    """Half a body or nothing at all, on a connection that stays open."""
    site.page("/half", "x" * 100)
    site.fault("/half", faults.stall())
    site.fault("/none", faults.silence())
    answer, end = raw_answer(site, "/half", seconds=0.2)
    assert (length_of(answer), body_of(answer), end) == (100, b"x" * 50, "silent")
    assert raw_answer(site, "/none", seconds=0.1) == (b"", "silent")


def test_drop_and_reset(site: Site) -> None:
    """The connection ends before any answer: politely, or not."""
    site.fault("/drop", faults.drop())
    site.fault("/reset", faults.reset())
    assert raw_answer(site, "/drop") == (b"", "closed")
    assert raw_answer(site, "/reset") == (b"", "reset")
    assert [seen.status for seen in site.requests] == [None, None]


def test_reset_in_body(site: Site) -> None:
    """The connection is torn down after half of what was promised."""
    site.page("/a", "x" * 100)
    site.fault("/a", faults.reset_in_body())
    answer, end = raw_answer(site, "/a")
    assert (length_of(answer), body_of(answer), end) == (100, b"x" * 50, "reset")


def test_close_after_and_hang_up(site: Site) -> None:
    """Both answer and close; only one of them says so."""
    site.page("/a", "fine")
    site.fault("/a", faults.close_after(), faults.hang_up())
    said, end = raw_answer(site, "/a")
    assert (body_of(said), b"Connection: close" in said, end) == (b"fine", True, "closed")
    unsaid, end = raw_answer(site, "/a")
    assert (body_of(unsaid), b"Connection" in unsaid, end) == (b"fine", False, "closed")


def test_partial_and_wrong_length(site: Site) -> None:
    """The length and the body disagree, in both ways and by cutting."""
    site.page("/a", "x" * 100)
    site.fault("/a", faults.partial(), faults.wrong_length(-10), faults.wrong_length(10))
    answers = [raw_answer(site, "/a") for _ in range(3)]
    assert [(length_of(answer), len(body_of(answer)), end) for answer, end in answers] == [
        (100, 50, "closed"),
        (90, 100, "closed"),
        (110, 100, "closed"),
    ]


def test_no_length_and_chunks(site: Site) -> None:
    """Both are good HTTP, and a client reads the whole page."""
    site.page("/a", "x" * 2500)
    site.fault("/a", faults.no_length(), faults.chunked(1000))
    for _ in range(2):
        status, body, headers = ask_for_all(site, "/a")
        assert (status, body, headers["Content-Length"]) == (200, b"x" * 2500, None)


def test_chunks_cut_and_broken(site: Site) -> None:
    """Chunked bodies without an end, or with a size that is none, are errors for a client."""
    site.fault("/a", faults.chunked_cut(), faults.chunked_broken())
    for _ in range(2):
        with pytest.raises(http.client.HTTPException):
            ask(site, "/a")


def test_chunked_forever(site: Site) -> None:
    """There is always more."""
    site.fault("/a", faults.chunked_forever())
    assert raw_answer(site, "/a", limit=3 << 20)[1] == "full"


def test_huge_bodies(site: Site) -> None:
    """As many bytes as asked for, announced or not."""
    site.fault("/a", faults.huge(300_000), faults.huge_unannounced(300_000))
    _, announced, headers = ask_for_all(site, "/a")
    assert (len(announced), headers["Content-Length"]) == (300_000, "300000")
    _, unannounced, headers = ask_for_all(site, "/a")
    assert (len(unannounced), headers["Content-Length"]) == (300_000, None)


@pytest.mark.parametrize("encoding", ["gzip", "br", "zstd", "deflate"])
def test_bomb(site: Site, encoding: str) -> None:
    """A little goes a long way."""
    site.fault("/a", faults.bomb(1_000_000, encoding))
    _, body, headers = ask_for_all(site, "/a")
    assert headers["Content-Encoding"] == encoding
    assert len(body) < 5_000


def test_bad_encoding(site: Site) -> None:
    """The header claims gzip, the body is not."""
    site.page("/a", "plain")
    site.fault("/a", faults.bad_encoding())
    _, body, headers = ask_for_all(site, "/a")
    assert (body, headers["Content-Encoding"]) == (b"plain", "gzip")


def test_headers_without_end_and_headers_too_long(site: Site) -> None:
    """A client has to stop reading headers at some point."""
    site.fault("/endless", faults.endless_headers())
    site.fault("/long", faults.huge_header())
    for path in ("/endless", "/long"):
        with pytest.raises(http.client.HTTPException):
            ask(site, path)


def test_early_hints(site: Site) -> None:
    """An interim answer comes before the real one."""
    site.page("/a", "real")
    site.fault("/a", faults.early_hints())
    answer, _ = raw_answer(site, "/a", seconds=0.1)
    assert answer.startswith(b"HTTP/1.1 103 ")
    assert answer.endswith(b"\r\n\r\nreal")


def test_garbage_and_raw_bytes(site: Site) -> None:
    """Exactly the given bytes, HTTP or not."""
    site.fault("/garbage", faults.garbage())
    site.fault("/raw", faults.raw(b"HTTP/1.1 200\r\n\r\nhi"))
    with pytest.raises(http.client.BadStatusLine):
        ask(site, "/garbage")
    assert raw_answer(site, "/raw") == (b"HTTP/1.1 200\r\n\r\nhi", "closed")
