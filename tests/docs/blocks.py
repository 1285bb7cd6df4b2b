"""Takes the fenced blocks out of the documentation and runs them as a reader would.

Every document has a folder of its own in which its blocks run from top to bottom, so a block may build on an earlier
one. `example.com` and its subdomains are stood in for by the demo site on loopback: `https://docs.example.com` in a
block becomes `http://docs.example.com.localhost:PORT` before it runs, the folder `output/docs.example.com/` likewise,
and what the program prints is turned back before it is compared. `SITEMIRROR_RATE_LIMIT=0` is in the environment, so
commands that give no rate of their own do not take their time. Plain `sitemirror` commands run in this process, which
takes a fifth of the time; everything else is run by `sh`, with the programs in processes of their own.

- `sh`: a script; any failing command fails it.
- `console`: a line that begins with `$ ` is a command, the lines after it are what it prints on both streams. A line
  `…` stands for any lines, `…` inside a line for any text; times, ports of 127.0.0.1 and long hashes are not compared,
  nor are remarks (`  # …`) beside a tree. `exit=N` behind the language is the exit code of its commands.
- `python`: a program.
- `toml`: a configuration file.

A comment before a block changes that: `not run: REASON`, `in a new folder`, or `file: PATH`, which says that the block
is that file (it is compared, not run).
"""

from __future__ import annotations

import io
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from scripts.demo.serve import build
from tests.conftest import carry_out
from tests.site import Site

ROOT: Final = Path(__file__).parents[2]
RUN: Final = (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
PROSE: Final = (
    *RUN,
    ROOT / "CONTRIBUTING.md",
    ROOT / "CHANGELOG.md",
    *sorted((ROOT / "skills").glob("*/*.md")),
)
EMPTY_HOST: Final = "nothing.example.com"

_FENCE: Final = re.compile(r"```(\w*)[ ]*(.*)")
_COMMENT: Final = re.compile(r"<!-- (.*) -->")
_HOST: Final = r"((?:[\w-]+\.)*example\.com)"
_TREE: Final = tuple("├└│")
_LOOSE: Final = (
    (re.compile(r"\d+(?:\\?\.\d+)?(?=(?:\\?\ )(?:s|min)\b)"), r"\\d+(?:\\.\\d+)?"),
    (re.compile(r"(?<=127\\\.0\\\.0\\\.1)([_:])\d+"), r"\1\\d+"),
    (re.compile(r"\b[0-9a-f]{16}\b"), "[0-9a-f]{16}"),
)


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block and the comment before it."""

    file: Path
    line: int
    language: str
    words: str
    text: str
    comment: str

    @property
    def name(self) -> str:
        return f"{self.file.relative_to(ROOT)}:{self.line}"


def blocks(file: Path) -> Iterator[Block]:
    """All fenced blocks of a document."""
    lines = iter(enumerate(file.read_text(encoding="utf-8").splitlines(), 1))
    comment = ""
    for number, line in lines:
        if found := _COMMENT.fullmatch(line):
            comment = found[1]
        elif found := _FENCE.fullmatch(line):
            inside = []
            for _, text in lines:
                if text == "```":
                    break
                inside.append(text)
            else:
                raise AssertionError(f"{file}:{number}: the block has no end")
            yield Block(file, number, found[1], found[2], "\n".join(inside) + "\n", comment)
            comment = ""
        elif line:
            comment = ""


def prose(file: Path) -> str:
    """A document without its blocks."""
    return re.sub(r"(?ms)^```.*?^```$", "", file.read_text(encoding="utf-8"))


def commands(text: str) -> Iterator[tuple[str, list[str]]]:
    """The commands of a console block, each with the lines it prints."""
    command, shown = "", list[str]()
    for line in text.splitlines():
        if line.startswith("$ "):
            if command:
                yield command, shown
            command, shown = line[2:], []
        else:
            shown.append(line)
    yield command, shown


def pattern(shown: list[str]) -> re.Pattern[str]:
    """What a program may print to agree with what a document shows."""
    lines = []
    for line in shown:
        if line == "…":
            lines.append(r"(?:.*\n)*?")
            continue
        if line.startswith(_TREE):
            line = re.sub(r"\s{2,}# .*", "", line)
        escaped = re.escape(line).replace("…", ".*")
        for loose, instead in _LOOSE:
            escaped = loose.sub(instead, escaped)
        lines.append(escaped + r"\n")
    return re.compile("".join(lines))


def simple(line: str) -> list[str] | None:
    """The words of a plain `sitemirror` command, none for an empty line; `None` for what only a shell understands."""
    bare = re.sub(r"'[^']*'", "", line.partition("  #")[0])
    if re.search(r"[\\\"$`|&;<>(){}*?=~]", bare):
        return None
    words = shlex.split(line, comments=True)
    return words if not words or words[0] == "sitemirror" else None


@dataclass(frozen=True, slots=True)
class Done:
    """How a command ended, and what it printed on both streams."""

    code: int
    output: str


class Reader:
    """Somebody who types what a document says, in a folder of their own."""

    def __init__(self, site: Site, home: Path) -> None:
        self.site = site
        self.home = home
        self.folder = home / "work"
        self._bin = home / "bin"
        self._settle(self.folder)
        self._bin.mkdir()
        for name, code in {
            "python": f'exec "{sys.executable}" "$@"',
            "sitemirror": f'exec "{sys.executable}" -m sitemirror "$@"',
            "sitemap-to-markdown": f'exec "{sys.executable}" -c \'import sys, sitemirror.cli as cli;'
            ' sys.exit(cli.sitemap_to_markdown())\' "$@"',
        }.items():
            _executable(self._bin / name, code)

    def open_sites(self, text: str) -> None:
        """Puts the demo site under every host that `text` names."""
        for host in {found[1] for found in re.finditer(rf"https://{_HOST}", text)} - {EMPTY_HOST}:
            local = f"{host}.localhost"
            for path, resource in build(self.site.url_of(local)).items():
                if resource.location is not None:
                    self.site.redirect(path, resource.location, host=local)
                else:
                    self.site.page(path, resource.body, type=resource.kind, etag=resource.etag, host=local)

    def new_folder(self) -> None:
        """Goes on in an empty folder."""
        self.folder = self.home / f"work-{len(list(self.home.iterdir()))}"
        self._settle(self.folder)

    def sh(self, script: str) -> Done:
        """Runs a script to its end or to the first command that fails."""
        script = self.local(script)
        if re.search(r"<<|\\$|^export ", script, re.M):  # What one line says matters to the next.
            return self._sh(script)
        printed = ""
        for line in script.splitlines():
            words = simple(line)
            done = self._sh(line) if words is None else self._here(words[1:]) if words else Done(0, "")
            printed += done.output
            if done.code:
                return Done(done.code, printed)
        return Done(0, printed)

    def python(self, program: str) -> Done:
        return self._run([sys.executable, "-c", self.local(program)])

    def local(self, text: str) -> str:
        """`text` with the hosts as they are on loopback."""
        text = re.sub(rf"https://{_HOST}", rf"http://\1.localhost:{self.site.port}", text)
        return re.sub(rf"(?<=\w/){_HOST}(?=/)", rf"\1.localhost_{self.site.port}", text)

    def shown(self, text: str) -> str:
        """`text` with the hosts as the documents have them."""
        port = self.site.port
        text = re.sub(rf"http://{_HOST}\.localhost:{port}", r"https://\1", text)
        return re.sub(rf"{_HOST}\.localhost(?:[_:]{port})?", r"\1", text)

    def _settle(self, folder: Path) -> None:
        """What a reader has in front of them: the checkout's scripts and examples, files of cookies and sites."""
        folder.mkdir()
        shutil.copytree(ROOT / "examples", folder / "examples", ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copytree(ROOT / "scripts", folder / "scripts", ignore=shutil.ignore_patterns("__pycache__"))
        # The environment is made already, and is not to be changed under running tests.
        _executable(folder / "scripts" / "venv", f'printf "%s\\n" "{sys.executable}"')
        (folder / "sites.txt").write_text(self.local("https://docs.example.com/\n"), encoding="utf-8")
        (folder / "cookies.txt").write_text("wiki.example.com\tFALSE\t/\tFALSE\t0\tsession\tabc\n", encoding="utf-8")

    def _sh(self, script: str) -> Done:
        return self._run(["sh", "-eu", "-c", script])

    def _here(self, arguments: list[str]) -> Done:
        printed = io.StringIO()
        code = carry_out(arguments, self._environment(), self.folder, printed, printed)
        return Done(code, printed.getvalue())

    def _run(self, command: list[str]) -> Done:
        done = subprocess.run(
            command,
            cwd=self.folder,
            env=self._environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
            timeout=50,
            check=False,
        )
        return Done(done.returncode, done.stdout)

    def _environment(self) -> Mapping[str, str]:
        kept = {
            name: value
            for name, value in os.environ.items()
            if not name.upper().startswith(("SITEMIRROR_", "GIT_")) and not name.upper().endswith("_PROXY")
        }
        git = {
            f"GIT_{who}_{what}": "reader@example.com" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")
        }
        return {
            **kept,
            **git,
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_NOSYSTEM": "1",
            "HOME": str(self.home),
            "PATH": f"{self._bin}{os.pathsep}{os.environ['PATH']}",
            "SITEMIRROR_RATE_LIMIT": "0",
            "TERM": "dumb",
            "COLUMNS": "200",
            "PYTHONDONTWRITEBYTECODE": "1",
        }


def _executable(path: Path, code: str) -> None:
    path.write_text(f"#!/bin/sh\n{code}\n", encoding="utf-8")
    path.chmod(0o755)
