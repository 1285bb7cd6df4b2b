"""Who gets the headers, cookies and passwords a person gave us: the start host and its www twin, nobody else.

Every hop of a redirect asks again, so a site cannot have them sent elsewhere.
"""

from __future__ import annotations

import base64
import re
from pathlib import Path
from typing import Final

from sitemirror.errors import UsageError
from sitemirror.fetch.cookies import Cookie
from sitemirror.fetch.pace import Clock
from sitemirror.settings import Settings
from sitemirror.text import printable
from sitemirror.urls import Parts, host_twins, parts

_TOKEN: Final = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_SENDABLE: Final = re.compile(r"[\t\x20-\x7e\x80-\U0010ffff]*")
# These frame the message. Set by hand they would desynchronise the connection.
_FRAMING: Final = frozenset(
    {"connection", "content-length", "expect", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade"}
)
_COOKIE_HINT: Final = "save the cookies in Netscape format, as curl, wget and browser extensions do (cookies.txt)"


class Credentials:
    """The run's extra headers, cookies and password, and the rule for who may see them."""

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
        """What to send along to `url`; empty for strangers."""
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
    if not _TOKEN.fullmatch(name) or not _SENDABLE.fullmatch(value):
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
        cookie = _cookie(line)
        if cookie is None:
            raise UsageError(f"{path} is not a cookie file: line {number}", hint=_COOKIE_HINT)
        found.append(cookie)
    # RFC 6265: longer paths first.
    return tuple(sorted(found, key=lambda cookie: -len(cookie.path)))


def _cookie(line: str) -> Cookie | None:
    fields = line.split("\t")
    if len(fields) == 6:
        fields.append("")  # Some writers leave the last tab of an empty value out.
    if len(fields) != 7 or not _SENDABLE.fullmatch(line):
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
