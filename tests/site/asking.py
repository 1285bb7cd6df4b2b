"""Asks the test site without the program's own client, down to the single byte."""

from __future__ import annotations

import http.client
import socket
from contextlib import closing

from tests.site import Site


def ask(site: Site, path: str, *, method: str = "GET", host: str | None = None, **headers: str) -> tuple[int, bytes]:
    """Status and body of one request on a connection of its own."""
    status, body, _ = ask_for_all(site, path, method=method, host=host, **headers)
    return status, body


def ask_for_all(
    site: Site, path: str, *, method: str = "GET", host: str | None = None, **headers: str
) -> tuple[int, bytes, http.client.HTTPMessage]:
    """The same with the headers; `If_None_Match` is the keyword for `If-None-Match`."""
    fields = {name.replace("_", "-"): value for name, value in headers.items()}
    if host is not None:
        fields["Host"] = host
    with closing(http.client.HTTPConnection(site.address, site.port, timeout=5)) as connection:
        connection.request(method, path, headers=fields)
        answer = connection.getresponse()
        return answer.status, answer.read(), answer.headers


def raw_answer(site: Site, path: str, *, limit: int = 1 << 20, seconds: float = 1.0) -> tuple[bytes, str]:
    """Every byte that comes back, and how it ended: "closed", "reset", "silent" or "full" (limit reached)."""
    received = b""
    with socket.create_connection((site.address, site.port), timeout=seconds) as connection:
        connection.sendall(f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        while len(received) < limit:
            try:
                piece = connection.recv(65536)
            except TimeoutError:
                return received, "silent"
            except ConnectionResetError:
                return received, "reset"
            if not piece:
                return received, "closed"
            received += piece
    return received, "full"


def body_of(answer: bytes) -> bytes:
    """What stands after the head of a raw answer."""
    return answer.partition(b"\r\n\r\n")[2]


def length_of(answer: bytes) -> int:
    """The length that a raw answer promises."""
    head = answer.partition(b"\r\n\r\n")[0].lower()
    return int(head.partition(b"content-length: ")[2].partition(b"\r\n")[0])
