"""The link from one file of the mirror to another, in a form that a browser finds on disk."""

from __future__ import annotations

from typing import Final
from urllib.parse import quote

# Read the same by every URL parser, in an attribute, in CSS, in a srcset and in Markdown. All else is percent-encoded:
# in the name of a file `?`, `#` and `%` are letters like any other.
_SAFE: Final = "/~@+=:!$"


def relative_link(from_path: str, to_path: str) -> str:
    """The percent-encoded link from the file `from_path` to the file `to_path`, both POSIX paths in one tree."""
    here = from_path.split("/")[:-1]
    there = to_path.split("/")
    shared = 0
    for one, other in zip(here, there[:-1], strict=False):
        if one != other:
            break
        shared += 1
    link = "../" * (len(here) - shared) + quote("/".join(there[shared:]), safe=_SAFE)
    # What stands before a colon in the first segment would be taken for a scheme.
    return f"./{link}" if ":" in link.partition("/")[0] else link
