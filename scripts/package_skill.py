#!/usr/bin/env python3
"""Checks that the skill's folder is complete and packs it: `scripts/package_skill.py [--check]` writes dist/NAME.zip.

The archive is the same for the same content. Needs nothing but Python, so it runs before anything is installed.
"""

from __future__ import annotations

import argparse
import re
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[1]
SKILL: Final = ROOT / "skills" / "sitemap-to-markdown"

ALLOWED: Final = re.compile(r"SKILL\.md|LICENSE|scripts/[a-z_]+\.py|references/[a-z-]+\.md")
MAX_BYTES: Final = 100_000
"""A skill is loaded by every agent that has it; code and data belong in the package."""

MAX_LINES: Final = 500
"""Of SKILL.md, as the skill specification recommends."""

_FRONT_MATTER: Final = re.compile(r"---\n(.*?\n)---\n", re.S)
_REFERENCE: Final = re.compile(r"(?<![\w/.-])((?:scripts|references|assets)/[\w./-]*\w)|\]\(([^)#:\s]+)\)")
_EPOCH: Final = (1980, 1, 1, 0, 0, 0)


def problems(skill: Path) -> Iterator[str]:
    """What keeps the folder from being a skill that works on its own."""
    manual = skill / "SKILL.md"
    if not manual.is_file():
        yield "SKILL.md is missing"
        return
    yield from _manual_problems(skill, manual.read_text(encoding="utf-8"))
    total = 0
    for path, name in _contents(skill):
        if path.is_symlink():
            yield f"{name} is a symlink"
        elif not ALLOWED.fullmatch(name):
            yield f"{name} does not belong into a skill"
        else:
            total += path.stat().st_size
            if path.suffix == ".py":
                yield from _script_problems(name, path.read_text(encoding="utf-8"))
    if not any((skill / "scripts").glob("*.py")):
        yield "it has no script"
    if total > MAX_BYTES:
        yield f"it has {total} bytes, more than {MAX_BYTES}"


def pack(skill: Path, target: Path) -> Path:
    """Writes the archive, with the skill's folder as its only top entry."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, name in _contents(skill):
            entry = zipfile.ZipInfo(f"{skill.name}/{name}", _EPOCH)
            entry.external_attr = (0o755 if path.suffix == ".py" else 0o644) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, path.read_bytes())
    return target


def _contents(skill: Path) -> list[tuple[Path, str]]:
    # What Python leaves behind when a script is run is nobody's mistake.
    found = (
        path for path in skill.rglob("*") if (path.is_symlink() or path.is_file()) and "__pycache__" not in path.parts
    )
    return sorted((path, path.relative_to(skill).as_posix()) for path in found)


def _manual_problems(skill: Path, text: str) -> Iterator[str]:
    front = _FRONT_MATTER.match(text)
    if front is None:
        yield "SKILL.md has no front matter"
        return
    fields = dict(line.split(": ", 1) for line in front[1].splitlines() if re.match(r"[a-z-]+: ", line))
    if fields.get("name") != skill.name:
        yield f"SKILL.md calls it {fields.get('name')}, its folder {skill.name}"
    if not 50 <= len(fields.get("description", "")) <= 1024:
        yield "SKILL.md's description must have 50 to 1024 characters: agents choose by it"
    if text.count("\n") > MAX_LINES:
        yield f"SKILL.md has more than {MAX_LINES} lines"
    for match in _REFERENCE.finditer(text, front.end()):
        name = match[1] or match[2]
        if not (skill / name).is_file():
            yield f"SKILL.md names {name}, which is not there"


def _script_problems(name: str, source: str) -> Iterator[str]:
    try:
        compile(source, name, "exec")
    except SyntaxError as error:
        yield f"{name} is not valid Python: {error}"


def main() -> int:
    """1 when the folder is not fit to be packed."""
    parser = argparse.ArgumentParser(description="Check the skill's folder and pack it.")
    parser.add_argument("--check", action="store_true", help="only check")
    parser.add_argument("--output", type=Path, default=ROOT / "dist", metavar="DIR", help="where the archive goes")
    options = parser.parse_args()
    found = list(problems(SKILL))
    for problem in found:
        print(f"error: {problem}", file=sys.stderr)
    if found:
        return 1
    if options.check:
        print(f"{SKILL.name} is complete")
    else:
        print(pack(SKILL, options.output / f"{SKILL.name}.zip"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
