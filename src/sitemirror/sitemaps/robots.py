"""Parses robots.txt: who may fetch what, how slowly, and where the sitemaps are.

protego applies the rules; this module feeds it what counts by RFC 9309, and bounds what a hostile file can cost.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from itertools import islice
from typing import Final, Self

from protego import Protego

MAX_RULES_BYTES: Final = 512 * 1024  # RFC 9309 asks for at least 500 KiB.
_MAX_SITEMAP_LINES: Final = 10_000
_MAX_INDENT: Final = 100

_AGENT_FIELDS: Final = frozenset({"user-agent", "useragent", "user agent"})
# Line ends to Python, but not to robots.txt: what follows them would become a line of its own.
_NOT_LINE_ENDS: Final = re.compile("[\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
_SITEMAP: Final = re.compile(
    rb"[sS][iI][tT][eE]-?[mM][aA][pP][sS]?(?:[ \t]*+:[ \t]*+|[ \t]++(?=https?://))([^\r\n#]++)"
)
_LINE_END: Final = re.compile(rb"[\r\n]")


class Robots:
    """What one host's robots.txt says to one user agent."""

    __slots__ = ("_agent", "_rules", "answered", "sitemaps", "trouble")

    def __init__(self, rules: Protego, agent: str, sitemaps: tuple[str, ...]) -> None:
        self.trouble = ""
        """Why the host's robots.txt could not be had, in words, where that is why nothing is allowed."""
        self.answered = True
        """False if the host gave no answer at all."""
        self._rules = rules
        self._agent = agent
        self.sitemaps = sitemaps
        """The values of all Sitemap lines, as written, each once."""

    @classmethod
    def parse(cls, body: bytes, user_agent: str) -> Self:
        """Reads any bytes at all; what makes no sense is ignored. `user_agent` is the whole header value."""
        body = _as_utf8(body)
        rules = body[:MAX_RULES_BYTES]
        if len(body) > len(rules):
            rules = whole_lines(rules)
        text = _NOT_LINE_ENDS.sub(" ", rules.decode("utf-8", "replace"))
        agent = user_agent.partition("/")[0].strip()
        return cls(Protego.parse("\n".join(_lines_with_tokens(text))), agent, _sitemap_lines(body))

    @classmethod
    def allow_all(cls) -> Self:
        """For a host without a robots.txt."""
        return cls.parse(b"", "*")

    @classmethod
    def disallow_all(cls, trouble: str = "", *, answered: bool = True) -> Self:
        """For a host whose robots.txt cannot be had for now."""
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


def whole_lines(body: bytes) -> bytes:
    """Without a last line that may be torn: that could forbid more than its author did ("/" of "/private")."""
    return body[: max(body.rfind(b"\n"), body.rfind(b"\r")) + 1]


def _as_utf8(body: bytes) -> bytes:
    for mark, codec in ((codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be")):
        if body.startswith(mark):
            return body[len(mark) : 4 * MAX_RULES_BYTES].decode(codec, "replace").encode()
    return body.removeprefix(codecs.BOM_UTF8)


def _lines_with_tokens(text: str) -> Iterator[str]:
    for whole in text.splitlines():
        line = whole.partition("#")[0].strip()
        field, colon, value = line.partition(":")
        yield line
        if colon and field.strip().lower() in _AGENT_FIELDS:
            yield from _product_tokens(value)


def _product_tokens(value: str) -> Iterator[str]:
    # "sitemirror/1.0" and "sitemirror, otherbot" mean us as well, and a version is no part of the name.
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
