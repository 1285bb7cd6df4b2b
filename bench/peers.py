"""Who sitemirror is compared with: how each is got, started, and where it puts a page.

Programs come from Debian; libraries from PyPI, pinned, each in an environment of its own, with a small driver of ours
in `bench/drivers`. `python -m bench.peers` makes the environments; nothing else here downloads anything.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
import venv
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Final

from bench.corpus import Corpus, Page
from bench.kept import Saves, check
from bench.program import run_other
from bench.rounds import Outcome
from bench.server import CorpusServer

HOME: Final = Path("~/.cache/sitemirror-bench").expanduser()
_ROOT: Final = Path(__file__).resolve().parent.parent
_LONGEST: Final = 1800.0  # seconds


@dataclass(frozen=True, slots=True)
class Task:
    """Pages to save: the server that has them, which of them, and how many requests may be in flight."""

    server: CorpusServer
    pages: Corpus
    slots: int
    out: Path

    @property
    def listing(self) -> Path:
        """The URLs, one a line, in a file."""
        path = self.out / "urls.txt"
        if not path.exists():
            path.write_text("".join(f"{url}\n" for url in self.pages.urls(self.server.url)), encoding="utf-8")
        return path

    @property
    def tree(self) -> Path:
        return self.out / "tree"


class Amount(Enum):
    """How much of the corpus a peer is given in a round."""

    WHOLE = "whole"
    SAMPLE = "sample"


@dataclass(frozen=True, slots=True)
class Program:
    """A program that Debian packages under its own name."""

    name: str

    def missing(self, _: Path) -> str | None:
        """Why it cannot be used."""
        return None if shutil.which(self.name) else f"not installed: apt-get install {self.name}"

    def version(self) -> str:
        said = subprocess.run([self.name, "--version"], capture_output=True, text=True, check=False).stdout
        found = re.search(r"\d+\.[\w.-]*", said)
        return found[0] if found else "unknown"


@dataclass(frozen=True, slots=True)
class Environment:
    """Packages from PyPI, pinned. The first of them is the one that is compared."""

    name: str
    packages: tuple[str, ...]

    def python(self, home: Path) -> Path:
        return home / self.name / "bin" / "python"

    def _stamp(self, home: Path) -> Path:
        return home / self.name / "installed"

    @property
    def _wanted(self) -> str:
        return " ".join(self.packages) + "\n"

    def missing(self, home: Path) -> str | None:
        """Why it cannot be used."""
        stamp = self._stamp(home)
        if stamp.exists() and stamp.read_text() == self._wanted:
            return None
        failed = home / f"{self.name}.failed"
        return failed.read_text().strip() if failed.exists() else "not installed: python -m bench.peers"

    def version(self) -> str:
        return self.packages[0].partition("==")[2]

    def install(self, home: Path) -> str | None:
        """Makes the environment anew; the reason, if that did not work."""
        home.mkdir(parents=True, exist_ok=True)
        failed = home / f"{self.name}.failed"
        failed.unlink(missing_ok=True)
        venv.create(home / self.name, clear=True, symlinks=True, with_pip=True)
        command = [str(self.python(home)), "-m", "pip", "install", "-q", "--disable-pip-version-check"]
        done = subprocess.run([*command, *self.packages], capture_output=True, text=True, check=False)
        if done.returncode == 0:
            self._stamp(home).write_text(self._wanted)
            return None
        errors = [line for line in done.stderr.splitlines() if line.startswith("ERROR")]
        failed.write_text(f"could not be installed: {errors[-1] if errors else done.stderr[-200:].strip()}\n")
        return self.missing(home)


@dataclass(frozen=True, slots=True)
class Peer:
    """One of them, at one way of doing the work."""

    name: str
    saves: Saves
    origin: Program | Environment
    command: Callable[[Task, Path], list[str]]
    saved: Callable[[Task, Page], Path]
    amount: Amount = Amount.WHOLE

    @property
    def version(self) -> str:
        return self.origin.version()

    def run(self, task: Task, home: Path) -> Outcome:
        """All pages of the task; raises `DidNotWork` unless they were saved."""
        ended = run_other(
            self.command(task, home),
            timeout=_LONGEST,
            # crawl4ai keeps a folder wherever it runs; what it caches there must not help the next round.
            environment={"PYTHONPATH": str(_ROOT), "CRAWL4_AI_BASE_DIRECTORY": str(task.out)},
        )
        files = {page: self.saved(task, page) for page in task.pages.pages}
        kept = check(self.name, self.saves, task.pages.pages, files)
        seconds = ended.seconds if self.amount is Amount.WHOLE else float(json.loads(ended.stdout)["seconds"])
        return Outcome(len(task.pages), seconds, ended, kept)


def _wget(task: Task, _: Path) -> list[str]:
    options = ("-q", "-x", "--no-config", "--no-proxy", "-P", str(task.tree))
    return ["wget", *options, "-i", str(task.listing)]


def _wget2(task: Task, _: Path) -> list[str]:
    options = ("-q", "-x", "--no-config", "--no-proxy", f"--max-threads={task.slots}", "-P", str(task.tree))
    return ["wget2", *options, "-i", str(task.listing)]


def _httrack(task: Task, _: Path) -> list[str]:
    # -r1: the listed pages alone; the others lift its brakes and keep it from making an index page of its own.
    options = ("-r1", "-q", "-s0", "--disable-security-limits", "-%c0", "-A0", f"-c{task.slots}", "-I0")
    return ["httrack", "-%L", str(task.listing), "-O", str(task.tree), *options]


def _driver(module: str, environment: Environment) -> Callable[[Task, Path], list[str]]:
    def command(task: Task, home: Path) -> list[str]:
        python = str(environment.python(home))
        return [python, "-m", f"bench.drivers.{module}", str(task.listing), str(task.tree), str(task.slots)]

    return command


def _below(folder: str, ending: str = "") -> Callable[[Task, Page], Path]:
    """Where a page is put: below a folder that has the port in its name, or not."""
    return lambda task, page: task.tree / folder.format(port=task.server.port) / f"{page.path}{ending}"


def _as_httrack_names_it(task: Task, page: Page) -> Path:
    return task.tree / f"127.0.0.1_{task.server.port}" / page.path.replace("~", "_")


SCRAPY: Final = Environment("scrapy", ("scrapy==2.19.0", "markdownify==1.2.3"))
CRAWL4AI: Final = Environment("crawl4ai", ("crawl4ai==0.9.5",))
CRAWLEE: Final = Environment("crawlee", ("crawlee==1.11.0",))
# The second is not among what the first asks for, which does not start without it.
TRAFILATURA: Final = Environment("trafilatura", ("trafilatura==2.3.1", "lxml_html_clean==0.4.6"))
ENVIRONMENTS: Final = (SCRAPY, CRAWL4AI, CRAWLEE, TRAFILATURA)

PEERS: Final = (
    Peer("wget", Saves.AS_SENT, Program("wget"), _wget, _below("127.0.0.1:{port}")),
    Peer("wget2", Saves.AS_SENT, Program("wget2"), _wget2, _below("127.0.0.1")),
    Peer("HTTrack", Saves.REWRITTEN, Program("httrack"), _httrack, _as_httrack_names_it),
    Peer("Scrapy", Saves.AS_SENT, SCRAPY, _driver("scrapy_raw", SCRAPY), _below("")),
    Peer("Crawlee", Saves.AS_SENT, CRAWLEE, _driver("crawlee_http", CRAWLEE), _below("")),
    Peer(
        "Scrapy + markdownify",
        Saves.MARKDOWN,
        SCRAPY,
        _driver("scrapy_markdownify", SCRAPY),
        _below("", ".md"),
        Amount.SAMPLE,
    ),
    Peer("crawl4ai", Saves.MARKDOWN, CRAWL4AI, _driver("crawl4ai_http", CRAWL4AI), _below("", ".md"), Amount.SAMPLE),
    Peer(
        "trafilatura",
        Saves.MARKDOWN,
        TRAFILATURA,
        _driver("trafilatura_pages", TRAFILATURA),
        _below("", ".md"),
        Amount.SAMPLE,
    ),
)


def add_home(parser: argparse.ArgumentParser) -> None:
    """The option that says where the environments are."""
    parser.add_argument("--peers", type=Path, default=HOME, help="where peers' environments are (default: %(default)s)")


def main() -> None:
    """Makes what is missing, and tells of each peer whether it can be used."""
    parser = argparse.ArgumentParser(prog="python -m bench.peers", description=__doc__)
    add_home(parser)
    home: Path = parser.parse_args().peers
    for environment in ENVIRONMENTS:
        if environment.missing(home):
            print(f"installing {' '.join(environment.packages)} in {home / environment.name}", file=sys.stderr)
            environment.install(home)
    for peer in PEERS:
        print(f"{peer.name}: {peer.origin.missing(home) or peer.version}")


if __name__ == "__main__":
    main()
