"""Recognises rows of ordinary `<url>` entries in one go: most sitemaps are nothing else, by the ten thousand.

What is recognised here is what the strict reader would make of the same bytes, element by element; whatever is the
least bit unusual is left to it. So the patterns are narrow: they allow nothing that could mean anything else in XML.
"""

from __future__ import annotations

import re
from typing import Final

from sitemirror import urls
from sitemirror.discover.entries import MAX_DATE, MAX_PRIORITY, Stretch

_GAP: Final = r"[ \t\r\n]*+"
_URL: Final = r"[!-%'-;=?-~]"  # every visible ASCII character but & < >
_ENTRY: Final = re.compile(
    rf"<url>{_GAP}<loc>{_GAP}((?:{_URL}++|&amp;)++){_GAP}</loc>{_GAP}"
    rf"(?:<lastmod>{_GAP}([0-9A-Za-z:+.-]{{1,{MAX_DATE}}}+){_GAP}</lastmod>{_GAP})?+"
    rf"(?:<changefreq>{_GAP}[A-Za-z]*+{_GAP}</changefreq>{_GAP})?+"
    rf"(?:<priority>{_GAP}([0-9.]{{1,{MAX_PRIORITY}}}+){_GAP}</priority>{_GAP})?+"
    r"</url>"
)


def stretch(data: bytes) -> Stretch | None:
    """The entries of `data`, if it is nothing but ordinary ones with blanks between them."""
    # One character a byte: whatever is not ASCII fits no pattern.
    found = _ENTRY.split(data.decode("latin-1"))
    if "".join(found[::4]).strip(" \t\r\n"):
        return None
    locs = found[1::4]
    if b"&" in data:
        locs = [loc.replace("&amp;", "&") for loc in locs]
    if not locs or max(map(len, locs)) > urls.MAX_LENGTH:
        return None
    return Stretch(locs, found[2::4], found[3::4])
