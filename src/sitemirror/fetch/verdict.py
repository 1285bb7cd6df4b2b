"""What an answer means that is no page: where to go instead, nothing new, or a failure."""

from __future__ import annotations

from sitemirror.fetch.exchange import Exchange
from sitemirror.fetch.retry import is_transient
from sitemirror.model import Failed, NotModified, Redirect, Validators
from sitemirror.text import printable
from sitemirror.urls import InvalidUrl, normalize, without_credentials


def verdict(exchange: Exchange, validators: Validators, at: str, *, tries: int) -> Redirect | NotModified | Failed:
    """What came, at the time `at`, of a request with these validators, after so many tries."""
    url, status = exchange.head.url, exchange.head.status

    def failed(reason: str, *, transient: bool = False) -> Failed:
        return Failed(url, reason, transient=transient, status=status, tries=tries)

    if status == 304 and validators:
        return NotModified(url, exchange.head.headers, at)
    if status == 206:
        return failed("HTTP 206: only a part was sent", transient=True)
    if status not in (301, 302, 303, 307, 308):
        return failed(f"HTTP {status}", transient=is_transient(status))
    match exchange.locations:
        case [location]:
            pass
        case []:
            return failed(f"HTTP {status} without a Location")
        case _:
            return failed(f"HTTP {status} with several Locations")
    try:
        return Redirect(url, status, normalize(location, base=url))
    except InvalidUrl as error:
        shown = printable(without_credentials(location), limit=200)
        return failed(printable(f"redirect that cannot be followed: {error.reason}: {shown}"))
