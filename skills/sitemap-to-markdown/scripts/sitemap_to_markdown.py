#!/usr/bin/env python3
"""The skill's way to `sitemap-to-markdown`: finds sitemirror, hands over the arguments, and does nothing else.

It looks in this Python, then on the PATH, then for the repository that this folder may be a part of. Written so that an
older Python still gets to the message that says what to install.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

COMMAND = "sitemap-to-markdown"
HOW_TO_INSTALL = "python3 -m pip install PATH, with the path of sitemirror's source"


def main() -> int:
    """The exit code of the command, or 1 when there is none to run."""
    arguments = sys.argv[1:]
    if sys.version_info >= (3, 11) and importlib.util.find_spec("sitemirror") is not None:
        from sitemirror.cli import sitemap_to_markdown

        return sitemap_to_markdown()
    installed = shutil.which(COMMAND)
    if installed is not None:
        return run([installed, *arguments])
    python = python_of_the_repository(Path(__file__).resolve())
    if python is not None:
        code = "import sys; from sitemirror.cli import sitemap_to_markdown; sys.exit(sitemap_to_markdown())"
        return run([python, "-c", code, *arguments])
    print(f"{COMMAND}: error: sitemirror is not installed for {sys.executable}", file=sys.stderr)
    print(f"hint: {HOW_TO_INSTALL} (Python 3.11 or newer)", file=sys.stderr)
    return 1


def python_of_the_repository(script: Path) -> str | None:
    """The Python of the checkout around this skill, which `scripts/venv` sets up the first time."""
    for folder in script.parents:
        setup = folder / "scripts" / "venv"
        if setup.is_file() and (folder / "src" / "sitemirror").is_dir() and os.name != "nt":
            made = subprocess.run([str(setup)], stdout=subprocess.PIPE, text=True, check=False)  # noqa: S603
            return made.stdout.strip() or None
    return None


def run(command: list[str]) -> int:
    """Becomes the command, so that signals reach it; on Windows, where that is not possible, waits for it."""
    if os.name != "nt":
        sys.stdout.flush()
        os.execv(command[0], command)  # noqa: S606 - no shell is wanted
    return subprocess.call(command)  # noqa: S603 - the user's own arguments


if __name__ == "__main__":
    sys.exit(main())
