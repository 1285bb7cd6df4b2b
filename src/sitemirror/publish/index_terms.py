"""The mirror index's fixed words. Apart from its format, so that writing an index does not load what checks one."""

from __future__ import annotations

from typing import Final, Literal

SCHEMA_VERSION: Final = 1
TOOL: Final = "mirror-site"
TOOL_VERSION: Final = "1"

FileKind = Literal["page", "asset"]
UrlKind = Literal["page", "asset", "unknown"]
Reason = Literal["non-http(s) scheme", "file-scheme", "out-of-domain", "robots-disallow", "filter-exclude"]
