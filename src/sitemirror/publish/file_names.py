"""Names of the files that a mirror has beside its pages."""

from __future__ import annotations

from typing import Final

STATE: Final = "_state.sqlite3"
MANIFEST: Final = "_manifest.json"
CONTENTS: Final = "_index.md"
LLMS_TEXT: Final = "_llms.txt"
MIRROR_INDEX: Final = "mirror-index.json"
PROCESSED: Final = "_processed.txt"
CHECKPOINT: Final = "_checkpoint.json"
PROGRESS: Final = "_progress.json"
FAILED_LOG: Final = "_failed.log"
SEARCH_INDEX: Final = "_search.sqlite3"
