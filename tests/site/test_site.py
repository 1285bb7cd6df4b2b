"""The test site itself: if it lies, every other test does."""

from __future__ import annotations

import gzip
import http.client
import socket
import ssl
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import UTC, datetime

import pytest

from tests.site import Site, faults
from tests.site.answers import DECODERS
from tests.site.asking import ask, ask_for_all, raw_answer

# --- pages


def test_a_page_is_served_with_its_type_length_and_bytes(site: Site) -> None:
    """What was put at a path comes back, with the right headers."""
    url = site.page("/a", "<p>žluťoučký</p>", headers={"X-Extra": "1"})
    status, body, headers = ask_for_all(site, "/a")
    assert url == f"{site.url}/a"
    assert (status, body) == (200, "<p>žluťoučký</p>".encode())
    assert headers["Content-Type"] == "text/html; charset=utf-8"
    assert headers["Content-Length"] == str(len(body))
    assert headers["X-Extra"] == "1"
    assert headers["Date"].endswith("GMT")


def test_unknown_paths_and_methods_are_refused(site: Site) -> None:
    """404 for what is not there, 405 for what only a careless client would send."""
    assert ask(site, "/nowhere")[0] == 404
    site.page("/a", "x")
    assert ask(site, "/a", method="POST")[0] == 405
    site.remove("/a")
    assert ask(site, "/a")[0] == 404


def test_text_is_encoded_as_the_type_says(site: Site) -> None:
    """A charset in the type is the charset of the bytes; no type means no header."""
    site.page("/latin", "é", type="text/html; charset=iso-8859-1")
    site.page("/untyped", b"\xff", type=None)
    assert ask(site, "/latin")[1] == b"\xe9"
    _, body, headers = ask_for_all(site, "/untyped")
    assert body == b"\xff"
    assert headers["Content-Type"] is None


def test_non_ascii_paths_are_kept_percent_encoded(site: Site) -> None:
    """A path may be written as a person writes it and is served as a client asks for it."""
    site.page("/příručka?q=č š", "found")
    assert ask(site, "/p%C5%99%C3%ADru%C4%8Dka?q=%C4%8D%20%C5%A1") == (200, b"found")
    assert site.count("/příručka?q=č š") == 1


def test_the_query_is_part_of_the_path(site: Site) -> None:
    """Pages that differ in the query are different pages."""
    site.page("/s?p=1", "one")
    site.page("/s?p=2", "two")
    assert [ask(site, f"/s{query}") for query in ("?p=1", "?p=2")] == [(200, b"one"), (200, b"two")]
    assert ask(site, "/s")[0] == 404


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "br", "zstd"])
def test_bodies_are_compressed_on_demand(site: Site, encoding: str) -> None:
    """Every encoding a browser accepts decodes to the page's own bytes."""
    site.page("/a", "hello " * 100, encoding=encoding)
    _, body, headers = ask_for_all(site, "/a")
    assert headers["Content-Encoding"] == encoding
    assert len(body) < 600
    assert DECODERS[encoding](body) == b"hello " * 100


def test_head_has_the_headers_and_no_body(site: Site) -> None:
    """HEAD says how long the page is without sending it, and the connection stays usable."""
    site.page("/a", "12345")
    with closing(http.client.HTTPConnection(site.address, site.port, timeout=5)) as connection:
        for method, body in (("HEAD", b""), ("GET", b"12345")):
            connection.request(method, "/a")
            answer = connection.getresponse()
            assert (answer.headers["Content-Length"], answer.read()) == ("5", body)
    assert site.connections == 1


def test_a_page_exists_under_its_host_only(site: Site) -> None:
    """Virtual hosts keep their pages apart; a page without a host is everywhere."""
    site.page("/a", "docs", host="docs.localhost")
    site.page("/b", "all")
    assert ask(site, "/a", host=f"Docs.localhost:{site.port}") == (200, b"docs")
    assert ask(site, "/a")[0] == 404
    assert ask(site, "/b", host="other.localhost") == (200, b"all")
    assert [seen.host for seen in site.requests] == ["docs.localhost", "127.0.0.1", "other.localhost"]


def test_a_request_that_names_the_whole_url_is_understood(site: Site) -> None:
    """The site can stand in for a proxy."""
    site.page("/a", "by proxy", host="far.example")
    assert ask(site, "http://far.example/a") == (200, b"by proxy")


@pytest.mark.parametrize("request_bytes", [b"nonsense\r\n\r\n", b"GET / HTTP/9\r\n\r\n", b"GET /" + b"x" * 100_000])
def test_a_client_that_talks_nonsense_gets_400(site: Site, request_bytes: bytes) -> None:
    """The site survives bad requests and says so."""
    with socket.create_connection((site.address, site.port), timeout=5) as connection:
        connection.sendall(request_bytes)
        assert connection.recv(100).startswith(b"HTTP/1.1 400 ")
    site.page("/a", "x")
    assert ask(site, "/a")[0] == 200


# --- conditional requests


def test_a_matching_etag_answers_304(site: Site) -> None:
    """If-None-Match wins: 304 for the held version, weak or listed among others, 200 for another."""
    site.page("/a", "body", etag="v2", last_modified="Mon, 01 Jan 2024 00:00:00 GMT")
    status, body, headers = ask_for_all(site, "/a", If_None_Match='"v1", W/"v2"')
    assert (status, body, headers["ETag"]) == (304, b"", '"v2"')
    late = "Mon, 01 Jan 2034 00:00:00 GMT"
    assert ask(site, "/a", If_None_Match='"v1"', If_Modified_Since=late) == (200, b"body")


def test_a_page_not_modified_since_answers_304(site: Site) -> None:
    """If-Modified-Since compares dates, to the second."""
    site.page("/a", "body", last_modified=datetime(2024, 5, 1, 12, 0, 0, tzinfo=UTC))
    assert ask(site, "/a", If_Modified_Since="Wed, 01 May 2024 12:00:00 GMT")[0] == 304
    assert ask(site, "/a", If_Modified_Since="Wed, 01 May 2024 11:59:59 GMT")[0] == 200
    assert ask(site, "/a", If_Modified_Since="yesterday")[0] == 200


def test_a_page_without_validators_never_answers_304(site: Site) -> None:
    """A client that makes a validator up gets the page."""
    site.page("/a", "body")
    assert ask(site, "/a", If_None_Match="*", If_Modified_Since="Wed, 01 May 2054 12:00:00 GMT")[0] == 200


# --- sitemaps, robots, redirects


def test_a_sitemap_lists_what_it_is_given(site: Site) -> None:
    """Relative paths become absolute, foreign URLs stay, special characters are escaped."""
    site.sitemap("/map.xml", ["/a?x=1&y=2", ("/b", "2024-01-02"), "https://other.example/c"])
    _, body = ask(site, "/map.xml")
    assert f"<loc>{site.url}/a?x=1&amp;y=2</loc></url>".encode() in body
    assert f"<loc>{site.url}/b</loc><lastmod>2024-01-02</lastmod>".encode() in body
    assert b"<loc>https://other.example/c</loc>" in body


def test_a_sitemap_without_a_list_lists_the_site_as_it_is(site: Site) -> None:
    """Pages added later are in it; redirects, missing pages and other types are not."""
    site.sitemap()
    site.page("/a", "x", lastmod="2024-01-02")
    site.page("/gone", "x", status=410)
    site.page("/data.json", "{}", type="application/json")
    site.redirect("/old", "/a")
    site.page("/elsewhere", "x", host="docs.localhost")
    _, body = ask(site, "/sitemap.xml")
    assert body.count(b"<loc>") == 1
    assert f"<loc>{site.url}/a</loc><lastmod>2024-01-02</lastmod>".encode() in body


def test_sitemaps_come_as_indexes_gzip_files_and_per_host(site: Site) -> None:
    """An index names its children; a .gz path is a gzip file; a host's sitemap names that host."""
    site.sitemap_index("/index.xml", ["/one.xml.gz", ("/two.xml", "2024-01-02")])
    site.sitemap("/one.xml.gz", ["/a"])
    site.sitemap("/two.xml", ["/b"], host="docs.localhost")
    assert f"<sitemap><loc>{site.url}/one.xml.gz</loc></sitemap>".encode() in ask(site, "/index.xml")[1]
    assert f"<loc>{site.url}/a</loc>".encode() in gzip.decompress(ask(site, "/one.xml.gz")[1])
    assert f"<loc>http://docs.localhost:{site.port}/b</loc>".encode() in ask(site, "/two.xml", host="docs.localhost")[1]


def test_robots_and_redirects(site: Site) -> None:
    """There is no robots.txt until one is given; a redirect sends its target as it stands."""
    assert ask(site, "/robots.txt")[0] == 404
    site.robots("User-agent: *\nDisallow: /private\n")
    site.redirect("/old", "../new#part", 308)
    assert ask(site, "/robots.txt")[1].startswith(b"User-agent: *")
    status, _, headers = ask_for_all(site, "/old")
    assert (status, headers["Location"]) == (308, "../new#part")


# --- what the site remembers


def test_one_connection_carries_many_requests(site: Site) -> None:
    """Connections are counted apart from requests, and every request knows its own."""
    paths = site.fill(20)
    with closing(http.client.HTTPConnection(site.address, site.port, timeout=5)) as connection:
        for path in paths:
            connection.request("GET", path, headers={"User-Agent": "me/1"})
            connection.getresponse().read()
    ask(site, paths[0])
    assert site.paths() == [*paths, paths[0]]
    assert site.connections == 2
    assert len({seen.connection for seen in site.requests}) == 2
    assert site.count(paths[0]) == 2
    first = site.requests[0]
    assert (first.method, first.status, first.headers["user-agent"]) == ("GET", 200, "me/1")
    assert first.finished is not None
    assert first.finished >= first.time
    site.clear_log()
    assert (site.requests, site.connections) == ([], 0)


@pytest.mark.slow
def test_latency_and_requests_in_flight(site: Site) -> None:
    """Answers wait for the latency, side by side, and the most at one time is known."""
    site.page("/a", "x")
    site.latency = 0.2
    began = time.monotonic()
    with ThreadPoolExecutor(5) as pool:
        assert [answer[0] for answer in pool.map(lambda _: ask(site, "/a"), range(5))] == [200] * 5
    assert 0.2 <= time.monotonic() - began < 0.8
    assert site.max_in_flight == 5
    site.clear_log()
    ask(site, "/a")
    ask(site, "/a")
    assert site.max_in_flight == 1
    assert site.gaps()[0] >= 0.2


def test_a_client_that_leaves_is_not_in_flight_any_more(site: Site) -> None:
    """A request given up by the client does not count against the next ones."""
    site.page("/a", "x")
    site.fault("/slow", faults.slow(30))
    assert raw_answer(site, "/slow", seconds=0.05) == (b"", "silent")
    time.sleep(0.1)
    site.clear_log()
    ask(site, "/a")
    assert site.max_in_flight == 1


def test_waiting_for_requests(site: Site) -> None:
    """A test can wait until so many requests have come, and is told when they do not."""
    with pytest.raises(TimeoutError, match="0 of 1 requests"):
        site.wait_for(1, timeout=0.02)
    site.page("/a", "x")
    sender = threading.Timer(0.05, ask, (site, "/a"))
    sender.start()
    site.wait_for(1)
    sender.join()
    assert site.paths() == ["/a"]


def test_a_thousand_requests_in_one_go_are_all_answered(site: Site) -> None:
    """Requests that arrive together over one connection are answered one by one, in full."""
    site.page("/a", "x" * 2000)
    with socket.create_connection((site.address, site.port), timeout=10) as connection:
        received, total = 0, 0
        one = len(raw_answer(site, "/a", seconds=0.1)[0])
        connection.sendall(b"GET /a HTTP/1.1\r\nHost: x\r\n\r\n" * 1000)
        while total < 1000 * one and (received := len(connection.recv(1 << 20))):
            total += received
    assert total == 1000 * one


def test_two_sites_do_not_know_each_other(site: Site) -> None:
    """Each site has its own port, pages and log."""
    with Site() as other:
        site.page("/a", "one")
        other.page("/a", "two")
        assert (ask(site, "/a")[1], ask(other, "/a")[1]) == (b"one", b"two")
        assert (len(site.requests), len(other.requests)) == (1, 1)


def test_a_stopped_site_refuses_and_comes_back_where_it_was() -> None:
    """A site can go away, taking its connections with it, and return on the same port with the same pages."""
    with Site() as site:
        site.page("/a", "x")
        with closing(http.client.HTTPConnection(site.address, site.port, timeout=5)) as connection:
            connection.request("GET", "/a")
            connection.getresponse().read()
            site.stop()
            assert connection.sock.recv(1) == b""
        with pytest.raises(ConnectionRefusedError):
            ask(site, "/a")
        site.start()
        assert ask(site, "/a") == (200, b"x")


def test_a_mistake_inside_the_server_fails_the_test() -> None:
    """A broken step does not look like a fault of the site: the test is told."""

    async def broken(exchange: object) -> None:
        raise ZeroDivisionError

    site = Site().start()
    site.fault("/a", broken)
    assert raw_answer(site, "/a") == (b"", "closed")
    with pytest.raises(RuntimeError, match="itself failed"):
        site.stop()


def test_a_site_over_tls(tls_site: Site) -> None:
    """TLS works for those who trust the certificate and fails for those who do not."""
    tls_site.page("/a", "secret")
    assert tls_site.url.startswith("https://127.0.0.1:")
    trusting = ssl.create_default_context(cafile=str(tls_site.ca_file))
    for name in ("127.0.0.1", "docs.localhost"):
        with (
            socket.create_connection((tls_site.address, tls_site.port), timeout=5) as plain,
            trusting.wrap_socket(plain, server_hostname=name) as connection,
        ):
            connection.sendall(b"GET /a HTTP/1.0\r\n\r\n")
            assert b"secret" in connection.makefile("rb").read()
    with (
        socket.create_connection((tls_site.address, tls_site.port), timeout=5) as plain,
        pytest.raises(ssl.SSLCertVerificationError),
    ):
        ssl.create_default_context().wrap_socket(plain, server_hostname="127.0.0.1")
