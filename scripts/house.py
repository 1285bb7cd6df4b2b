"""Counts what CONTRIBUTING.md asks of modules, names, docstrings and commits.

The counts are signs, not gates: a script sees neither whether a module is one concept nor whether a name is good. Needs
the standard library alone, and the package for `--trace`.
"""

from __future__ import annotations

import argparse
import ast
import asyncio
import re
import subprocess
import sys
import tempfile
import threading
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import FrameType
from typing import Final

PACKAGE: Final = "sitemirror"
SMALL: Final = 100
LONGEST_SUBJECT: Final = 72
LONGEST_SUMMARY: Final = 100

_BAD_START: Final = re.compile(r"(?:What|Whether|Where)\b")
_MESSAGE_NAME: Final = re.compile(r"(?:^|_)(?:reason|error|message|detail|hint|warning)s?$", re.IGNORECASE)
_PHRASE: Final = re.compile(r"[a-z]{2,},? [a-z]|[a-z]{2,}:? $")
_LIKE: Final = re.compile(r"\b(?:LIKE|GLOB) ")
_TEXT_METHODS: Final = {
    "startswith", "endswith", "removeprefix", "removesuffix", "partition", "rpartition", "split", "find", "index"
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Module:
    """A parsed source file."""

    name: str
    lines: int
    tree: ast.Module
    is_package: bool


@dataclass(slots=True)
class Counts:
    """The counts of one source tree, each with the places behind it."""

    modules: int = 0
    lines: int = 0
    small: list[str] = field(default_factory=list)
    one_importer: list[str] = field(default_factory=list)
    small_with_one_importer: list[str] = field(default_factory=list)
    classes_twice: dict[str, int] = field(default_factory=dict)
    functions_twice: dict[str, int] = field(default_factory=dict)
    message_reads: list[str] = field(default_factory=list)
    bad_starts: list[str] = field(default_factory=list)
    long_summaries: list[str] = field(default_factory=list)


def read_modules(source: Path) -> list[Module]:
    """Parse every module of the package below `source`."""
    modules = []
    for path in sorted((source / PACKAGE).rglob("*.py")):
        parts = path.relative_to(source).with_suffix("").parts
        is_package = parts[-1] == "__init__"
        text = path.read_text(encoding="utf-8")
        name = ".".join(parts[:-1] if is_package else parts)
        modules.append(Module(name, len(text.splitlines()), ast.parse(text), is_package))
    return modules


def count(modules: list[Module]) -> Counts:
    """Count everything that can be seen without running the code."""
    importers = _importers(modules)
    counts = Counts(modules=len(modules), lines=sum(module.lines for module in modules))
    phrases = _phrases(modules)
    classes: defaultdict[str, set[str]] = defaultdict(set)
    functions: defaultdict[str, set[str]] = defaultdict(set)
    for module in modules:
        name = module.name
        if module.lines < SMALL:
            counts.small.append(name)
        if len(importers[name]) == 1:
            counts.one_importer.append(name)
            if module.lines < SMALL and not module.is_package:
                (importer,) = importers[name]
                counts.small_with_one_importer.append(f"{name} ({module.lines} lines, for {importer})")
        for node in module.tree.body:
            if isinstance(node, ast.ClassDef):
                classes[node.name.lstrip("_")].add(name)
            elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not node.name.startswith("_"):
                functions[node.name].add(name)
        counts.message_reads += [f"{name}:{line}" for line in sorted(_message_reads(module.tree, phrases))]
        for place, summary in _summaries(module):
            if _BAD_START.match(summary):
                counts.bad_starts.append(place)
            if len(summary) > LONGEST_SUMMARY:
                counts.long_summaries.append(place)
    counts.classes_twice = {name: len(where) for name, where in classes.items() if len(where) > 1}
    counts.functions_twice = {name: len(where) for name, where in functions.items() if len(where) > 1}
    return counts


def _importers(modules: list[Module]) -> dict[str, set[str]]:
    """Map each module to those that import it, imports for type checkers and inside functions included."""
    known = {module.name for module in modules}
    importers: dict[str, set[str]] = {name: set() for name in known}
    for module in modules:
        for node in ast.walk(module.tree):
            targets: set[str] = set()
            if isinstance(node, ast.Import):
                targets = {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module is not None:
                below = {f"{node.module}.{alias.name}" for alias in node.names}
                # `from package import module` imports the module; any other name comes from the package itself.
                targets = (below & known) or {node.module}
            for target in targets & known - {module.name}:
                importers[target].add(module.name)
    return importers


def _phrases(modules: list[Module]) -> set[str]:
    """Collect the names of module constants that hold English phrases."""
    found = set()
    for module in modules:
        for node in module.tree.body:
            if not isinstance(node, ast.Assign | ast.AnnAssign) or not _is_phrase(node.value):
                continue
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            found |= {target.id for target in targets if isinstance(target, ast.Name)}
    return found


def _is_phrase(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and _PHRASE.search(node.value) is not None


def _message_reads(tree: ast.Module, phrases: set[str]) -> set[int]:
    """Find the lines on which code looks into a message: by SQL, a string method or `in`."""

    def is_message(node: ast.expr) -> bool:
        name = _name_of(node)
        return name is not None and _MESSAGE_NAME.search(name) is not None and not name[0].isupper()

    def is_wording(node: ast.expr) -> bool:
        return _is_phrase(node) or _name_of(node) in phrases

    lines = set()
    docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        match node:
            case ast.Constant(value=str(text)) if _LIKE.search(text) and id(node) not in docstrings:
                lines.add(node.lineno)
            case ast.Call(func=ast.Attribute(value=value, attr=method), args=[wording, *_]) if method in _TEXT_METHODS:
                is_text = isinstance(wording, ast.Constant) and isinstance(wording.value, str)
                if is_wording(wording) or (is_message(value) and (is_text or _name_of(wording) is not None)):
                    lines.add(node.lineno)
            case ast.Compare(left=left, ops=[ast.In() | ast.NotIn()], comparators=[right]):
                is_text = isinstance(left, ast.Constant) and isinstance(left.value, str)
                if is_wording(left) or (is_message(right) and is_text):
                    lines.add(node.lineno)
    return lines


def _name_of(node: ast.expr) -> str | None:
    """Return the last name of `reason`, `found.reason`, `(found.reason or "")`; None for anything else."""
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case ast.BoolOp(values=[first, *_]):
            return _name_of(first)
    return None


def _summaries(module: Module) -> Iterator[tuple[str, str]]:
    """Yield place and first line of each docstring."""
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            text = ast.get_docstring(node)
            if text:
                line = 1 if isinstance(node, ast.Module) else node.lineno
                yield f"{module.name}:{line}", text.partition("\n")[0]


def subjects(root: Path, since: str | None) -> list[str]:
    """Return the subjects of all commits, or of those after `since`."""
    revisions = f"{since}..HEAD" if since else "HEAD"
    command = ["git", "-C", str(root), "log", "--no-merges", "--format=%s", revisions]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()


# A trace of one page ------------------------------------------------------------------------------------------------

PAGES: Final = 14
FIRST, LAST = 3, 12  # Between the requests for these pages the run is in its stride: neither start nor end is counted.
RATE: Final = 3.0  # Slow enough that no worker process is started, whose calls would not be seen.


@dataclass(slots=True)
class Trace:
    """The calls between two requests of a run."""

    recording: bool = False
    functions: set[tuple[str, str]] = field(default_factory=set)
    calls: Counter[tuple[str, str]] = field(default_factory=Counter)
    records: Counter[str] = field(default_factory=Counter)

    def on_call(self, frame: FrameType, event: str, argument: object) -> None:
        """Note a call of the package's code and the module it came from: a profile function."""
        if event != "call" or not self.recording:
            return
        code = frame.f_code
        if code.co_filename == "<string>":  # the constructors of dataclasses and named tuples
            made = type(frame.f_locals["self"]) if "self" in frame.f_locals else frame.f_locals.get("_cls")
            if isinstance(made, type) and made.__module__.startswith(PACKAGE):
                self.records[f"{made.__module__}.{made.__name__}"] += 1
            return
        module = _module(frame)
        if module is None or code.co_name == "<module>":
            return
        if not code.co_name.startswith("<"):
            self.functions.add((module, code.co_qualname))
        caller = _caller(frame)
        if caller is not None and caller != module:
            self.calls[caller, module] += 1


def _module(frame: FrameType) -> str | None:
    name = frame.f_globals.get("__name__")
    return name if isinstance(name, str) and name.partition(".")[0] == PACKAGE else None


def _caller(frame: FrameType) -> str | None:
    """Return the nearest module of the package below a frame; None if the event loop called it."""
    below = frame.f_back
    while below is not None:
        name = below.f_globals.get("__name__") or ""
        if name.startswith(("asyncio", "uvloop", "threading", "concurrent")):
            return None
        module = _module(below)
        if module is not None:
            return module
        below = below.f_back
    return None


def trace_page(source: Path) -> Trace:
    """Mirror a site of like pages with the package below `source` and note what a page in its middle takes."""
    sys.path.insert(0, str(source))
    from sitemirror import mirror

    trace = Trace()
    with tempfile.TemporaryDirectory() as folder, _serve(trace) as url:

        async def run() -> str:
            report = await mirror(url, output=Path(folder) / "out", rate_limit=RATE, concurrency=1)
            return str(report.status)

        threading.setprofile(trace.on_call)
        sys.setprofile(trace.on_call)
        try:
            status = asyncio.run(run())
        finally:
            sys.setprofile(None)
            threading.setprofile(None)
    if status != "ok":
        raise SystemExit(f"the traced run ended as {status}")
    return trace


class _serve:  # noqa: N801 - used as a function
    """A site of like pages on loopback that switches the trace on and off."""

    def __init__(self, trace: Trace) -> None:
        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                if self.path in (f"/page/{FIRST}", f"/page/{LAST}"):
                    trace.recording = self.path == f"/page/{FIRST}"
                kind, body = _resource(self.path, f"http://{self.headers['Host']}")
                self.send_response(200 if body else 404)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(body)

            def do_HEAD(self) -> None:
                self.do_GET()

            def log_message(self, format: str, *args: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True

    def __enter__(self) -> str:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return f"http://127.0.0.1:{self._server.server_address[1]}/"

    def __exit__(self, *exc: object) -> None:
        self._server.shutdown()
        self._server.server_close()


def _resource(path: str, origin: str) -> tuple[str, bytes]:
    if path == "/sitemap.xml":
        rows = "".join(f"<url><loc>{origin}/page/{number}</loc></url>" for number in range(1, PAGES + 1))
        body = f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{rows}</urlset>'
        return "application/xml", body.encode()
    number = path.rpartition("/")[2]
    if not path.startswith("/page/") or not number.isdigit():
        return "text/html", b"<h1>Start</h1>" if path == "/" else b""
    body = f"""<!DOCTYPE html><html lang="en"><head><title>Page {number}</title></head><body>
<nav><ul><li><a href="/">Start</a></li><li><a href="/page/1">One</a></li></ul></nav>
<main><h1>Page {number}</h1><p>This is page {number} of a <em>small</em> site, see <a href="/page/2">the second</a>.</p>
<h2 id="use">Use</h2><ul><li>first</li><li>second</li></ul><pre><code class="language-sh">run {number}</code></pre>
<table><tr><th>name</th><th>value</th></tr><tr><td>number</td><td>{number}</td></tr></table></main>
<footer><p>The end</p></footer></body></html>"""
    return "text/html; charset=utf-8", body.encode()


# Printing -----------------------------------------------------------------------------------------------------------


def print_counts(counts: Counts, lines: list[str], *, with_places: bool) -> None:
    """Print one line a count, and the places of those that are to be looked at."""

    def say(number: int | str, label: str, places: list[str] | None = None) -> None:
        print(f"{number:>8}  {label}")
        for place in places or ():
            print(f"          - {place}")

    def repeated(names: dict[str, int]) -> list[str]:
        return [f"{name} ({times})" for name, times in sorted(names.items(), key=lambda item: (-item[1], item[0]))]

    say(counts.modules, f"modules in src/{PACKAGE}")
    say(counts.lines, f"lines in src/{PACKAGE}")
    say(len(counts.small), f"modules under {SMALL} lines")
    say(len(counts.one_importer), "modules imported by exactly one other")
    say(
        len(counts.small_with_one_importer),
        f"modules under {SMALL} lines with one importer",
        counts.small_with_one_importer,
    )
    places = repeated(counts.classes_twice) if with_places else None
    say(len(counts.classes_twice), "class names in more than one module", places)
    places = repeated(counts.functions_twice) if with_places else None
    say(len(counts.functions_twice), "public function names in more than one module", places)
    places = counts.message_reads if with_places else None
    say(len(counts.message_reads), "places that seem to depend on the words of a message", places)
    places = counts.bad_starts if with_places else None
    say(len(counts.bad_starts), "docstrings that begin with What, Whether or Where", places)
    places = counts.long_summaries if with_places else None
    say(len(counts.long_summaries), f"first docstring lines over {LONGEST_SUMMARY} characters", places)
    long = [line for line in lines if len(line) > LONGEST_SUBJECT]
    say(
        f"{len(long)}/{len(lines)}", f"commit subjects over {LONGEST_SUBJECT} characters", long if with_places else None
    )


def print_trace(trace: Trace, *, with_places: bool) -> None:
    """Print what one page takes, in all and outside `convert`."""
    for label, skipped in (("", None), (" outside convert", f"{PACKAGE}.convert")):

        def counts(module: str, skipped: str | None = skipped) -> bool:
            return skipped is None or not f"{module}.".startswith(f"{skipped}.")

        functions = [(module, name) for module, name in trace.functions if counts(module)]
        calls = [pair for pair in trace.calls if counts(pair[0]) and counts(pair[1])]
        changes = [pair for pair in calls if _package(pair[0]) != _package(pair[1])]
        print(f"{len({module for module, _ in functions}):>8}  modules that one page takes{label}")
        print(f"{len(functions):>8}  functions{label}")
        print(f"{len(calls):>8}  calls from module to module, each pair once{label}")
        print(f"{len(changes):>8}  of them from package to package{label}")
        if with_places:
            for caller, called in sorted(calls):
                print(f"          - {caller} -> {called}")
    records = [name for name, times in trace.records.items() if times >= LAST - FIRST]
    print(f"{len(records):>8}  records made for each page")
    for name in sorted(records):
        print(f"          - {name}")


def _package(module: str) -> str:
    return ".".join(module.split(".")[:2])


def main() -> int:
    """Count, and print what was counted."""
    parser = argparse.ArgumentParser(description="Count what CONTRIBUTING.md asks of modules, names and commits.")
    parser.add_argument("--root", type=Path, default=Path(__file__).parents[1], help="the checkout (default: this one)")
    parser.add_argument("--since", metavar="REVISION", help="only commits after this one (default: all)")
    parser.add_argument("--list", action="store_true", help="show the places behind each count")
    parser.add_argument("--trace", action="store_true", help="mirror a small site and count what one page takes")
    options = parser.parse_args()
    source = options.root / "src"
    counts = count(read_modules(source))
    print_counts(counts, subjects(options.root, options.since), with_places=options.list)
    if options.trace:
        print_trace(trace_page(source.resolve()), with_places=options.list)
    return 0


if __name__ == "__main__":
    sys.exit(main())
