"""Cookies: which request one belongs to, and which of a site's own are sent back.

A mirror is the same whatever comes first, so it carries nothing from one page to the next: a link that switches the
language would switch it for all that follow. Some sites let nobody in without a cookie, though, and send whoever does
not bring it back round in a circle. The cookies of such a circle are kept, for as long as the run lasts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Final

from sitemirror.fetch.pace import Clock
from sitemirror.urls import Parts, authority, parts

MOST_COOKIES: Final = 20
"""Of one host. Browsers take 50 and more, of 4 KB each; no server takes as much as that in a request."""

LONGEST_COOKIE: Final = 1024

_NOTED: Final = 16  # redirects that may yet turn out to be part of a circle
_SENDABLE: Final = re.compile(r"[\x20-\x3a\x3c-\x7e]+")  # as it may stand in a request, without what ends a cookie
_SECONDS: Final = re.compile(r"-?[0-9]{1,12}")


@dataclass(frozen=True, slots=True)
class Cookie:
    """A cookie, and whom it is for."""

    text: str
    domain: str
    subdomains: bool
    path: str
    secure: bool
    expires: float | None  # seconds since 1970

    @property
    def name(self) -> str:
        return self.text.partition("=")[0]

    def belongs_to(self, url: Parts, now: float) -> bool:
        """Whether it is sent along to `url`."""
        if self.secure and url.scheme != "https":
            return False
        if self.expires is not None and self.expires <= now:
            return False
        if url.host != self.domain and not (self.subdomains and url.host.endswith("." + self.domain)):
            return False
        folder = self.path if self.path.endswith("/") else self.path + "/"
        return url.path == self.path or url.path.startswith(folder)


class SiteCookies:
    """The cookies that hosts insist on, each for the very host and port that set it: no domain is taken at its word."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._noted: dict[str, list[str]] = {}
        self._kept: dict[str, dict[tuple[str, str], Cookie]] = {}

    def __bool__(self) -> bool:
        return bool(self._kept)

    def note(self, url: str, lines: list[str]) -> None:
        """Remembers what a redirect set, should it be part of a circle."""
        self._noted.pop(url, None)
        self._noted[url] = lines
        if len(self._noted) > _NOTED:
            del self._noted[next(iter(self._noted))]

    def keep(self, circle: Iterable[str]) -> bool:
        """Keeps what was set on the way round. Whether anything was: else it would be the same circle again."""
        found = [(url, lines) for url in circle if (lines := self._noted.pop(url, None))]
        for url, lines in found:
            cookies = self._kept.setdefault(authority(url), {})
            for cookie in self._read(url, lines):
                if len(cookies) < MOST_COOKIES:
                    cookies[cookie.name, cookie.path] = cookie
        return bool(found)

    def renew(self, url: str, lines: list[str]) -> None:
        """Takes the new values of cookies that are kept; a session's may change with every answer."""
        cookies = self._kept.get(authority(url), {})
        for cookie in self._read(url, lines):
            if (key := (cookie.name, cookie.path)) in cookies:
                cookies[key] = cookie

    def added_to(self, headers: dict[str, str], url: str) -> dict[str, str]:
        """The headers that a person gave with the host's own cookies, which replace the person's of the same name."""
        now, target = self._clock.now().timestamp(), parts(url)
        kept = [each for each in self._kept.get(authority(url), {}).values() if each.belongs_to(target, now)]
        if not kept:
            return headers
        header = next((name for name in headers if name.lower() == "cookie"), "Cookie")
        names = {cookie.name for cookie in kept}
        mine = [text for text in headers.get(header, "").split("; ") if text and text.partition("=")[0] not in names]
        longest_path_first = sorted(kept, key=lambda cookie: -len(cookie.path))
        return headers | {header: "; ".join([*mine, *(cookie.text for cookie in longest_path_first)])}

    def _read(self, url: str, lines: Sequence[str]) -> list[Cookie]:
        found = parts(url)
        read = (_cookie(line, found, self._clock.now().timestamp()) for line in lines)
        return [cookie for cookie in read if cookie is not None]


def _cookie(line: str, url: Parts, now: float) -> Cookie | None:
    """What a Set-Cookie header says, as RFC 6265 reads it; None for what is not kept."""
    text, *attributes = (part.strip() for part in line.split(";"))
    name, _, value = (part.strip() for part in text.partition("="))
    if not name or len(text) > LONGEST_COOKIE or not _SENDABLE.fullmatch(text):
        return None
    said = {key.strip().lower(): to.strip() for key, _, to in (part.partition("=") for part in attributes)}
    domain = said.get("domain", "").removeprefix(".").lower()
    if domain and url.host != domain and not url.host.endswith("." + domain):
        return None
    path = said.get("path", "")
    if not path.startswith("/"):
        path = url.path[: max(url.path.rfind("/"), 1)]
    is_secure = "secure" in said or url.scheme == "https"  # What came encrypted is never sent in the clear.
    return Cookie(f"{name}={value}", url.host, False, path, is_secure, _expiry(said, now))


def _expiry(said: dict[str, str], now: float) -> float | None:
    if _SECONDS.fullmatch(said.get("max-age", "")):
        return now + int(said["max-age"])
    try:
        return parsedate_to_datetime(said["expires"]).timestamp()
    except (KeyError, ValueError, TypeError, OverflowError, IndexError):
        return None
