"""Fetch one URL: one hop, within limits, always with an outcome. Callers follow redirects."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import aclosing, asynccontextmanager, suppress
from dataclasses import replace
from typing import Final, Self
from weakref import WeakValueDictionary

import aiohttp
from aiohttp.abc import AbstractResolver

from sitemirror.events import Listener, nobody
from sitemirror.fetch.addresses import AddressGuard, AddressRefused, SystemResolver
from sitemirror.fetch.decode import ACCEPTED, BodyTooLarge, CorruptBody, Decoder, UnknownEncoding
from sitemirror.fetch.errors import blame_proxy, diagnose, limit_detail
from sitemirror.fetch.identity import Credentials, Proxies, SiteCookies, Trust
from sitemirror.fetch.media_type import SNIFF_SIZE, sniff
from sitemirror.fetch.pace import (
    Backoff,
    Clock,
    Pace,
    Slot,
    asks_to_wait,
    is_outage_status,
    is_transient,
    parse_retry_after,
    wait_for_host,
)
from sitemirror.fetch.response import STREAM_TIMEOUTS, Exchange, Head, Stream, classify
from sitemirror.fetch.transport import MAX_HEADER_SIZE, MAX_HEADERS, ConnectionDropped, Connections, Sender
from sitemirror.model import Failed, Lane, NotModified, Outcome, Redirect, Skipped, Validators
from sitemirror.reasons import Reason
from sitemirror.settings import Settings
from sitemirror.stopwatch import IDLE, Stage, Stopwatch
from sitemirror.urls import authority

KEEP_ALIVE: Final = 240.0
"""Seconds until an idle connection is closed; just below the common limit of firewalls."""

_MAX_IDLE: Final = 64  # connections, besides one for each slot
_PROBE: Final = 30.0  # seconds to find out whether a host is up
_SENDABLE: Final = re.compile(r"[\x20-\x7e]+")

# Header lines at the start of a body: a stray line break has ended the head too soon.
_HEADERS_AGAIN: Final = re.compile(rb"(?:[\w-]{1,80}:[^\r\n]{0,2000}\r?\n){0,50}content-(?:type|length):", re.I)

Wanted = Callable[[Head], Skipped | None]
"""Inspects a head before the body is read; a `Skipped` rejects it."""


class HostGivenUp(Exception):
    """The host was given up for this run."""


class Fetcher:
    """The run's one HTTP client. Use as an async context manager."""

    def __init__(
        self,
        settings: Settings,
        *,
        start_url: str,
        pace: Pace,
        clock: Clock,
        on_event: Listener = nobody,
        resolver: AbstractResolver | None = None,
        backoff: Backoff | None = None,
        trust: Trust | None = None,
        watch: Stopwatch = IDLE,
    ) -> None:
        self._settings = settings
        self._start_url = start_url
        self._pace = pace
        self._clock = clock
        self._tell = on_event
        self._resolver = resolver
        self._backoff = backoff or Backoff()
        self._watch = watch
        self._credentials = Credentials(settings, start_url, clock=clock)
        self._cookies = SiteCookies(clock)
        self._proxies = Proxies(settings)
        self._trust = trust or Trust(settings.ca_file)
        self._default_headers = {
            "User-Agent": settings.user_agent,
            "Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
            "Accept-Encoding": ACCEPTED,
        }
        self._connections = Connections(max_idle=_MAX_IDLE + settings.concurrency)
        self._slots: WeakValueDictionary[str, asyncio.Semaphore] = WeakValueDictionary()

    async def __aenter__(self) -> Self:
        resolver = self._resolver or SystemResolver()
        self._guard = AddressGuard(self._start_url, resolver, proxies=self._proxies.urls, on_event=self._tell)
        with suppress(TimeoutError):
            async with asyncio.timeout(self._settings.timeout):
                await self._guard.admit_start()
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(
                limit=0,  # Limited here, so that waiting for a slot does not count against a request's timeout.
                resolver=self._guard,
                socket_factory=self._guard.open_socket,
                keepalive_timeout=KEEP_ALIVE,
                ttl_dns_cache=60,
            ),
            timeout=aiohttp.ClientTimeout(total=None, sock_read=self._settings.timeout),
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,
            trust_env=False,
            response_class=self._connections.response_class(),
            max_line_size=MAX_HEADER_SIZE,
            max_field_size=MAX_HEADER_SIZE,
            max_headers=MAX_HEADERS,
        )
        self._sender = Sender(self._session, self._connections)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._session.close()
        await self._guard.close()

    async def get(
        self,
        url: str,
        *,
        lane: Lane,
        limit: int,
        validators: Validators = Validators(),  # noqa: B008 - frozen
        wanted: Wanted | None = None,
        slot: Slot | None = None,
    ) -> Outcome:
        """Request `url`; retry only if the host asks for it or is down. No response makes it raise."""
        host = authority(url)
        slots = self._slots.get(host)
        if slots is None:
            slots = self._slots[host] = asyncio.Semaphore(self._settings.concurrency)
        host_slot = Slot(slots)
        await host_slot.acquire()
        try:
            held = (host_slot,) if slot is None else (slot, host_slot)
            answer = await self._answer(url, lane, validators, total=self._settings.timeout, held=held)
            if not isinstance(answer, Exchange):
                return answer
            try:
                with self._watch.waiting(Stage.BODY):
                    return await self._read_page(answer, limit, wanted)
            except Exception as error:
                return self._failed(url, error)
            finally:
                answer.close()
        finally:
            host_slot.release()

    async def head(self, url: str, *, lane: Lane) -> Outcome:
        """Requests `url` without its body; `Fetched.body` is empty. Not every server answers this correctly."""
        answer = await self._answer(url, lane, Validators(), total=self._settings.timeout, method="HEAD")
        if not isinstance(answer, Exchange):
            return answer
        answer.close()
        return answer.head.fetched(b"", self._now())

    @asynccontextmanager
    async def stream(
        self,
        url: str,
        *,
        lane: Lane,
        limit: int,
        validators: Validators = Validators(),  # noqa: B008 - frozen
        slot: Slot | None = None,
        kind: Callable[[Head], type[Decoder]] = lambda _: Decoder,
    ) -> AsyncIterator[Stream | Redirect | NotModified | Failed | Skipped]:
        """Requests `url` and leaves the body to be read as it arrives. For bodies too large to hold."""
        total = self._settings.timeout * STREAM_TIMEOUTS
        answer = await self._answer(url, lane, validators, total=total, held=() if slot is None else (slot,))
        if not isinstance(answer, Exchange):
            yield answer
            return
        try:
            try:
                decoder = answer.decoder(limit, kind(answer.head))
            except UnknownEncoding as error:
                yield self._failed(url, error)
            else:
                with self._watch.waiting(Stage.BODY):
                    yield Stream(answer, decoder, timeout=total)
        finally:
            answer.close()

    def keep_cookies(self, circle: Iterable[str]) -> bool:
        """Accepts the cookies that these redirects have set. False if there are none."""
        return self._cookies.accept(circle)

    async def _answer(
        self,
        url: str,
        lane: Lane,
        validators: Validators,
        *,
        total: float,
        method: str = "GET",
        held: Sequence[Slot] = (),
        returns: bool = False,
    ) -> Exchange | Redirect | NotModified | Failed:
        """Sends a request, with retries, and returns a 2xx response ready to be read, or another outcome.

        A redirect to itself that sets a cookie is followed once, with that cookie (`returns`).
        """
        headers = self._headers(url, validators)
        for tries in range(self._settings.max_retries + 1):
            try:
                exchange = await self._send(method, url, lane, headers, total=total, held=held)
            except Exception as error:
                failed = self._failed(url, error)
                if _is_host_failure(error) and await self._should_retry(url, lane, failed.text, tries):
                    continue
                return failed._replace(tries=tries + 1)
            status, retry_after = exchange.head.status, exchange.head.headers.get("retry-after")
            if asks_to_wait(status, retry_after):
                self._wait(url, status, retry_after, tries)
                await exchange.discard()
                continue
            if is_outage_status(status):
                await exchange.discard()
                if await self._should_retry(url, lane, f"HTTP {status}", tries):
                    continue
                return classify(exchange, validators, self._now(), tries=tries + 1)
            self._pace.record_answer(url)
            if not is_transient(status):
                self._pace.speed_up(url)
            if self._cookies:
                self._cookies.update(url, exchange.cookies)
            if 200 <= status < 300 and status != 206:
                return exchange
            await exchange.discard()
            found = classify(exchange, validators, self._now(), tries=tries + 1)
            if isinstance(found, Redirect) and (cookies := exchange.cookies):
                self._cookies.remember(url, cookies)
                if found.location == url and not returns and self.keep_cookies([url]):
                    return await self._answer(
                        url, lane, validators, total=total, method=method, held=held, returns=True
                    )
            return found
        reason, detail = Reason.HTTP_STATUS, str(status)
        if tries:
            reason, detail = Reason.STILL_BUSY, f"{status} after {tries + 1} tries"
        return Failed(url, reason, detail, transient=True, status=status, tries=tries + 1, busy=True)

    async def _should_retry(self, url: str, lane: Lane, reason: str, tries: int) -> bool:
        """True if a request that failed because its host is down should be repeated."""
        if not self._pace.record_failure(url, reason) or tries >= self._settings.max_retries:
            return False
        start = self._start_url
        if url != start and authority(url) == authority(start):
            # Several pages may fail while the site is up: then its start page answers.
            try:
                exchange = await self._send("HEAD", start, lane, self._headers(start, Validators()), total=_PROBE)
            except Exception as error:
                self._pace.record_failure(start, self._failed(start, error).text)
            else:
                if is_outage_status(exchange.head.status):
                    self._pace.record_failure(start, f"HTTP {exchange.head.status}")
                else:
                    self._pace.record_answer(url)
                await exchange.discard()
        return True

    def _wait(self, url: str, status: int, retry_after: str | None, tries: int) -> None:
        seconds = parse_retry_after(retry_after, self._clock.now())
        if status == 429:
            self._pace.slow_down(url)
        self._pace.record_failure(url, f"HTTP {status}", self._backoff.seconds(tries) if seconds is None else seconds)

    async def _send(
        self,
        method: str,
        url: str,
        lane: Lane,
        headers: dict[str, str],
        *,
        total: float,
        held: Sequence[Slot] = (),
    ) -> Exchange:
        proxy = self._proxies.for_url(url)
        if proxy is not None or self._guard.is_proxy(url):
            async with asyncio.timeout(self._settings.timeout):
                await self._guard.check_target(url)
        else:
            self._guard.check_literal(url)
        uses_tls = url.startswith("https:") or (proxy is not None and proxy.url.startswith("https:"))
        for left in range(self._settings.concurrency, -1, -1):
            await wait_for_host(self._pace, url, lane, held)
            exchange = None
            try:
                if lost := self._pace.given_up(url):
                    raise HostGivenUp(lost)
                begun = asyncio.get_running_loop().time()
                async with asyncio.timeout(self._settings.timeout):
                    with self._watch.waiting(Stage.ANSWER):
                        response = await self._sender.send(
                            method,
                            url,
                            headers,
                            proxy=proxy,
                            ssl=self._trust.context if uses_tls else True,
                            # The total timeout covers requests that have no more time than that.
                            read_timeout=self._settings.timeout if total > self._settings.timeout else None,
                        )
                deadline = begun + total
                exchange = Exchange(url, response, deadline=deadline, on_end=self._pace.release)
            except (ConnectionDropped, aiohttp.ClientConnectionResetError) as error:
                # Servers close idle connections at any time. Each attempt uses one up, so after as many attempts as
                # there are slots it was a new connection that was closed.
                if left and getattr(error, "reused", True):
                    continue
                raise
            finally:
                if exchange is None:
                    self._pace.release()
            return exchange
        raise AssertionError("the last try raises or returns")

    def _headers(self, url: str, validators: Validators) -> dict[str, str]:
        given = self._credentials.headers_for(url)
        if self._cookies:
            given = self._cookies.add_to(given, url)
        if not given and not validators:
            return self._default_headers
        headers = dict(self._default_headers)
        # A validator that cannot be sent back unchanged is useless.
        if validators.etag and _SENDABLE.fullmatch(validators.etag):
            headers["If-None-Match"] = validators.etag
        if validators.last_modified and _SENDABLE.fullmatch(validators.last_modified):
            headers["If-Modified-Since"] = validators.last_modified
        replaced = {name.lower() for name in given}
        return {name: value for name, value in headers.items() if name.lower() not in replaced} | given

    async def _read_page(self, exchange: Exchange, limit: int, wanted: Wanted | None) -> Outcome:
        """Reads the body of a 2xx response, unless it is rejected or too large."""
        head = exchange.head
        refused = wanted(head) if wanted is not None and head.content_type else None
        if refused is None and head.content_length is not None and head.content_length > limit:
            refused = head.too_large
        if refused is not None:
            await exchange.discard()
            return refused
        found, size = [], 0
        try:
            if head.content_type and (whole := exchange.buffered_body(limit)) is not None:
                return head.fetched(whole, self._now())
            async with aclosing(exchange.body(exchange.decoder(limit))) as body:
                async for piece in body:
                    found.append(piece)
                    size += len(piece)
                    if not head.content_type and size >= SNIFF_SIZE:
                        head = replace(head, content_type=sniff(b"".join(found)))
                        if wanted is not None and (refused := wanted(head)) is not None:
                            return refused
        except BodyTooLarge:
            return head.too_large
        whole = b"".join(found)
        if not head.content_type and _HEADERS_AGAIN.match(whole):
            return Failed(head.url, Reason.MALFORMED, "headers in the body", transient=True, status=head.status)
        if not head.content_type:
            head = replace(head, content_type=sniff(whole))
            if wanted is not None and (refused := wanted(head)) is not None:
                return refused
        return head.fetched(whole, self._now())

    def _failed(self, url: str, error: Exception) -> Failed:
        match error:
            case CorruptBody():
                return Failed(url, error.cause.reason, error.cause.detail, transient=True)
            case HostGivenUp():
                return Failed(url, Reason.GIVEN_UP, str(error), transient=True)
            case UnknownEncoding():
                cause = limit_detail(error.cause, limit=200)
                return Failed(url, cause.reason, cause.detail)
        found = diagnose(error, timeout=self._settings.timeout)
        is_lost_proxy = isinstance(error, aiohttp.ClientConnectorDNSError) and self._proxies.for_url(url) is not None
        cause = blame_proxy(found.cause) if is_lost_proxy else found.cause
        return Failed(url, cause.reason, cause.detail, transient=found.transient)

    def _now(self) -> str:
        return self._clock.now().isoformat(timespec="seconds").removesuffix("+00:00") + "Z"


def _is_host_failure(error: Exception) -> bool:
    """True if the host did not answer at all, unless we refused its address."""
    refused = isinstance(error, AddressRefused) or isinstance(getattr(error, "os_error", None), AddressRefused)
    return isinstance(error, OSError | aiohttp.ClientConnectionError | ConnectionDropped) and not refused
