"""`python -m sitemirror` is the same program as `sitemirror`."""

from __future__ import annotations

import sys

from sitemirror.cli import main

if __name__ == "__main__":
    sys.exit(main())
