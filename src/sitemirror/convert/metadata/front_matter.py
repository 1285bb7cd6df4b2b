"""YAML front matter, with every text as a double-quoted scalar so that no page can break out of it."""

from __future__ import annotations

import json
import re
from typing import Final

from sitemirror.model import Page
from sitemirror.text import UNPRINTABLE

# Valid in JSON strings, but not in YAML. Invisible characters are escaped, too, since people read this block.
_NOT_IN_YAML: Final = re.compile(f"{UNPRINTABLE.pattern}|[\ufffe\uffff]")
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_EMPTY: Final = "---\n---\n"  # A local file may have neither title nor URL.
_URL_LINE: Final = re.compile(rb"^url:[ \t]+(\S.*?)[ \t\r]*$")


def front_matter(page: Page) -> str:
    """The YAML block of `page`: title and url first, then its other metadata."""
    lines = ["---"]
    if page.title:
        lines.append(f"title: {_scalar(page.title)}")
    if page.url:
        lines.append(f"url: {_scalar(page.url)}")
    for name, value in page.metadata.items():
        if name not in ("title", "url") and _NAME.fullmatch(name) and value not in (None, "", [], ()):
            lines.append(f"{name}: {_value(value)}")
    lines.append("---\n")
    return "\n".join(lines)


def with_front_matter(page: Page) -> str:
    """The page as it is saved: front matter (unless empty), a blank line, the Markdown."""
    head = front_matter(page)
    if head == _EMPTY:
        return page.markdown
    return f"{head}\n{page.markdown}" if page.markdown else head


def read_front_matter_url(head: bytes) -> str | None:
    """Read the url from the front matter of a saved file; `None` if it has none."""
    lines = head.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    if lines[0].rstrip() != b"---":
        return None
    # The last line may be truncated, so it is ignored.
    for line in lines[1:-1]:
        if line.rstrip() == b"---":
            return None
        if found := _URL_LINE.match(line):
            return _read_scalar(found[1])
    return None


def _value(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return str(value)
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_scalar(str(item)) for item in value) + "]"
    return _scalar(str(value))


def _scalar(text: str) -> str:
    if text.isascii() and text.isprintable():
        # Nearly every value; no other character needs an escape.
        text = text.replace("\\", "\\\\").replace('"', '\\"')
        return f'"{text}"'
    quoted = json.dumps(text.encode("utf-8", "replace").decode(), ensure_ascii=False)
    return _NOT_IN_YAML.sub(_escape, quoted)


def _escape(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _read_scalar(raw: bytes) -> str | None:
    try:
        text = raw.decode()
        if text.startswith('"'):
            value = json.loads(text)
            return value if isinstance(value, str) and value else None
    except ValueError:
        return None
    if text.startswith("'"):
        # rewritten by an editor
        return text[1:-1].replace("''", "'") or None if len(text) > 1 and text.endswith("'") else None
    return text
