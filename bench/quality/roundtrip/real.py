"""Documentation that others wrote and ship inside their packages: got from PyPI, kept in the cache, not in the repo."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tarfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from bench.peers import Environment
from bench.quality.roundtrip.dialects import Material, Myst
from bench.quality.roundtrip.generators import MKDOCS_SETTINGS, PYTHON_MKDOCS, PYTHON_SPHINX
from bench.quality.roundtrip.jobs import Generator, Job, Modules
from bench.quality.roundtrip.measure import Built
from bench.quality.roundtrip.site import served
from bench.quality.roundtrip.written import from_material, from_myst, plain_fences

_FOLDER: Final = "roundtrip-sources"
_CONF: Final = """\
project = "manual"
extensions = ["myst_parser", "sphinx_copybutton", "sphinx_inline_tabs", "sphinx_design"]
myst_enable_extensions = ["deflist"]
myst_heading_anchors = 3
html_theme = "furo"
"""


@dataclass(frozen=True, slots=True)
class Manual:
    """A package's manual: which one, where it is in the package, how it is read and built."""

    package: str
    version: str
    folder: str
    reads: Callable[[str], str]
    generator: Generator

    @property
    def name(self) -> str:
        return f"{self.package}'s manual"

    @property
    def needs(self) -> tuple[Environment | Modules, ...]:
        return self.generator.needs

    def _archive(self, home: Path) -> Path:
        return home / _FOLDER / f"{self.package}-{self.version}.tar.gz"

    def missing(self, home: Path) -> str | None:
        """Why it cannot be used."""
        if not self._archive(home).exists():
            return "not installed: python -m bench.quality.roundtrip --install"
        return self.generator.missing(home)

    def install(self, home: Path) -> None:
        """Gets the package's source, unless it is there."""
        if self._archive(home).exists():
            return
        target = self._archive(home).parent
        target.mkdir(parents=True, exist_ok=True)
        command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--no-binary", ":all:"]
        wanted = f"{self.package}=={self.version}"
        subprocess.run([*command, "-d", str(target), wanted], capture_output=True, check=False)

    @contextmanager
    def built(self, home: Path) -> Iterator[Built]:
        """The manual as its generator builds it, for as long as the block lasts."""
        with TemporaryDirectory() as scratch:
            folder = Path(scratch).resolve()
            work, site = folder / "work", folder / "site"
            work.mkdir()
            site.mkdir()
            with tarfile.open(self._archive(home)) as archive:
                archive.extractall(folder, filter="data")
            shutil.copytree(folder / f"{self.package}-{self.version}" / self.folder, work / "pages")
            pages = sorted((work / "pages").rglob("*.md"))
            texts: dict[str, str] = {}
            for path in pages:
                text = plain_fences(path.read_text(encoding="utf-8"))
                path.write_text(text, encoding="utf-8")
                texts[path.relative_to(work / "pages").with_suffix("").as_posix()] = text
            with served(site) as base:
                self.generator.build(Job(texts, {}, work, site, base, home))
                yield Built(self.generator, {name: self.reads(text) for name, text in texts.items()}, base, folder)


def _mkdocs(job: Job) -> None:
    job.write("mkdocs.yml", MKDOCS_SETTINGS.format(base=job.base))
    job.run(PYTHON_MKDOCS.python(job.home), "-m", "mkdocs", "-q", "build", "-d", job.site)


def _sphinx(job: Job) -> None:
    job.write("pages/conf.py", _CONF)
    python = PYTHON_SPHINX.python(job.home)
    job.run(python, "-m", "sphinx", "-q", "-b", "html", "-d", job.work / "doctrees", job.work / "pages", job.site)


def _in_folders(name: str) -> str:
    if name == "index":
        return ""
    return f"{name.removesuffix('/index')}/"


_MATERIAL: Final = Generator("MkDocs Material", (PYTHON_MKDOCS,), Material, _mkdocs, _in_folders, "mirror")
_FURO: Final = Generator("Sphinx, Furo", (PYTHON_SPHINX,), Myst, _sphinx, "{}.html".format, "crawl")
MANUALS: Final = (
    Manual("hatch", "1.18.2", "docs", from_material, _MATERIAL),
    Manual("pip", "26.3", "docs/html", from_myst, _FURO),
)
