"""robots.txt of every host of a run: fetched once, parsed, applied.

protego applies the rules; this module passes it the relevant lines by RFC 9309, and limits the cost of a hostile file.
"""

from __future__ import annotations

import asyncio
import codecs
import re
from collections.abc import Iterator
from itertools import islice
from typing import Final, Self

from protego import Protego

from sitemirror import urls
from sitemirror.fetch.pace import BorrowedSlot, Slot
from sitemirror.fetch.response import Stream
from sitemirror.frontier.scope import Scope
from sitemirror.model import Failed, Lane, Redirect, Skipped
from sitemirror.reasons import Reason
from sitemirror.run.session import Session
from sitemirror.text import counted

_HOPS: Final = 5
_MAX_RULES_BYTES: Final = 512 * 1024  # RFC 9309 asks for at least 500 KiB.
_MAX_SITEMAP_LINES: Final = 10_000
_MAX_INDENT: Final = 100
_MAX_NAMED: Final = 100

_AGENT_FIELDS: Final = frozenset({"user-agent", "useragent", "user agent"})
# Line ends to Python, but not to robots.txt: what follows them would become a line of its own.
_NOT_LINE_ENDS: Final = re.compile("[\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
_SITEMAP: Final = re.compile(
    rb"[sS][iI][tT][eE]-?[mM][aA][pP][sS]?(?:[ \t]*+:[ \t]*+|[ \t]++(?=https?://))([^\r\n#]++)"
)
_LINE_END: Final = re.compile(rb"[\r\n]")


class Robots:
    """Rules of one host's robots.txt for one user agent."""

    __slots__ = ("_agent", "_rules", "answered", "sitemaps", "trouble")

    def __init__(self, rules: Protego, agent: str, sitemaps: tuple[str, ...]) -> None:
        self._rules = rules
        self._agent = agent
        self.sitemaps = sitemaps  # values of all Sitemap lines, as written, each once
        self.trouble = ""  # why robots.txt is unavailable, as text, if that is why nothing is allowed
        self.answered = True  # False if the host gave no answer at all

    @classmethod
    def parse(cls, body: bytes, user_agent: str) -> Self:
        """Parse any bytes; ignore what makes no sense. `user_agent` is the whole header value."""
        body = _as_utf8(body)
        rules = body[:_MAX_RULES_BYTES]
        if len(body) > len(rules):
            rules = _whole_lines(rules)
        text = _NOT_LINE_ENDS.sub(" ", rules.decode("utf-8", "replace"))
        agent = user_agent.partition("/")[0].strip()
        return cls(Protego.parse("\n".join(_lines_with_tokens(text))), agent, _sitemap_lines(body))

    @classmethod
    def allow_all(cls) -> Self:
        """Rules of a host without a robots.txt."""
        return cls.parse(b"", "*")

    @classmethod
    def disallow_all(cls, trouble: str = "", *, answered: bool = True) -> Self:
        """Rules of a host whose robots.txt is unavailable."""
        rules = cls.parse(b"User-agent: *\nDisallow: /\n", "*")
        rules.trouble = trouble
        rules.answered = answered
        return rules

    def allowed(self, url: str) -> bool:
        return self._rules.can_fetch(url, self._agent)

    @property
    def crawl_delay(self) -> float | None:
        """Seconds between two requests that the host asks of us."""
        return self._rules.crawl_delay(self._agent)


def _whole_lines(body: bytes) -> bytes:
    """Drop a torn last line: it could forbid more than its author did ("/" of "/private")."""
    return body[: max(body.rfind(b"\n"), body.rfind(b"\r")) + 1]


def _as_utf8(body: bytes) -> bytes:
    for mark, codec in ((codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be")):
        if body.startswith(mark):
            return body[len(mark) : 4 * _MAX_RULES_BYTES].decode(codec, "replace").encode()
    return body.removeprefix(codecs.BOM_UTF8)


def _lines_with_tokens(text: str) -> Iterator[str]:
    for whole in text.splitlines():
        line = whole.partition("#")[0].strip()
        field, colon, value = line.partition(":")
        yield line
        if colon and field.strip().lower() in _AGENT_FIELDS:
            yield from _product_tokens(value)


def _product_tokens(value: str) -> Iterator[str]:
    # "sitemirror/1.0" and "sitemirror, otherbot" match us, too: a version is no part of the name.
    for agent in value.split(","):
        token = re.split(r"[/\s]", agent.strip(), maxsplit=1)[0]
        if token and token != value.strip():
            yield f"User-agent: {token}"


def _sitemap_lines(body: bytes) -> tuple[str, ...]:
    found: dict[str, None] = {}
    for match in islice(_SITEMAP.finditer(body), _MAX_SITEMAP_LINES):
        before = body[max(0, match.start() - _MAX_INDENT) : match.start()]
        if _LINE_END.split(before)[-1].strip():
            continue
        if value := match[1].decode("utf-8", "replace").strip():
            found[value] = None
    return tuple(found)


class RobotsBook:
    """The robots.txt of each host, fetched on first use."""

    def __init__(self, session: Session, scope: Scope) -> None:
        self._session = session
        self._scope = scope
        self._rules: dict[str, Robots] = {}
        self._refused: dict[str, str | None] = {}  # hosts that the address guard refuses, with their addresses
        self._asking: dict[str, asyncio.Lock] = {}
        self._disallowed: set[int] = set()  # hashes of URLs that are fetched although the rules forbid it
        self.disallowed_urls: list[str] = []
        """The first of those URLs."""

    def within(self, scope: Scope) -> RobotsBook:
        """Set the scope once it is resolved."""
        self._scope = scope
        return self

    async def note(self, url: str, slot: Slot) -> None:
        """Set the host's Crawl-delay, and count a URL that is fetched although it is disallowed."""
        rules = await self.rules(url, slot)
        self._set_delay(url, rules)
        if not rules.trouble and not rules.allowed(url) and (url_hash := hash(url)) not in self._disallowed:
            self._disallowed.add(url_hash)
            if len(self.disallowed_urls) < _MAX_NAMED:
                self.disallowed_urls.append(url)

    @property
    def disallowed(self) -> int:
        """Number of URLs that were fetched although robots.txt disallows them."""
        return len(self._disallowed)

    def warn(self) -> None:
        """Name the disallowed URLs that were fetched."""
        if self.disallowed_urls:
            self._session.warn(
                f"{counted(self.disallowed, 'URL')} fetched although robots.txt disallows them, such as "
                f"{self.disallowed_urls[0]}; --respect-robots leaves them out"
            )

    def _set_delay(self, url: str, rules: Robots) -> None:
        if rules.crawl_delay:
            self._session.pace.set_crawl_delay(url, rules.crawl_delay)

    async def refusal(self, url: str, slot: Slot) -> Skipped | Failed | None:
        """Apply robots.txt to a URL; `None` if it is allowed. Sets the host's Crawl-delay.

        The slot is released while the host asks to wait. Unavailable rules forbid everything, but as a failure, so
        that the next run asks again.
        """
        rules = await self.rules(url, slot)
        if (origin := urls.origin(url)) in self._refused:
            return Failed(url, Reason.ADDRESS_REFUSED, self._refused[origin])
        if rules.trouble:
            return Failed(url, Reason.ROBOTS_UNAVAILABLE, rules.trouble)
        self._set_delay(url, rules)
        return None if rules.allowed(url) else Skipped(url, Reason.ROBOTS)

    async def rules(self, url: str, slot: Slot | None = None) -> Robots:
        """Rules of a URL's host."""
        origin = urls.origin(url)
        if origin not in self._rules:
            # A lock for each host: one that does not answer must not hold up the others.
            async with self._asking.setdefault(origin, asyncio.Lock()):
                if origin not in self._rules:
                    self._rules[origin] = await self._fetch(url, slot)
        return self._rules[origin]

    async def _fetch(self, url: str, slot: Slot | None) -> Robots:
        """Fetch and parse: 4xx allows everything, 5xx and no answer forbid everything (RFC 9309)."""
        location = urls.normalize("/robots.txt", base=url)
        # All slots may be held by requests that wait for these rules, so fetching them must not wait for one.
        slot = slot and BorrowedSlot(slot)
        for _ in range(_HOPS):
            if self._scope.host_reason(location):
                break
            fetcher = self._session.fetcher
            async with fetcher.stream(location, lane=Lane.SITEMAP, limit=_MAX_RULES_BYTES, slot=slot) as answer:
                match answer:
                    case Redirect(location=there):
                        location = there
                    case Stream():
                        body = b"".join([piece async for piece in answer.chunks()])
                        body = _whole_lines(body) if answer.error else body
                        rules = Robots.parse(body, self._session.settings.user_agent)
                        if answer.error and answer.error.reason is not Reason.TOO_LARGE:
                            # The missing part may forbid anything.
                            rules.trouble = f"HTTP {answer.head.status}: {answer.error.text}"
                        return rules
                    case Failed(status=status) if status is None or status >= 500 or status == 429:
                        # If only its robots.txt redirects to such an address, the host itself may be asked.
                        is_own = urls.origin(location) == urls.origin(url)
                        if answer.reason is Reason.ADDRESS_REFUSED and is_own:
                            self._refused[urls.origin(url)] = answer.detail
                        return Robots.disallow_all(answer.text, answered=status is not None)
                    case _:
                        break
        return Robots.allow_all()
