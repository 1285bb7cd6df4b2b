"""Turn exceptions of the network and of aiohttp into reasons; no module above handles them."""

from __future__ import annotations

import errno
import socket
import ssl
from dataclasses import dataclass
from typing import Final

import aiohttp

from sitemirror.fetch.addresses import AddressRefused
from sitemirror.fetch.transport import ConnectionDropped, ParseError
from sitemirror.reasons import Cause, Reason, format_reason
from sitemirror.text import printable

_MAX_LENGTH: Final = 300

_BY_ERRNO: Final = {
    errno.ECONNREFUSED: Reason.CONNECTION_REFUSED,
    errno.ECONNRESET: Reason.CONNECTION_RESET,
    errno.ECONNABORTED: Reason.CONNECTION_RESET,
    errno.EPIPE: Reason.CONNECTION_RESET,
    errno.EHOSTUNREACH: Reason.HOST_UNREACHABLE,
    errno.ENETUNREACH: Reason.NETWORK_UNREACHABLE,
    errno.ETIMEDOUT: Reason.CONNECTION_TIMED_OUT,
    errno.EMFILE: Reason.TOO_MANY_FILES,
    errno.ENFILE: Reason.TOO_MANY_FILES,
    errno.EADDRNOTAVAIL: Reason.NO_SUCH_ADDRESS,
}

_BY_PROXY: Final = {
    Reason.NO_SUCH_HOST: Reason.PROXY_NO_SUCH_HOST,
    Reason.CONNECTION_REFUSED: Reason.PROXY_REFUSED,
    Reason.TLS: Reason.PROXY_TLS,
}


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """The reason of a failed request."""

    cause: Cause
    transient: bool


def diagnose(error: Exception, *, timeout: float) -> Diagnosis:
    """The reason behind `error`, and whether a retry makes sense."""
    cause, transient = _diagnose(error, timeout)
    return Diagnosis(limit_detail(cause, limit=_MAX_LENGTH), transient)


def limit_detail(cause: Cause, *, limit: int) -> Cause:
    """Makes the detail printable and short enough for a text of at most `limit` characters."""
    if cause.detail is None:
        return cause
    room = limit - len(format_reason(cause.reason, ""))
    return cause._replace(detail=printable(cause.detail, limit=room))


def blame_proxy(cause: Cause) -> Cause:
    """The same cause, blamed on the proxy."""
    if cause.reason is Reason.NOT_TLS:
        return Cause(Reason.PROXY_TLS, "wrong version number")
    if reason := _BY_PROXY.get(cause.reason):
        return Cause(reason, cause.detail)
    return Cause(Reason.PROXY_FAILED, cause.text)


def _diagnose(error: Exception, timeout: float) -> tuple[Cause, bool]:
    match error:
        case AddressRefused():
            return error.cause, False
        case aiohttp.ClientConnectorError(os_error=AddressRefused() as refused):
            return refused.cause, False
        case TimeoutError() if error.errno is None:
            return Cause(Reason.TIMED_OUT, f"{timeout:g}"), True
        case aiohttp.ClientConnectorCertificateError():
            return Cause(Reason.TLS, _certificate(error.certificate_error)), False
        case aiohttp.ClientSSLError():
            return _tls(error.os_error), False
        case aiohttp.ClientProxyConnectionError():
            return blame_proxy(_os_error(error.os_error)), True
        case aiohttp.ClientHttpProxyError():
            return blame_proxy(Cause(Reason.HTTP_STATUS, str(error.status))), error.status not in (401, 403, 407)
        case aiohttp.ClientConnectorDNSError() | socket.gaierror():
            return Cause(Reason.NO_SUCH_HOST), True
        case aiohttp.ClientConnectorError():
            return _os_error(error.os_error), True
        case ConnectionDropped() if isinstance(error.__cause__, OSError):
            return _os_error(error.__cause__), True
        case ConnectionDropped() | aiohttp.ServerDisconnectedError():
            return Cause(Reason.CONNECTION_CLOSED), True
        case aiohttp.ClientPayloadError():
            return _payload(error), True
        case aiohttp.ClientResponseError() | ParseError():
            return Cause(Reason.MALFORMED, _parser_message(error.message)), True
        case ssl.SSLError():
            return _tls(error), True
        case aiohttp.InvalidURL():
            return Cause(Reason.INVALID_URL), False
        case OSError():
            return _os_error(error), True
    return Cause(Reason.FETCH_ERROR, type(error).__name__), True


def _payload(error: aiohttp.ClientPayloadError) -> Cause:
    if isinstance(error.__cause__, ConnectionError) or "ConnectionReset" in str(error):
        return Cause(Reason.CONNECTION_RESET)
    if "Not enough data" in str(error):
        return Cause(Reason.BODY_TOO_SHORT)
    return Cause(Reason.MALFORMED, "the body breaks its own framing")


def _os_error(error: OSError) -> Cause:
    if isinstance(error, socket.gaierror):
        return Cause(Reason.NO_SUCH_HOST)
    if isinstance(error, ssl.SSLError):
        return _tls(error)
    if isinstance(error, ConnectionResetError | BrokenPipeError | ConnectionAbortedError):
        return Cause(Reason.CONNECTION_RESET)
    if isinstance(error, ConnectionRefusedError):
        return Cause(Reason.CONNECTION_REFUSED)
    # If several addresses failed for several reasons, there is no errno.
    return Cause(_BY_ERRNO.get(error.errno or 0, Reason.CONNECTION_FAILED))


def _certificate(error: Exception) -> str:
    if isinstance(error, ssl.SSLCertVerificationError):
        return error.verify_message or "certificate not trusted"
    return "certificate not trusted"


def _tls(error: OSError) -> Cause:
    reason = getattr(error, "reason", None)
    if reason == "WRONG_VERSION_NUMBER":
        return Cause(Reason.NOT_TLS)
    named = isinstance(reason, str) and reason
    return Cause(Reason.TLS, named.replace("_", " ").lower() if named else "handshake failed")


def _parser_message(message: str) -> str:
    if message.startswith("Got more than"):
        return "header too long"
    # The parser quotes the offending bytes after a colon or on further lines, and header names in backticks.
    first = message.strip().partition("\n")[0]
    return (first.rstrip(":") if "`" in first else first.partition(":")[0]).lower() or "not HTTP"
