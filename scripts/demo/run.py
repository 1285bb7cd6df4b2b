"""What `scripts/mirror` does without arguments: mirrors the demo site and shows what came out of it."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from serve import DemoSite

# The same port each time, if it is free, so that a second demo finds the folder of the first.
PORT: Final = 8642
OUTPUT: Final = Path("output")
SHOWN: Final = "guide/retries/index.md"


def main() -> int:
    """Exit code of the run that was shown."""
    try:
        site = DemoSite(PORT)
    except OSError:
        site = DemoSite()
    with site:
        command = ["mirror", site.url, "--rate-limit", "0", "--update", "--output", str(OUTPUT)]
        print(f"The demo site is at {site.url}\n$ sitemirror {' '.join(command)}\n", file=sys.stderr, flush=True)
        # Ctrl+C is the program's to answer; this process only waits for it.
        signal.signal(signal.SIGINT, lambda number, frame: None)
        done = subprocess.Popen([sys.executable, "-m", "sitemirror", *command], stdout=subprocess.PIPE)
        answer = done.communicate()[0].decode("utf-8", "replace")
    sys.stderr.flush()
    if done.returncode != 0:
        sys.stdout.write(answer)
        return done.returncode
    folder = OUTPUT / site.url.removeprefix("http://").replace(":", "_")
    show(answer, folder)
    return 0


def show(answer: str, folder: Path) -> None:
    """The program's answer, the tree and one page."""
    _title("What the program printed")
    print(json.dumps(json.loads(answer), indent=2, ensure_ascii=False))
    _title("What is on disk")
    print(f"{folder.as_posix()}/")
    for line in tree(folder):
        print(line)
    page = folder / SHOWN
    _title(f"One page: {page.as_posix()}")
    print(page.read_text(encoding="utf-8").rstrip())
    print(f"\nThe contents of the mirror: {folder.as_posix()}/_index.md")
    print("The same for a real site: scripts/mirror https://docs.example.com")


def tree(folder: Path, indent: str = "") -> Iterator[str]:
    """One line a file or folder, the tool's own files first."""
    entries = sorted(folder.iterdir(), key=lambda entry: (not entry.name.startswith("_"), entry.is_dir(), entry.name))
    for entry in entries:
        last = entry is entries[-1]
        yield f"{indent}{'└── ' if last else '├── '}{entry.name}{'/' if entry.is_dir() else ''}"
        if entry.is_dir() and not entry.is_symlink():
            yield from tree(entry, indent + ("    " if last else "│   "))


def _title(text: str) -> None:
    print(f"\n── {text} {'─' * max(3, 76 - len(text))}", flush=True)


if __name__ == "__main__":
    # A pipe or an old Windows console may not be UTF-8; the demo should still be seen to its end.
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    sys.exit(main())
