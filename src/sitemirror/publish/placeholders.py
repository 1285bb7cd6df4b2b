"""Write placeholders for failed and skipped URLs, and the lines of `_failed.log`.

A placeholder, `_failed/<hash>.md` or `_skipped/<hash>.md`, has the reason why a URL has no page.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from hashlib import md5
from types import MappingProxyType
from typing import Final

from sitemirror.publish import inline
from sitemirror.reasons import Reason, parse_reason
from sitemirror.text import printable

_ADVICE: Final[Mapping[Reason, str]] = MappingProxyType(
    {Reason.TOO_LARGE: "To save it, run the same command with a larger --max-file-size MB."}
)


def placeholder_name(url: str) -> str:
    """File name of a URL's placeholder: 64 bits, so a million URLs collide once in 30 million mirrors."""
    return md5(url.encode("utf-8", "surrogatepass"), usedforsecurity=False).hexdigest()[:16] + ".md"


def failed_placeholder(*, url: str, error: str, attempts: int, at: str, final_url: str | None = None) -> bytes:
    """Return the placeholder of a failed URL."""
    facts = (
        f"Error: {inline.text(error, limit=500)}",
        f"Attempts: {attempts:,}",
        f"Last tried: {inline.text(at)}",
    )
    ending = "The next run of the same command retries this URL, and deletes this file if it succeeds."
    return _file("failed", url, final_url, facts, ending)


def skipped_placeholder(
    *,
    url: str,
    reason: str,
    at: str,
    content_type: str | None = None,
    size_bytes: int | None = None,
    final_url: str | None = None,
) -> bytes:
    """Return the placeholder of a skipped URL, with type and size if the server sent them."""
    reason_kind = parse_reason(reason).reason
    size = "not known" if size_bytes is None else "1 byte" if size_bytes == 1 else f"{size_bytes:,} bytes"
    facts = (
        f"Reason: {inline.text(reason, limit=500)}",
        f"Content type: {inline.text(content_type, limit=200) if content_type else 'not known'}",
        f"Size: {size}",
        f"Seen: {inline.text(at)}",
    )
    advice = f" {_ADVICE[reason_kind]}" if reason_kind in _ADVICE else ""
    ending = f"This file is not part of the mirror. Open the URL above for the original.{advice}"
    return _file("skipped", url, final_url, facts, ending)


def failed_line(at: str, url: str, error: str) -> bytes:
    """Format a line of `_failed.log`: time, URL and error, separated by tabs, with tabs inside escaped."""
    return f"{printable(at)}\t{printable(url, limit=sys.maxsize)}\t{printable(error)}\n".encode()


def _file(what: str, url: str, final_url: str | None, facts: Iterable[str], ending: str) -> bytes:
    addresses = [f"URL: {inline.autolink(url)}"]
    if final_url and final_url != url:
        addresses.append(f"Redirected to: {inline.autolink(final_url)}")
    items = "".join(f"- {fact}\n" for fact in (*addresses, *facts))
    return f"# Not saved: {what}\n\n{items}\n{ending}\n".encode()
