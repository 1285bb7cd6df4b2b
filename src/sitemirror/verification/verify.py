"""Check a mirror against its manifest: files, links, and an account of every URL."""

from __future__ import annotations

import os
import posixpath
import re
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from sitemirror import urls
from sitemirror.errors import UsageError
from sitemirror.links.local import contents_links, css_links, html_links, markdown_links
from sitemirror.publish.file_names import CHECKPOINT, CONTENTS, LLMS_TEXT, MANIFEST, MIRROR_INDEX, PROCESSED, STATE
from sitemirror.publish.manifest import (
    Damaged,
    Element,
    FailureRow,
    GoneRow,
    ManifestHeader,
    ManifestUnreadable,
    PageRow,
    SkipRow,
    placeholder_of,
    read_manifest,
)
from sitemirror.publish.report import ProblemKind, RunStatus, VerifiedCounts, VerifyReport
from sitemirror.store import paths
from sitemirror.store.browse import Browser
from sitemirror.store.files import TEMPORARY
from sitemirror.store.lock import LOCK_NAME
from sitemirror.store.reports import HtmlFile, ReadOnlyState, UnreadableState, open_read_only
from sitemirror.store.safe_folders import Kind, is_contained
from sitemirror.text import counted, printable
from sitemirror.verification.files import FileCheck, check_mirror_index, has_local_links
from sitemirror.verification.links import LinkCheck
from sitemirror.verification.report import OnProblem, Problems

_TRACES: Final = (STATE, PROCESSED, CHECKPOINT, LOCK_NAME)
_OUTLINE: Final = re.compile(r"sitemap-\d{8}-\d{6}(?:-\d+)?\.md")
_AS_SENT: Final = ("text/markdown", "text/x-markdown", "text/plain")  # saved unchanged, with the site's own links
_LISTS: Final = {PageRow: "pages", FailureRow: "failures", SkipRow: "skips", GoneRow: "gone", str: "not_reached"}


def verify(folder: Path, on_problem: OnProblem | None = None) -> VerifyReport:
    """Check the mirror in `folder` or those directly below it; `on_problem` gets each problem."""
    started = time.monotonic()
    problems = Problems(on_problem)
    mirrors = list(_mirrors_in(folder))
    if not mirrors:
        raise UsageError(
            f"{folder} is not a mirror: there is no {MANIFEST} in it, nor in a folder in it",
            hint="give the folder of a site, such as output/docs.example.com",
        )
    for mirror in mirrors:
        _MirrorCheck(mirror, problems).run()
    is_wrong = problems.total > 0
    return VerifyReport(
        status=RunStatus.ERROR if is_wrong else RunStatus.OK,
        folder=str(folder),
        complete=problems.complete,
        checked=VerifiedCounts(
            mirrors=len(mirrors),
            urls=problems.urls,
            files=problems.files,
            links=problems.links,
            anchors=problems.anchors,
        ),
        problems_total=problems.total,
        problems=tuple(problems.first),
        elapsed_sec=round(time.monotonic() - started, 3),
        warnings=tuple(problems.warnings),
        error=f"{counted(problems.total, 'problem')} found" if is_wrong else None,
        hint=problems.hint,
    )


def _mirrors_in(folder: Path) -> Iterator[Path]:
    """Yield the folder if it is a mirror, else the mirrors directly below it."""
    below: list[Path] = []
    try:
        what = "" if folder.is_dir() else " is not a folder" if folder.exists() else " does not exist"
        if not what and not _is_mirror(folder):
            below = sorted(folder.iterdir())
    except OSError as error:  # A name that is too long, or a folder that may not be read.
        what = f": {error.strerror}"
    if what:
        raise UsageError(f"{folder}{what}", hint="give the folder of a mirror, such as output/docs.example.com")
    if _is_mirror(folder):
        yield folder
    else:
        yield from (each for each in below if not each.is_symlink() and _is_mirror(each))


def _is_mirror(folder: Path) -> bool:
    return any(os.path.lexists(folder / name) for name in (MANIFEST, *_TRACES)) and folder.is_dir()


def _named_by_neighbours(root: Path, home: str) -> Iterator[str]:
    """Yield the files of neighbouring mirrors: a site's pages may be in the folders of several hosts."""
    for manifest in sorted(root.glob(f"*/{MANIFEST}")):
        host = manifest.parent.name
        if host == home or manifest.is_symlink() or manifest.parent.is_symlink():
            continue
        try:
            for item in read_manifest(manifest):
                named = (item.path, getattr(item, "html_path", None)) if isinstance(item, PageRow | GoneRow) else ()
                yield from (posixpath.normpath(f"{host}/{path}") for path in named if path)
        except (ManifestUnreadable, OSError):
            continue


class _MirrorCheck:
    """The check of one mirror. Paths are POSIX and relative to the output folder."""

    def __init__(self, folder: Path, problems: Problems) -> None:
        real = Path(os.path.realpath(folder))
        self._folder = folder
        self._root = real.parent
        self._home = real.name
        self._problems = problems
        self._browser = Browser(self._root)
        self._files = FileCheck(self._browser, problems, self._where)
        self._links = LinkCheck(self._files, problems, self._where)
        self._account = _UrlAccount(problems)
        self._found: dict[str, Kind] = dict(self._browser.walk(self._home))
        self._named: set[str] = set()
        self._hosts: set[str] = set()  # folders of other hosts that have pages of this mirror
        self._html: dict[str, HtmlFile] = {}
        self._unsure: set[str] = set()  # HTML that may differ from what the site sent
        self._unfinished = False
        self._state_known = False
        self._local_links: bool | None = None
        self._saves_assets = False
        self._complete = False

    def run(self) -> None:
        with self._links:
            self._check()

    def _check(self) -> None:
        unfinished = self._unfinished = self._is_there(LOCK_NAME)
        if unfinished:
            message = "a run is working on this mirror, or was killed: files and URLs may be ahead of the manifest"
            self._problems.add(ProblemKind.UNFINISHED, self._where(self._own(LOCK_NAME)), message)
        if self._is_file(MIRROR_INDEX):
            self._local_links = has_local_links(self._root / self._own(MIRROR_INDEX))
            self._saves_assets = True
        if not unfinished:
            self._read_state()
        if not self._read_manifest():
            return
        self._require(CONTENTS, "the table of contents")
        for name in filter(self._is_file, (CONTENTS, LLMS_TEXT)):
            data = self._files.body(self._own(name), None, None, "")
            self._links.add_links(self._own(name), contents_links(data or b""), self._is_saved)
        self._links.report(self._is_original)
        if self._is_file(MIRROR_INDEX):
            name = self._own(MIRROR_INDEX)
            check_mirror_index(self._root / name, self._home, self._files, self._problems, self._where(name))
        if not unfinished:
            self._compare_urls()
            self._find_orphans()

    # --- the manifest ------------------------------------------------------------------------------------------

    def _read_manifest(self) -> bool:
        where = self._where(self._own(MANIFEST))
        if not self._is_file(MANIFEST):
            kind = self._found.get(self._own(MANIFEST))
            self._problems.complete = False
            message = "is not there: the first run has not ended" if kind is None else f"is {kind.value}"
            self._problems.add(ProblemKind.MANIFEST, where, message)
            return False
        header: ManifestHeader | None = None
        try:
            for item in read_manifest(self._root / self._own(MANIFEST)):
                match item:
                    case ManifestHeader():
                        header = item
                        self._complete = item.complete
                    case Damaged(place):
                        self._problems.add(ProblemKind.MANIFEST, where, f"cannot be understood: {place}")
                    case _:
                        self._check_row(item)
        except (ManifestUnreadable, OSError) as error:
            self._problems.add(ProblemKind.MANIFEST, where, f"cannot be read: {error}")
            return False
        if header is not None:
            self._account.check_header(header, where)
        if not self._complete:
            self._problems.complete = False
            self._problems.warn(f"{self._folder}: the run is not complete; the same command goes on with it")
        return True

    def _check_row(self, row: Element) -> None:
        self._account.add(row)
        if isinstance(row, GoneRow) and row.path:
            path = self._resolve(row.path, row.url)
            if path is not None:  # The user may delete such files: the site has, too.
                stem = path.removesuffix(".md").removesuffix(".html")
                self._named.update((path, f"{stem}.md", f"{stem}.html"))
        elif isinstance(row, PageRow):
            for listed in filter(None, (row.path, row.html_path)):
                path = self._resolve(listed, row.url)
                if path is None:
                    continue
                if path in self._named:
                    self._problems.add(ProblemKind.PATH, self._where(path), "is the file of more than one URL")
                self._named.add(path)
                self._check_page(path, row, is_first=listed is row.path)
        elif (name := placeholder_of(row)) and not isinstance(row, str):
            self._require(name, f"the reason why there is no page of {row.url}")

    def _require(self, name: str, what: str) -> bool:
        """Report a file of the mirror's own if it is missing; False then."""
        if self._is_file(name):
            return True
        if not self._unfinished:  # While a run works, the manifest is behind the files.
            self._problems.add(ProblemKind.MISSING, self._where(self._own(name)), f"{what} is not there")
        return False

    def _resolve(self, listed: str, url: str) -> str | None:
        """Resolve a path of the manifest; report it and return `None` if it leads out of the mirror."""
        path = f"{self._home}/{listed}"
        if listed.startswith("../"):
            path = listed.removeprefix("../")
            try:
                host = paths.host_folder(urls.normalize(url))
            except urls.InvalidUrl:
                host = ""
            if path.startswith(f"{host}/"):
                self._hosts.add(host)
            else:
                path = ""
        if is_contained(path):
            return path
        message = f"is said to be in {printable(listed, limit=300)}, which is not a path inside the mirror"
        self._problems.add(ProblemKind.PATH, url, message)
        return None

    def _check_page(self, path: str, row: PageRow, *, is_first: bool) -> None:
        is_markdown = path.endswith(".md")
        if not is_markdown and not path.endswith(".html"):
            self._saves_assets = True
        known = self._html.get(path)
        size, digest = (row.size_bytes, row.sha256) if is_first else (None, None)
        if not is_first and known is not None:
            size, digest = known.size, known.sha256
        type = row.content_type or ""
        if is_markdown:
            read = None if type in _AS_SENT else markdown_links
        elif not self._is_local(known):
            read = None
        elif type == "text/css" or (not type and path.endswith(".css")):
            read = css_links
        elif type == "image/svg+xml" or (not type and path.endswith(".svg")):
            read = html_links
        else:
            read = html_links if path.endswith(".html") and type not in _AS_SENT else None
        # Beside Markdown, a duplicate may have had other anchors than the HTML that was saved.
        if not is_markdown and (digest is None or (not is_first and known is not None and known.has_twins)):
            self._unsure.add(path)
        by = MANIFEST if is_first or known is None else STATE
        if read is None:
            self._files.compare(path, size, digest, by)
            return
        data = self._files.body(path, size, digest, by)
        if data is not None:
            linked = read(data)
            if path.endswith(".html"):  # An SVG has anchors that are no ids: views of a part of it.
                self._links.add_anchors(path, linked.anchors)
            self._links.add_links(path, linked, self._is_saved)

    def _is_local(self, known: HtmlFile | None) -> bool:
        """True if the file's links were relinked, so that each must lead to a file."""
        if self._state_known:
            return known is not None and known.localized
        return self._complete and self._local_links is not False

    def _is_saved(self, target: str) -> bool:
        if target.startswith(f"{self._home}/"):
            return self._found.get(target) is Kind.FILE
        return self._browser.kind(target) is Kind.FILE

    def _is_original(self, path: str) -> bool:
        """True if a page is HTML unchanged since it was saved, with the anchors that the site gave it."""
        doubtful = path in self._unsure or path in self._files.bad
        return path.endswith(".html") and path in self._named and not doubtful

    # --- the state, and files that the manifest does not name ---------------------------------------------------

    def _read_state(self) -> None:
        """Read what only the state knows: the hashes of HTML beside Markdown, and which files were relinked."""
        if not self._is_file(STATE) or self._is_there(f"{STATE}-wal"):
            return
        try:
            with open_read_only(self._root / self._own(STATE)) as state:
                self._html = {file.path: file for file in state.html_files()}
                self._state_known = True
        except UnreadableState as error:
            self._problems.warn(f"{self._where(self._own(STATE))} cannot be read, and was not compared: {error}")

    def _compare_urls(self) -> None:
        if self._state_known:
            try:
                with open_read_only(self._root / self._own(STATE)) as state:
                    self._account.check_state(state)
            except UnreadableState as error:
                self._problems.warn(f"{self._where(self._own(STATE))} cannot be read to its end: {error}")
        if self._is_file(PROCESSED):
            self._account.check_processed(self._root / self._own(PROCESSED))

    def _find_orphans(self) -> None:
        suspects = {path: kind for path, kind in self._found.items() if self._is_suspect(path)}
        for host in self._hosts - {self._home}:
            if self._browser.kind(f"{host}/{MANIFEST}") is None:  # else it is a mirror of its own
                suspects |= {path: kind for path, kind in self._browser.walk(host) if self._is_suspect(path)}
        if suspects:
            for path in _named_by_neighbours(self._root, self._home):
                suspects.pop(path, None)
        for path, kind in sorted(suspects.items()):
            what = "is a file that no entry of the manifest names" if kind is Kind.FILE else f"is {kind.value}"
            if TEMPORARY.fullmatch(posixpath.basename(path)):
                what = "was left unfinished by a run"
            self._problems.add(ProblemKind.ORPHAN, self._where(path), what)

    def _is_suspect(self, path: str) -> bool:
        """True if a file could be a page or asset and no manifest entry names it."""
        if path in self._named or path in self._files.bad:
            return False
        _, *names = path.split("/")
        first, last = names[0], names[-1]
        if TEMPORARY.fullmatch(last):
            return True
        if any(name.startswith(".") for name in names):  # version control, files of the desktop
            return False
        if (first.startswith("_") and not first.startswith("__") and first != paths.EXTERNAL) or (
            len(names) == 1 and (first == MIRROR_INDEX or _OUTLINE.fullmatch(first))
        ):
            return False
        return self._saves_assets or last.endswith((".md", ".html"))

    # --- names -------------------------------------------------------------------------------------------------

    def _own(self, name: str) -> str:
        return f"{self._home}/{name}"

    def _is_there(self, name: str) -> bool:
        return self._own(name) in self._found

    def _is_file(self, name: str) -> bool:
        return self._found.get(self._own(name)) is Kind.FILE

    def _where(self, path: str) -> str:
        """Return a path that the user can open from the current folder."""
        own = path.removeprefix(f"{self._home}/")
        below = own if own != path else f"../{path}"
        return Path(os.path.normpath(self._folder / below)).as_posix()


class _UrlAccount:
    """The URLs of one manifest, each once. Holds hashes of 16 bytes, so that a million fit into memory."""

    def __init__(self, problems: Problems) -> None:
        self._problems = problems
        self._keys: set[bytes] = set()
        self._excused: set[bytes] = set()  # not in the manifest, and not to be reported for `_processed.txt`
        self._rows: Counter[str] = Counter()

    def add(self, row: Element) -> None:
        """Count a row of the manifest and its URLs."""
        self._rows[_LISTS[type(row)]] += 1
        if isinstance(row, str):
            self._add(row)
            return
        self._add(row.url)
        for alias in row.aliases if isinstance(row, PageRow) else ():
            self._add(alias)

    def _add(self, url: str) -> None:
        key = urls.key(url)
        if key in self._keys:
            self._problems.add(ProblemKind.TWICE, url, "is in the manifest more than once")
        self._keys.add(key)
        self._problems.urls += 1

    def check_header(self, header: ManifestHeader, where: str) -> None:
        """Compare the counts of the header with the lists."""
        counted = {
            "successful": (header.successful, "pages"),
            "failed": (header.failed, "failures"),
            "skipped": (header.skipped, "skips"),
            "not_reached_count": (header.not_reached_count, "not_reached"),
        }
        for name, (number, rows) in counted.items():
            if number != self._rows[rows]:
                self._problems.add(
                    ProblemKind.COUNT, where, f"{name} is {number:,}, but {rows} has {self._rows[rows]:,} entries"
                )
        total = sum(number for number, _ in counted.values())
        if header.total_pages != total:
            self._problems.add(
                ProblemKind.COUNT, where, f"total_pages is {header.total_pages:,}, but its parts add up to {total:,}"
            )

    def check_state(self, state: ReadOnlyState) -> None:
        """Report URLs of the state that are not in the manifest."""
        self._excused.update(state.passed())
        for key, url in state.urls():
            if key not in self._keys:
                self._problems.add(ProblemKind.UNACCOUNTED, url, "is in the working state, but not in the manifest")
                self._excused.add(key)

    def check_processed(self, path: Path) -> None:
        """Report URLs of `_processed.txt` that are not in the manifest. A line counts only with its newline."""
        with path.open("rb") as lines:
            for line in lines:
                url = line.decode("utf-8", "replace").strip()
                if line.endswith(b"\n") and url and not self._knows(url):
                    self._problems.add(ProblemKind.UNACCOUNTED, url, "is in _processed.txt, but not in the manifest")

    def _knows(self, url: str) -> bool:
        key = urls.key(url)
        if key in self._keys or key in self._excused:
            return True
        try:  # The log may be another tool's, which spells URLs its own way.
            key = urls.key(urls.normalize(url))
        except urls.InvalidUrl:
            return False
        return key in self._keys or key in self._excused
