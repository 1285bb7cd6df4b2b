"""Character references, such as `&amp;`, as the characters that they mean."""

from __future__ import annotations

import html
import re
from typing import Final

_TOO_LARGE: Final = re.compile(r"&#[0-9]{1000,}+;?")  # Python reads no number of so many digits, and it means nothing.


def unescape(text: str) -> str:
    """`text` without references, whatever they say."""
    if "&" not in text:
        return text
    return html.unescape(_TOO_LARGE.sub("\ufffd", text))
