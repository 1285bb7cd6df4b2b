"""Credentials, cookies, proxies and certificates: how a request identifies itself, and whom it trusts.

Headers, cookies and passwords that the user gave go to the start host and its www twin only. Every hop of a redirect
asks again, so a site cannot have them sent elsewhere.

Cookies that a site sets are ignored, so that a mirror does not depend on the order of its pages: a link that switches
the language would switch it for all that follow. Some sites redirect in a circle until a cookie comes back, though. The
cookies of such a circle are sent until the run ends.
"""

from __future__ import annotations

import base64
import re
import ssl
import urllib.request
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Final
from urllib.parse import unquote

import ada_url

from sitemirror.errors import UsageError
from sitemirror.fetch.pace import Clock
from sitemirror.settings import Settings
from sitemirror.text import printable
from sitemirror.urls import InvalidUrl, Parts, authority, host_twins, normalize, parts

MAX_COOKIES: Final = 20
"""Per host. Browsers accept 50 and more of 4 KB each; no server accepts that much in a request."""

MAX_COOKIE_SIZE: Final = 1024

_MAX_REDIRECTS: Final = 16  # redirects whose cookies are remembered
_COOKIE_TEXT: Final = re.compile(r"[\x20-\x3a\x3c-\x7e]+")  # without the ";" that ends a cookie
_SECONDS: Final = re.compile(r"-?[0-9]{1,12}")


@dataclass(frozen=True, slots=True)
class Cookie:
    """A cookie and its scope."""

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
        """True if the cookie is sent to `url`."""
        if self.secure and url.scheme != "https":
            return False
        if self.expires is not None and self.expires <= now:
            return False
        if url.host != self.domain and not (self.subdomains and url.host.endswith("." + self.domain)):
            return False
        folder = self.path if self.path.endswith("/") else self.path + "/"
        return url.path == self.path or url.path.startswith(folder)


class SiteCookies:
    """Cookies without which a host redirects in a circle, each for the host and port that set it.

    The Domain attribute never widens that.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._from_redirects: dict[str, list[str]] = {}
        self._accepted: dict[str, dict[tuple[str, str], Cookie]] = {}

    def __bool__(self) -> bool:
        return bool(self._accepted)

    def remember(self, url: str, lines: list[str]) -> None:
        """Remembers the Set-Cookie lines of a redirect, in case it is part of a circle."""
        self._from_redirects.pop(url, None)
        self._from_redirects[url] = lines
        if len(self._from_redirects) > _MAX_REDIRECTS:
            del self._from_redirects[next(iter(self._from_redirects))]

    def accept(self, circle: Iterable[str]) -> bool:
        """Accepts the cookies of a circle of redirects. False if there are none, so that a retry is pointless."""
        found = [(url, lines) for url in circle if (lines := self._from_redirects.pop(url, None))]
        for url, lines in found:
            cookies = self._accepted.setdefault(authority(url), {})
            for cookie in self._read(url, lines):
                if len(cookies) < MAX_COOKIES:
                    cookies[cookie.name, cookie.path] = cookie
        return bool(found)

    def update(self, url: str, lines: list[str]) -> None:
        """Updates accepted cookies: that of a session may change with every response."""
        cookies = self._accepted.get(authority(url), {})
        for cookie in self._read(url, lines):
            if (key := (cookie.name, cookie.path)) in cookies:
                cookies[key] = cookie

    def add_to(self, headers: dict[str, str], url: str) -> dict[str, str]:
        """Adds the accepted cookies to the user's headers; they replace the user's cookies of the same name."""
        now, target = self._clock.now().timestamp(), parts(url)
        cookies = [each for each in self._accepted.get(authority(url), {}).values() if each.belongs_to(target, now)]
        if not cookies:
            return headers
        header = next((name for name in headers if name.lower() == "cookie"), "Cookie")
        names = {cookie.name for cookie in cookies}
        mine = [text for text in headers.get(header, "").split("; ") if text and text.partition("=")[0] not in names]
        longest_path_first = sorted(cookies, key=lambda cookie: -len(cookie.path))
        return headers | {header: "; ".join([*mine, *(cookie.text for cookie in longest_path_first)])}

    def _read(self, url: str, lines: Sequence[str]) -> list[Cookie]:
        found = parts(url)
        read = (_parse_set_cookie(line, found, self._clock.now().timestamp()) for line in lines)
        return [cookie for cookie in read if cookie is not None]


def _parse_set_cookie(line: str, url: Parts, now: float) -> Cookie | None:
    """Parses a Set-Cookie header by RFC 6265; None if the cookie is not acceptable."""
    text, *attributes = (part.strip() for part in line.split(";"))
    name, _, value = (part.strip() for part in text.partition("="))
    if not name or len(text) > MAX_COOKIE_SIZE or not _COOKIE_TEXT.fullmatch(text):
        return None
    fields = {key.strip().lower(): to.strip() for key, _, to in (part.partition("=") for part in attributes)}
    domain = fields.get("domain", "").removeprefix(".").lower()
    if domain and url.host != domain and not url.host.endswith("." + domain):
        return None
    path = fields.get("path", "")
    if not path.startswith("/"):
        path = url.path[: max(url.path.rfind("/"), 1)]
    # What came encrypted is never sent in the clear.
    is_secure = "secure" in fields or url.scheme == "https"
    return Cookie(f"{name}={value}", url.host, False, path, is_secure, _expiry(fields, now))


def _expiry(fields: dict[str, str], now: float) -> float | None:
    if _SECONDS.fullmatch(fields.get("max-age", "")):
        return now + int(fields["max-age"])
    try:
        return parsedate_to_datetime(fields["expires"]).timestamp()
    except (KeyError, ValueError, TypeError, OverflowError, IndexError):
        return None


_TOKEN: Final = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_HEADER_VALUE: Final = re.compile(r"[\t\x20-\x7e\x80-\U0010ffff]*")
# These frame the message. Set by hand they would desynchronise the connection.
_FRAMING: Final = frozenset(
    {"connection", "content-length", "expect", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade"}
)
_COOKIE_HINT: Final = "save the cookies in Netscape format, as curl, wget and browser extensions do (cookies.txt)"


class Credentials:
    """The user's headers, cookies and password, and the hosts that get them."""

    def __init__(self, settings: Settings, start_url: str, *, clock: Clock) -> None:
        self._clock = clock
        self._start = parts(start_url)
        self._hosts = host_twins(self._start.host)
        self._headers = dict(_header(line) for line in settings.header)
        if settings.basic_auth is not None and "authorization" not in {name.lower() for name in self._headers}:
            token = base64.b64encode(settings.basic_auth.encode()).decode("ascii")
            self._headers["Authorization"] = f"Basic {token}"
        self._cookies = _load_cookies(settings.cookie_file) if settings.cookie_file is not None else ()

    def headers_for(self, url: str) -> dict[str, str]:
        """The headers for a request to `url`; empty for other hosts."""
        if not (self._headers or self._cookies):
            return {}
        target = parts(url)
        if not self._trusts(target):
            return {}
        headers = dict(self._headers)
        now = self._clock.now().timestamp()
        cookies = [cookie.text for cookie in self._cookies if cookie.belongs_to(target, now)]
        if cookies:
            name = next((name for name in headers if name.lower() == "cookie"), "Cookie")
            headers[name] = "; ".join([headers[name], *cookies] if name in headers else cookies)
        return headers

    def _trusts(self, target: Parts) -> bool:
        if target.host not in self._hosts:
            return False
        if self._start.scheme == "https" and target.scheme != "https":
            return False  # What was meant for an encrypted connection is never sent in the clear.
        return target.port == self._start.port


def _header(line: str) -> tuple[str, str]:
    name, _, value = (part.strip() for part in line.partition(":"))
    if not _TOKEN.fullmatch(name) or not _HEADER_VALUE.fullmatch(value):
        raise UsageError(f"cannot send the header {printable(line)}", hint="give it as 'Name: value', in plain text")
    if name.lower() in _FRAMING:
        raise UsageError(f"the header {name} cannot be set", hint="it is part of how HTTP itself works; leave it out")
    return name, value


def _load_cookies(path: Path) -> tuple[Cookie, ...]:
    # The standard library's reader prints a traceback for a bad line, and refuses files that curl accepts.
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except OSError as error:
        raise UsageError(f"cannot read the cookie file {path}: {error.strerror}", hint="check --cookie-file") from None
    except UnicodeDecodeError:
        raise UsageError(f"{path} is not a cookie file: not text", hint=_COOKIE_HINT) from None
    found = []
    for number, line in enumerate(lines, 1):
        line = line.removeprefix("#HttpOnly_")
        if not line.strip() or line.startswith("#"):
            continue
        cookie = _parse_netscape_cookie(line)
        if cookie is None:
            raise UsageError(f"{path} is not a cookie file: line {number}", hint=_COOKIE_HINT)
        found.append(cookie)
    # RFC 6265: longer paths first.
    return tuple(sorted(found, key=lambda cookie: -len(cookie.path)))


def _parse_netscape_cookie(line: str) -> Cookie | None:
    fields = line.split("\t")
    if len(fields) == 6:
        fields.append("")  # Some writers leave the last tab of an empty value out.
    if len(fields) != 7 or not _HEADER_VALUE.fullmatch(line):
        return None
    domain, subdomains, path, secure, expires, name, value = fields
    try:
        until = float(expires or 0)
    except ValueError:
        return None
    return Cookie(
        text=f"{name}={value}" if name else value,
        domain=domain.lstrip(".").lower(),
        subdomains=subdomains.upper() == "TRUE" or domain.startswith("."),
        path=path or "/",
        secure=secure.upper() == "TRUE",
        expires=until or None,  # 0 = until the browser closes
    )


_HINT: Final = "give it as http://host:port or http://user:password@host:port, or 'env'"


@dataclass(frozen=True, slots=True)
class Proxy:
    """One proxy. `url` carries no password; `authorization` is the header that does."""

    url: str
    authorization: str | None = None


class Proxies:
    """The run's proxies by scheme of the target."""

    def __init__(self, settings: Settings) -> None:
        self._obeys_no_proxy = settings.proxy == "env"
        if settings.proxy is None:
            self._by_scheme: dict[str, Proxy] = {}
        elif settings.proxy == "env":
            named = urllib.request.getproxies_environment()
            self._by_scheme = {
                scheme: _proxy(text) for scheme in ("http", "https") if (text := named.get(scheme) or named.get("all"))
            }
        else:
            one = _proxy(settings.proxy)
            self._by_scheme = {"http": one, "https": one}

    @property
    def urls(self) -> frozenset[str]:
        return frozenset(proxy.url for proxy in self._by_scheme.values())

    def for_url(self, url: str) -> Proxy | None:
        """The proxy that a request to `url` goes through; `None` = straight to the site."""
        if not self._by_scheme:
            return None
        target = parts(url)
        if self._obeys_no_proxy and urllib.request.proxy_bypass(target.authority):
            return None
        return self._by_scheme.get(target.scheme)


def _proxy(text: str) -> Proxy:
    text = text.strip()
    try:
        url = ada_url.URL(text if "://" in text else "http://" + text)
    except ValueError:
        raise UsageError("the proxy is not a valid URL", hint=_HINT) from None
    if url.protocol not in ("http:", "https:"):
        raise UsageError(f"a proxy of the kind {url.protocol} cannot be used", hint=_HINT)
    authorization = None
    if url.username or url.password:
        pair = f"{unquote(url.username)}:{unquote(url.password)}"
        authorization = "Basic " + base64.b64encode(pair.encode()).decode("ascii")
    try:
        return Proxy(normalize(f"{url.protocol}//{url.host}/"), authorization)
    except InvalidUrl as error:
        raise UsageError(f"the proxy is not a valid URL: {error}", hint=_HINT) from None


class Trust:
    """One TLS context for a run or several. Raises `UsageError` at once for an unusable `ca_file`."""

    def __init__(self, ca_file: Path | None) -> None:
        self._context = _context(ca_file) if ca_file is not None else None

    @property
    def context(self) -> ssl.SSLContext:
        if self._context is None:
            self._context = _context(None)
        return self._context


def _context(ca_file: Path | None) -> ssl.SSLContext:
    context = ssl.create_default_context()
    context.set_alpn_protocols(["http/1.1"])
    if ca_file is None:
        return context
    try:
        context.load_verify_locations(cafile=ca_file)
    except ssl.SSLError:
        hint = "--ca-file takes a PEM file (-----BEGIN CERTIFICATE-----)"
        raise UsageError(f"{ca_file} holds no certificate", hint=hint) from None
    except OSError as error:
        raise UsageError(f"cannot read {ca_file}: {error.strerror}", hint="check --ca-file") from None
    return context
