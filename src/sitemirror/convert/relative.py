"""The link from one file of the mirror to another, in a form that a browser finds on disk."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import quote

# Read the same by every URL parser, in an attribute, in CSS, in a srcset and in Markdown. All else is percent-encoded:
# in the name of a file `?`, `#` and `%` are letters like any other.
_SAFE: Final = "/~@+=:!$"
_PLAIN: Final = re.compile(r"[A-Za-z0-9_.\-/~@+=:!$]++").fullmatch


def relative_link(from_path: str, to_path: str) -> str:
    """The percent-encoded link from the file `from_path` to the file `to_path`, both POSIX paths in one tree."""
    folder = from_path[: from_path.rfind("/") + 1]
    up = ""
    while not to_path.startswith(folder):
        folder = folder[: folder.rfind("/", 0, -1) + 1]
        up += "../"
    below = to_path[len(folder) :]
    link = up + (below if _PLAIN(below) else quote(below, safe=_SAFE))
    # What stands before a colon in the first segment would be taken for a scheme.
    return f"./{link}" if ":" in link.partition("/")[0] else link
