"""What an answer means that is no page: where to go instead, nothing new, or a failure."""

from __future__ import annotations

from sitemirror.fetch.exchange import Exchange
from sitemirror.fetch.retry import is_transient
from sitemirror.fetch.trouble import shown
from sitemirror.model import Failed, NotModified, Redirect, Validators
from sitemirror.reasons import Cause, Reason
from sitemirror.text import printable
from sitemirror.urls import InvalidUrl, normalize, without_credentials


def verdict(exchange: Exchange, validators: Validators, at: str, *, tries: int) -> Redirect | NotModified | Failed:
    """What came, at the time `at`, of a request with these validators, after so many tries."""
    url, status = exchange.head.url, exchange.head.status

    def failed(reason: Reason, detail: str | None = str(status), *, transient: bool = False) -> Failed:
        return Failed(url, reason, detail, transient=transient, status=status, tries=tries)

    if status == 304 and validators:
        return NotModified(url, exchange.head.headers, at)
    if status == 206:
        return failed(Reason.PARTIAL_CONTENT, None, transient=True)
    if status not in (301, 302, 303, 307, 308):
        return failed(Reason.HTTP_STATUS, transient=is_transient(status))
    match exchange.locations:
        case [location]:
            pass
        case []:
            return failed(Reason.NO_LOCATION)
        case _:
            return failed(Reason.SEVERAL_LOCATIONS)
    try:
        return Redirect(url, status, normalize(location, base=url))
    except InvalidUrl as error:
        where = printable(without_credentials(location), limit=200)
        return failed(*shown(Cause(Reason.BAD_LOCATION, f"{error}: {where}"), limit=2000)[:2])
