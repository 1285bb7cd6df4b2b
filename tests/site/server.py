"""The test site: an HTTP/1.1 server in a thread of its own that remembers every request and connection.

It is written on asyncio's streams rather than on the HTTP library that the program uses, so that a misreading of HTTP
cannot hide by being made on both sides.
"""

from __future__ import annotations

import asyncio
import gzip
import itertools
import ssl
import threading
import time
from collections.abc import Callable, Iterable
from email.utils import formatdate
from pathlib import Path
from typing import Final, Self, Unpack
from urllib.parse import urljoin

from tests.site import faults
from tests.site.answers import (
    Answer,
    PageOptions,
    is_current,
    not_modified,
    page_answer,
    sitemap_index_xml,
    sitemap_xml,
)
from tests.site.certificate import Certificate
from tests.site.wire import CLIENT_WENT, Exchange, Reader, Seen, canonical_path, parse_request

ANY_PATH: Final = "*"
_NOT_FOUND: Final = page_answer("<title>Not found</title><h1>404</h1>", {"status": 404})
_START_SECONDS: Final = 10.0

_Key = tuple[str | None, str]
Listed = str | tuple[str, str | None]


class Site:
    """A web site on loopback. `with Site() as site:` starts and stops it; every method may be called at any time."""

    def __init__(self, *, address: str = "127.0.0.1", port: int = 0, tls: Certificate | None = None) -> None:
        self.address = address
        self.port = port
        self.latency = 0.0
        """Seconds before every answer."""
        self.requests: list[Seen] = []
        self.connections = 0
        """Connections accepted since the start or the last `clear_log`."""
        self.max_in_flight = 0
        """The most requests that waited for their answers at the same time."""
        self.ca_file: Path | None = None
        """What a client must trust to talk to this site over TLS."""
        self.errors: list[BaseException] = []
        self._tls: ssl.SSLContext | None = None
        if tls is not None:
            self._tls, self.ca_file = tls.server_context(), tls.pem
        self._answers: dict[_Key, Answer | Callable[[], Answer]] = {}
        self._lastmods: dict[_Key, str | None] = {}
        self._faults: dict[_Key, list[faults.Step]] = {}
        self._in_flight = 0
        self._accepted = 0
        self._open: set[asyncio.Task[None]] = set()
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stopping: asyncio.Event | None = None

    # --- life

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *exc: object) -> None:
        self.stop()

    def start(self) -> Self:
        """Starts to listen; after a `stop`, on the same port and with the same pages."""
        ready = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(ready,), name="test site", daemon=True)
        self._thread.start()
        if not ready.wait(_START_SECONDS) or self._loop is None:
            raise RuntimeError("the test site did not start") from next(iter(self.errors), None)
        return self

    def stop(self) -> None:
        """Closes the port and every connection. Raises what went wrong inside the server itself, if anything did."""
        thread, loop, stopping = self._thread, self._loop, self._stopping
        if thread is not None and loop is not None and stopping is not None:
            loop.call_soon_threadsafe(stopping.set)
            thread.join(_START_SECONDS)
        self._thread = self._loop = self._stopping = None
        if self.errors:
            raise RuntimeError("the test site itself failed") from self.errors.pop()

    @property
    def url(self) -> str:
        """`http://127.0.0.1:PORT`, without a slash at the end."""
        return self.url_of(f"[{self.address}]" if ":" in self.address else self.address)

    def url_of(self, host: str) -> str:
        """The site under another name, such as `docs.localhost`."""
        return f"{'https' if self._tls else 'http'}://{host}:{self.port}"

    # --- what is on the site

    def page(self, path: str, body: str | bytes, **options: Unpack[PageOptions]) -> str:
        """Puts a page at `path` (query included, if any) and returns its URL.

        `type` may be None for an answer without Content-Type. Text is encoded in the type's charset. `etag` and
        `last_modified` make conditional requests answer 304. `lastmod` is what the sitemap says. `encoding` is one of
        gzip, deflate, br and zstd. With `host` the page exists under that name only.
        """
        return self._put(path, page_answer(body, options), options.get("host"), options.get("lastmod"))

    def html_page(self, path: str, title: str, body_html: str, **options: Unpack[PageOptions]) -> str:
        """A whole HTML document around `body_html`."""
        document = (
            '<!DOCTYPE html>\n<html lang="en">\n<head><meta charset="utf-8">'
            f"<title>{title}</title></head>\n<body>\n{body_html}\n</body>\n</html>\n"
        )
        return self.page(path, document, **options)

    def fill(self, count: int, folder: str = "/page", **options: Unpack[PageOptions]) -> list[str]:
        """`count` small pages, each different, under `folder`. Returns their paths."""
        paths = [f"{folder}/{number:04d}" for number in range(1, count + 1)]
        for number, path in enumerate(paths, 1):
            body = f"<main><h1>Page {number}</h1><p>This is page number {number} of {count}.</p></main>"
            self.html_page(path, f"Page {number}", body, **options)
        return paths

    def sitemap(
        self, path: str = "/sitemap.xml", urls: Iterable[Listed] | None = None, **options: Unpack[PageOptions]
    ) -> str:
        """A sitemap of `urls` (with lastmod as the second of a pair), or of every page there is when it is asked for.

        Relative URLs are made absolute. A path that ends in `.gz` is a gzip file.
        """
        host = options.get("host")
        if urls is None:
            return self._put(path, lambda: self._listing(path, self._all_pages(host), options), host)
        return self._put(path, self._listing(path, self._absolute(urls, host), options), host)

    def sitemap_index(self, path: str, children: Iterable[Listed], **options: Unpack[PageOptions]) -> str:
        """An index of child sitemaps (with lastmod as the second of a pair). Relative URLs are made absolute."""
        host = options.get("host")
        document = sitemap_index_xml(self._absolute(children, host))
        return self._put(path, _xml_answer(path, document, options), host)

    def robots(self, text: str, *, host: str | None = None) -> str:
        """robots.txt. A site has none until it is given one."""
        return self.page("/robots.txt", text, type="text/plain; charset=utf-8", host=host)

    def redirect(self, path: str, to: str, status: int = 301, *, host: str | None = None) -> str:
        """Sends those who ask for `path` to `to`, which goes on the wire as it stands."""
        answer = page_answer(f"<p>Moved to {to}</p>", {"status": status, "headers": {"Location": to}})
        return self._put(path, answer, host)

    def fault(self, path: str, *steps: faults.Step, host: str | None = None) -> str:
        """Plays `steps` one per request to `path`, the last one for ever. `"*"` is every path without its own fault.

        A path that has no page yet gets a plain one, so that the steps have something to spoil.
        """
        if not steps:
            raise ValueError("a fault needs at least one step")
        key = (host, canonical_path(path))
        if path != ANY_PATH and key not in self._answers:
            self.html_page(path, path, f"<main><h1>{path}</h1><p>{'All is well here. ' * 20}</p></main>", host=host)
        self._faults[key] = list(steps)
        return urljoin(self.url_of(host) if host else self.url, key[1])

    def heal(self, path: str, *, host: str | None = None) -> None:
        """Takes the fault at `path` away."""
        self._faults.pop((host, canonical_path(path)), None)

    def remove(self, path: str, *, host: str | None = None) -> None:
        """Takes the page at `path` away: 404 from now on."""
        key = (host, canonical_path(path))
        self._answers.pop(key, None)
        self._lastmods.pop(key, None)

    # --- what the site saw

    def paths(self) -> list[str]:
        """The paths asked for, in order, repeats included."""
        return [seen.path for seen in list(self.requests)]

    def requests_for(self, path: str) -> list[Seen]:
        wanted = canonical_path(path)
        return [seen for seen in list(self.requests) if seen.path == wanted]

    def count(self, path: str) -> int:
        return len(self.requests_for(path))

    def gaps(self) -> list[float]:
        """Seconds between the arrivals of one request and the next."""
        times = [seen.time for seen in list(self.requests)]
        return [later - earlier for earlier, later in itertools.pairwise(times)]

    def wait_for(self, requests: int, timeout: float = 10.0) -> None:
        """Returns once at least `requests` requests have arrived."""
        deadline = time.monotonic() + timeout
        while len(self.requests) < requests:
            if time.monotonic() > deadline:
                raise TimeoutError(f"{len(self.requests)} of {requests} requests in {timeout} s")
            time.sleep(0.005)

    def clear_log(self) -> None:
        """Forgets requests and connections so far; pages, faults and open connections stay."""
        self.requests = []
        self.connections = 0
        self.max_in_flight = self._in_flight

    # --- inside

    def _put(
        self, path: str, answer: Answer | Callable[[], Answer], host: str | None, lastmod: str | None = None
    ) -> str:
        key = (host, canonical_path(path))
        self._answers[key] = answer
        self._lastmods[key] = lastmod
        return (self.url_of(host) if host else self.url) + key[1]

    def _absolute(self, urls: Iterable[Listed], host: str | None) -> list[tuple[str, str | None]]:
        base = self.url_of(host) if host else self.url
        pairs = ((url, None) if isinstance(url, str) else url for url in urls)
        return [(base + canonical_path(url) if url.startswith("/") else url, lastmod) for url, lastmod in pairs]

    def _all_pages(self, host: str | None) -> list[tuple[str, str | None]]:
        base = self.url_of(host) if host else self.url
        pages = (
            (path, self._lastmods.get((name, path)))
            for (name, path), answer in list(self._answers.items())
            if name == host and isinstance(answer, Answer) and answer.status == 200
            if "html" in (answer.header("content-type") or "")
        )
        return [(base + path, lastmod) for path, lastmod in pages]

    def _listing(self, path: str, urls: Iterable[tuple[str, str | None]], options: PageOptions) -> Answer:
        return _xml_answer(path, sitemap_xml(urls), options)

    def _run(self, ready: threading.Event) -> None:
        try:
            asyncio.run(self._serve(ready))
        except BaseException as problem:  # Told to the test by start() or stop(); a thread has nobody else to tell.
            self.errors.append(problem)
        finally:
            ready.set()

    async def _serve(self, ready: threading.Event) -> None:
        loop = asyncio.get_running_loop()
        self._stopping = asyncio.Event()

        def protocol() -> asyncio.StreamReaderProtocol:
            reader = Reader(loop)
            return asyncio.StreamReaderProtocol(reader, lambda _, writer: self._accept(reader, writer), loop=loop)

        server = await loop.create_server(protocol, self.address, self.port, ssl=self._tls, backlog=1024)
        self.port = server.sockets[0].getsockname()[1]
        self._loop = loop
        ready.set()
        await self._stopping.wait()
        server.close()
        tasks = list(self._open)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await asyncio.sleep(0)  # Lets the transports say goodbye before the loop is gone.

    def _accept(self, reader: Reader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self._accepted += 1
        task = asyncio.ensure_future(self._talk(reader, writer, self._accepted))
        self._open.add(task)
        task.add_done_callback(self._open.discard)

    async def _talk(self, reader: Reader, writer: asyncio.StreamWriter, connection: int) -> None:
        try:
            while await self._one_request(reader, writer, connection):
                pass
            writer.close()
            await writer.wait_closed()
        except CLIENT_WENT:
            pass
        except Exception as problem:
            self.errors.append(problem)
        finally:
            writer.transport.abort()

    async def _one_request(self, reader: Reader, writer: asyncio.StreamWriter, connection: int) -> bool:
        """Whether the connection stays open for another."""
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            seen = parse_request(head[:-4], connection)
        except (ValueError, asyncio.LimitOverrunError):
            writer.write(Answer(400, (("Connection", "close"),)).head(0))
            return False
        self.requests.append(seen)
        self._in_flight += 1
        self.max_in_flight = max(self.max_in_flight, self._in_flight)
        exchange = Exchange(seen, self._answer(seen), reader, writer)
        try:
            if length := int(seen.headers.get("content-length", 0)):
                await reader.readexactly(length)
            if self.latency:
                await exchange.pause(self.latency)
            await self._step(seen)(exchange)
            seen.finished = time.monotonic()
        finally:
            self._in_flight -= 1
        return exchange.keeps_alive

    def _answer(self, seen: Seen) -> Answer:
        if seen.method not in ("GET", "HEAD"):
            return Answer(405, (("Allow", "GET, HEAD"),))
        found = self._answers.get((seen.host, seen.path)) or self._answers.get((None, seen.path)) or _NOT_FOUND
        answer = found() if callable(found) else found
        if is_current(answer, seen.headers):
            answer = not_modified(answer)
        return answer.with_headers({"Date": formatdate(usegmt=True)})

    def _step(self, seen: Seen) -> faults.Step:
        for key in ((seen.host, seen.path), (None, seen.path), (seen.host, ANY_PATH), (None, ANY_PATH)):
            if steps := self._faults.get(key):
                return steps.pop(0) if len(steps) > 1 else steps[0]
        return faults.ok()


def _xml_answer(path: str, document: str, options: PageOptions) -> Answer:
    body = document.encode()
    if path.endswith(".gz"):
        return page_answer(gzip.compress(body, mtime=0), {"type": "application/gzip", **options})
    return page_answer(body, {"type": "application/xml; charset=utf-8", **options})
