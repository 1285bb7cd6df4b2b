"""What every generator is made of here: where it comes from, the job that it is given, and how a page is addressed."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

from markdown_it.tree import SyntaxTreeNode

from bench.peers import Environment
from bench.program import DidNotWork

_LONGEST: Final = 600.0  # seconds


@dataclass(frozen=True, slots=True)
class Modules:
    """Packages from npm, pinned. The first of them is the generator."""

    name: str
    packages: tuple[str, ...]

    def folder(self, home: Path) -> Path:
        return home / self.name / "node_modules"

    def version(self) -> str:
        return self.packages[0].rpartition("@")[2]

    @property
    def _wanted(self) -> str:
        return " ".join(self.packages) + "\n"

    def missing(self, home: Path) -> str | None:
        """Why it cannot be used."""
        if shutil.which("node") is None:
            return "not installed: node"
        stamp = home / self.name / "installed"
        if stamp.exists() and stamp.read_text() == self._wanted:
            return None
        return "not installed: python -m bench.quality.roundtrip --install"

    def install(self, home: Path) -> str | None:
        """Makes the folder anew; the reason, if that did not work."""
        folder = home / self.name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        command = ["npm", "install", "--no-audit", "--no-fund", "--prefix", str(folder), *self.packages]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        if done.returncode == 0:
            (folder / "installed").write_text(self._wanted)
            return None
        return f"could not be installed: {done.stderr.strip()[-200:]}"


class Dialect(Protocol):
    """Writes a page's source as a generator wants it."""

    def page(self, tree: SyntaxTreeNode) -> str: ...


@dataclass(frozen=True, slots=True)
class Job:
    """What is to be built: sources by name, an empty folder to work in, where the site goes and what its address is."""

    sources: Mapping[str, str]
    pictures: Mapping[str, bytes]
    work: Path
    site: Path
    base: str
    home: Path

    def write(self, name: str, text: str) -> None:
        path = self.work / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def write_pictures(self, folder: Path) -> None:
        for name, body in self.pictures.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(body)

    def use(self, modules: Modules) -> Path:
        """Has the packages at hand where the site is built; the folder that they are in."""
        folder = modules.folder(self.home)
        (self.work / "node_modules").symlink_to(folder, target_is_directory=True)
        return folder

    def run(self, *command: str | Path, environment: Mapping[str, str] | None = None) -> None:
        done = subprocess.run(
            [str(word) for word in command],
            cwd=self.work,
            env={**os.environ, **(environment or {})},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=_LONGEST,
        )
        if done.returncode:
            raise DidNotWork(f"{command[0]} ended with {done.returncode}:\n{(done.stdout + done.stderr)[-3000:]}")


@dataclass(frozen=True, slots=True)
class Generator:
    """One of them, with one theme."""

    name: str
    needs: tuple[Environment | Modules, ...]
    dialect: Callable[[], Dialect]
    build: Callable[[Job], None]
    address: Callable[[str], str]  # of a page, below the site's
    command: str  # of sitemirror's: `mirror` where there is a sitemap, else `crawl`

    def missing(self, home: Path) -> str | None:
        """Why it cannot be used."""
        return next((reason for need in self.needs if (reason := need.missing(home))), None)
