"""Turns what goes wrong on the network into words. No exception of the HTTP library passes this module."""

from __future__ import annotations

import errno
import socket
import ssl
from dataclasses import dataclass
from typing import Final

import aiohttp
from aiohttp.http_exceptions import HttpProcessingError

from sitemirror.fetch.guard import AddressRefused
from sitemirror.fetch.wire import Dropped
from sitemirror.text import printable

_LONGEST: Final = 300

_BY_ERRNO: Final = {
    errno.ECONNREFUSED: "connection refused",
    errno.ECONNRESET: "connection reset",
    errno.ECONNABORTED: "connection reset",
    errno.EPIPE: "connection reset",
    errno.EHOSTUNREACH: "host unreachable",
    errno.ENETUNREACH: "network unreachable",
    errno.ETIMEDOUT: "connection timed out",
    errno.EMFILE: "too many open files",
    errno.ENFILE: "too many open files",
    errno.EADDRNOTAVAIL: "no such address",
}


@dataclass(frozen=True, slots=True)
class Trouble:
    """Why a request came to nothing."""

    reason: str
    transient: bool


def explain(error: Exception, *, timeout: float) -> Trouble:
    """The reason behind `error`, for people, and whether another try makes sense."""
    found = _explain(error, timeout)
    return Trouble(printable(found.reason, limit=_LONGEST), found.transient)


def _explain(error: Exception, timeout: float) -> Trouble:
    match error:
        case AddressRefused():
            return Trouble(str(error), transient=False)
        case aiohttp.ClientConnectorError() if isinstance(error.os_error, AddressRefused):
            return Trouble(str(error.os_error), transient=False)
        case TimeoutError() if error.errno is None:
            return Trouble(f"timed out after {timeout:g} s", transient=True)
        case aiohttp.ClientConnectorCertificateError():
            return Trouble(f"TLS failure: {_certificate(error.certificate_error)}", transient=False)
        case aiohttp.ClientSSLError():
            return Trouble(f"TLS failure: {_tls(error.os_error)}", transient=False)
        case aiohttp.ClientProxyConnectionError():
            return Trouble(f"proxy: {_os_error(error.os_error)}", transient=True)
        case aiohttp.ClientHttpProxyError():
            return Trouble(f"proxy: HTTP {error.status}", transient=error.status not in (401, 403, 407))
        case aiohttp.ClientConnectorDNSError() | socket.gaierror():
            return Trouble("no such host", transient=True)
        case aiohttp.ClientConnectorError():
            return Trouble(_os_error(error.os_error), transient=True)
        case Dropped() if isinstance(error.__cause__, OSError):
            return Trouble(_os_error(error.__cause__), transient=True)
        case Dropped() | aiohttp.ServerDisconnectedError():
            return Trouble("connection closed without an answer", transient=True)
        case aiohttp.ClientPayloadError():
            return _payload(error)
        case aiohttp.ClientResponseError() | HttpProcessingError():
            return Trouble(f"malformed response: {_complaint(error.message)}", transient=True)
        case ssl.SSLError():
            return Trouble(f"TLS failure: {_tls(error)}", transient=True)
        case aiohttp.InvalidURL():
            return Trouble("not a valid URL", transient=False)
        case OSError():
            return Trouble(_os_error(error), transient=True)
    return Trouble(f"could not be fetched: {type(error).__name__}", transient=True)


def _payload(error: aiohttp.ClientPayloadError) -> Trouble:
    if isinstance(error.__cause__, ConnectionError) or "ConnectionReset" in str(error):
        return Trouble("connection reset", transient=True)
    if "Not enough data" in str(error):
        return Trouble("body shorter than announced", transient=True)
    return Trouble("malformed response: the body breaks its own framing", transient=True)


def _os_error(error: OSError) -> str:
    if isinstance(error, socket.gaierror):
        return "no such host"
    if isinstance(error, ssl.SSLError):
        return f"TLS failure: {_tls(error)}"
    if isinstance(error, ConnectionResetError | BrokenPipeError | ConnectionAbortedError):
        return "connection reset"
    if isinstance(error, ConnectionRefusedError):
        return "connection refused"
    # Several addresses failed for several reasons: the number is gone and only a text is left.
    return _BY_ERRNO.get(error.errno or 0, "connection failed")


def _certificate(error: Exception) -> str:
    if isinstance(error, ssl.SSLCertVerificationError):
        return error.verify_message or "certificate not trusted"
    return "certificate not trusted"


def _tls(error: OSError) -> str:
    reason = getattr(error, "reason", None)
    return reason.replace("_", " ").lower() if isinstance(reason, str) and reason else "handshake failed"


def _complaint(message: str) -> str:
    if message.startswith("Got more than"):
        return "header too long"
    # The parser quotes the offending bytes after a colon or on further lines, and names of headers in backticks.
    first = message.strip().partition("\n")[0]
    return (first.rstrip(":") if "`" in first else first.partition(":")[0]).lower() or "not HTTP"
