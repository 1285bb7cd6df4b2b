"""Finds the mirrors in a folder, and what those beside a mirror count as theirs."""

from __future__ import annotations

import os
import posixpath
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from sitemirror import urls
from sitemirror.errors import UsageError
from sitemirror.links.local import (
    Linked,
    contents_links,
    css_links,
    html_links,
    is_anywhere,
    markdown_links,
)
from sitemirror.links.markdown import anchors
from sitemirror.links.resolve import linked_path
from sitemirror.publish.file_names import CHECKPOINT, CONTENTS, MANIFEST, MIRROR_INDEX, PROCESSED, STATE
from sitemirror.publish.manifest import (
    Damaged,
    Element,
    GoneRow,
    ManifestHeader,
    ManifestUnreadable,
    PageRow,
    placeholder_of,
    read_manifest,
)
from sitemirror.publish.report import ProblemKind, RunStatus, VerifiedCounts, VerifyReport
from sitemirror.store import paths
from sitemirror.store.browse import Browser
from sitemirror.store.files import TEMPORARY
from sitemirror.store.lock import LOCK_NAME
from sitemirror.store.reports import HtmlFile, NoGlance, glance
from sitemirror.store.safe_folders import Kind, is_contained
from sitemirror.text import counted, printable
from sitemirror.verification.accounts import Accounts
from sitemirror.verification.files import FileCheck
from sitemirror.verification.links import LinkBase
from sitemirror.verification.mirror_index import check_index, makes_links_local
from sitemirror.verification.report import Findings, OnProblem

_TRACES: Final = (STATE, PROCESSED, CHECKPOINT, LOCK_NAME)


def mirrors_in(folder: Path) -> Iterator[Path]:
    """The folder itself if it is a mirror, else those right below it."""
    below: list[Path] = []
    try:
        what = "" if folder.is_dir() else " is not a folder" if folder.exists() else " does not exist"
        if not what and not _is_mirror(folder):
            below = sorted(folder.iterdir())
    except OSError as error:  # A name that is too long, or a folder that may not be looked into.
        what = f": {error.strerror}"
    if what:
        raise UsageError(f"{folder}{what}", hint="give the folder of a mirror, such as output/docs.example.com")
    if _is_mirror(folder):
        yield folder
    else:
        yield from (each for each in below if not each.is_symlink() and _is_mirror(each))


def _is_mirror(folder: Path) -> bool:
    return any(os.path.lexists(folder / name) for name in (MANIFEST, *_TRACES)) and folder.is_dir()


def named_by_neighbours(root: Path, home: str) -> Iterator[str]:
    """Files that other mirrors beside this one count as theirs: a site's pages may lie in several hosts' folders."""
    for manifest in sorted(root.glob(f"*/{MANIFEST}")):
        host = manifest.parent.name
        if host == home or manifest.is_symlink() or manifest.parent.is_symlink():
            continue
        try:
            for item in read_manifest(manifest):
                told = (item.path, getattr(item, "html_path", None)) if isinstance(item, PageRow | GoneRow) else ()
                yield from (posixpath.normpath(f"{host}/{path}") for path in told if path)
        except (ManifestUnreadable, OSError):
            continue


_OUTLINE: Final = re.compile(r"sitemap-\d{8}-\d{6}(?:-\d+)?\.md")
_AS_SENT: Final = ("text/markdown", "text/x-markdown", "text/plain")  # kept as they are, with the site's own links


def verify(folder: Path, on_problem: OnProblem | None = None) -> VerifyReport:
    """Checks the mirror in `folder`, or all mirrors right below it. Problems are told as they are found, if asked."""
    started = time.monotonic()
    findings = Findings(on_problem)
    mirrors = list(mirrors_in(folder))
    if not mirrors:
        raise UsageError(
            f"{folder} is not a mirror: there is no {MANIFEST} in it, nor in a folder in it",
            hint="give the folder of a site, such as output/docs.example.com",
        )
    for mirror in mirrors:
        with LinkBase() as links:
            _Check(mirror, findings, links).run()
    wrong = findings.total > 0
    return VerifyReport(
        status=RunStatus.ERROR if wrong else RunStatus.OK,
        folder=str(folder),
        complete=findings.complete,
        checked=VerifiedCounts(
            mirrors=len(mirrors),
            urls=findings.urls,
            files=findings.files,
            links=findings.links,
            anchors=findings.anchors,
        ),
        problems_total=findings.total,
        problems=tuple(findings.kept),
        elapsed_sec=round(time.monotonic() - started, 3),
        warnings=tuple(findings.warnings),
        error=f"{counted(findings.total, 'problem')} found" if wrong else None,
        hint=findings.hint,
    )


class _Check:
    """One mirror. Paths are POSIX and relative to the folder that holds it, where other hosts' folders are too."""

    def __init__(self, folder: Path, findings: Findings, links: LinkBase) -> None:
        real = Path(os.path.realpath(folder))
        self._folder = folder
        self._root = real.parent
        self._home = real.name
        self._findings = findings
        self._links = links
        self._browser = Browser(self._root)
        self._files = FileCheck(self._browser, findings, self._where)
        self._accounts = Accounts(findings)
        self._found: dict[str, Kind] = dict(self._browser.walk(self._home))
        self._named: set[str] = set()
        self._hosts: set[str] = set()  # folders of other hosts that have pages of this mirror
        self._html: dict[str, HtmlFile] = {}
        self._unsure: set[str] = set()  # HTML of which nobody can say that it is as one page of the site was
        self._unfinished = False
        self._state_known = False
        self._local_links: bool | None = None
        self._saves_assets = False
        self._complete = False

    def run(self) -> None:
        unfinished = self._unfinished = self._is_there(LOCK_NAME)
        if unfinished:
            message = "a run is working on this mirror, or was killed: files and URLs may be ahead of the manifest"
            self._findings.add(ProblemKind.UNFINISHED, self._where(self._own(LOCK_NAME)), message)
        if self._is_file(MIRROR_INDEX):
            self._local_links = makes_links_local(self._root / self._own(MIRROR_INDEX))
            self._saves_assets = True
        if not unfinished:
            self._read_state()
        if not self._read_manifest():
            return
        if not self._is_missed(CONTENTS, "the table of contents"):
            data = self._files.body(self._own(CONTENTS), None, None, "")
            self._follow(self._own(CONTENTS), contents_links(data or b""))
        self._judge_links()
        if self._is_file(MIRROR_INDEX):
            name = self._own(MIRROR_INDEX)
            check_index(self._root / name, self._home, self._files, self._findings, self._where(name))
        if not unfinished:
            self._compare_urls()
            self._find_orphans()

    # --- the manifest ------------------------------------------------------------------------------------------

    def _read_manifest(self) -> bool:
        where = self._where(self._own(MANIFEST))
        if not self._is_file(MANIFEST):
            kind = self._found.get(self._own(MANIFEST))
            self._findings.complete = False
            message = "is not there: the first run has not ended" if kind is None else f"is {kind.value}"
            self._findings.add(ProblemKind.MANIFEST, where, message)
            return False
        header: ManifestHeader | None = None
        try:
            for item in read_manifest(self._root / self._own(MANIFEST)):
                match item:
                    case ManifestHeader():
                        header = item
                        self._complete = item.complete
                    case Damaged(place):
                        self._findings.add(ProblemKind.MANIFEST, where, f"cannot be understood: {place}")
                    case _:
                        self._take(item)
        except (ManifestUnreadable, OSError) as error:
            self._findings.add(ProblemKind.MANIFEST, where, f"cannot be read: {error}")
            return False
        if header is not None:
            self._accounts.check_header(header, where)
        if not self._complete:
            self._findings.complete = False
            self._findings.warn(f"{self._folder}: the run is not complete; the same command goes on with it")
        return True

    def _take(self, row: Element) -> None:
        self._accounts.add(row)
        if isinstance(row, GoneRow) and row.path:
            path = self._inside(row.path, row.url)
            if path is not None:  # A reader may clear such files away: the site has, too.
                stem = path.removesuffix(".md").removesuffix(".html")
                self._named.update((path, f"{stem}.md", f"{stem}.html"))
        elif isinstance(row, PageRow):
            for told in filter(None, (row.path, row.html_path)):
                path = self._inside(told, row.url)
                if path is None:
                    continue
                if path in self._named:
                    self._findings.add(ProblemKind.PATH, self._where(path), "is the file of more than one URL")
                self._named.add(path)
                self._page(path, row, is_first=told is row.path)
        elif (name := placeholder_of(row)) and not isinstance(row, str):
            self._is_missed(name, f"the reason why there is no page of {row.url}")

    def _is_missed(self, name: str, what: str) -> bool:
        """Whether a file for people is not there. While a run works, the manifest is behind the files."""
        if self._is_file(name):
            return False
        if not self._unfinished:
            self._findings.add(ProblemKind.MISSING, self._where(self._own(name)), f"{what} is not there")
        return True

    def _inside(self, told: str, url: str) -> str | None:
        """The path that a manifest tells, if it is one that a mirror can have."""
        path = f"{self._home}/{told}"
        if told.startswith("../"):
            path = told.removeprefix("../")
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
        message = f"is said to be in {printable(told, limit=300)}, which is not a path inside the mirror"
        self._findings.add(ProblemKind.PATH, url, message)
        return None

    def _page(self, path: str, row: PageRow, *, is_first: bool) -> None:
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
        # Beside Markdown, a page that was another's twin may have had other places than the HTML that is kept.
        if not is_markdown and (digest is None or (not is_first and known is not None and known.has_twins)):
            self._unsure.add(path)
        by = MANIFEST if is_first or known is None else STATE
        if read is None:
            self._files.compare(path, size, digest, by)
            return
        data = self._files.body(path, size, digest, by)
        if data is not None:
            linked = read(data)
            if path.endswith(".html"):  # A drawing has places that no id names: views of a part of it.
                self._links.has(path, linked.anchors)
            self._follow(path, linked)

    def _is_local(self, known: HtmlFile | None) -> bool:
        """Whether a file's links are ours: then they must lead somewhere. Links as received are the site's."""
        if self._state_known:
            return known is not None and known.localized
        return self._complete and self._local_links is not False

    # --- links -------------------------------------------------------------------------------------------------

    def _follow(self, source: str, linked: Linked) -> None:
        self._findings.links += len(linked.references)
        for path, fragment in sorted(linked.references):
            target = linked_path(source, path)
            if target is None:
                message = f"links to {path}, which is outside the mirror"
                self._findings.add(ProblemKind.LINK, self._where(source), message)
            elif not self._is_saved(target):
                self._links.dangles(source, target, path)
            elif not is_anywhere(fragment):
                self._findings.anchors += 1
                self._links.wants(source, target, fragment)

    def _is_saved(self, target: str) -> bool:
        if target.startswith(f"{self._home}/"):
            return self._found.get(target) is Kind.FILE
        return self._browser.kind(target) is Kind.FILE

    def _judge_links(self) -> None:
        for source, target, reference in self._links.dangling():
            # That a file is missing has been said.
            if target not in self._files.bad:
                self._findings.add(ProblemKind.LINK, self._where(source), f"links to {reference}, which is not there")
        for path in self._links.unread():
            data = self._files.body(path, None, None, MANIFEST) if path.endswith(".md") else None
            if data is not None:
                self._links.has(path, anchors(data.decode("utf-8", "replace")))
        of_the_site, first = 0, ""
        for source, target, name in self._links.unanchored():
            what = "itself" if source == target else self._where(target)
            if self._is_as_saved(source) and self._is_as_saved(target):
                first = first if of_the_site else f"{self._where(source)} to #{name} in {what}"
                of_the_site += 1
                continue
            self._findings.add(
                ProblemKind.ANCHOR, self._where(source), f"links to #{name} in {what}, where no such place is"
            )
        if of_the_site:
            told = f"{counted(of_the_site, 'link')} to places that the site's own pages lack"
            self._findings.warn(f"{told}, such as from {first}")

    def _is_as_saved(self, path: str) -> bool:
        """Whether a page is HTML that is unchanged since it was saved, and so has the places that the site gave it."""
        doubtful = path in self._unsure or path in self._files.bad
        return path.endswith(".html") and path in self._named and not doubtful

    # --- URLs and files that nobody tells of -------------------------------------------------------------------

    def _read_state(self) -> None:
        """What only the state knows: the hashes of HTML beside Markdown, and whose links are local."""
        if not self._is_file(STATE) or self._is_there(f"{STATE}-wal"):
            return
        try:
            with glance(self._root / self._own(STATE)) as state:
                self._html = {file.path: file for file in state.html_files()}
                self._state_known = True
        except NoGlance as error:
            self._findings.warn(f"{self._where(self._own(STATE))} cannot be read, and was not compared: {error}")

    def _compare_urls(self) -> None:
        if self._state_known:
            try:
                with glance(self._root / self._own(STATE)) as state:
                    self._accounts.check_state(state)
            except NoGlance as error:
                self._findings.warn(f"{self._where(self._own(STATE))} cannot be read to its end: {error}")
        if self._is_file(PROCESSED):
            self._accounts.check_processed(self._root / self._own(PROCESSED))

    def _find_orphans(self) -> None:
        suspects = {path: kind for path, kind in self._found.items() if self._is_suspect(path)}
        for host in self._hosts - {self._home}:
            if self._browser.kind(f"{host}/{MANIFEST}") is None:  # else it is a mirror of its own
                suspects |= {path: kind for path, kind in self._browser.walk(host) if self._is_suspect(path)}
        if suspects:
            for path in named_by_neighbours(self._root, self._home):
                suspects.pop(path, None)
        for path, kind in sorted(suspects.items()):
            what = "is a file that no entry of the manifest names" if kind is Kind.FILE else f"is {kind.value}"
            if TEMPORARY.fullmatch(posixpath.basename(path)):
                what = "was left unfinished by a run"
            self._findings.add(ProblemKind.ORPHAN, self._where(path), what)

    def _is_suspect(self, path: str) -> bool:
        """Whether a file looks like one of a mirror's and is not."""
        if path in self._named or path in self._files.bad:
            return False
        _, *names = path.split("/")
        first, last = names[0], names[-1]
        if TEMPORARY.fullmatch(last):
            return True
        if any(name.startswith(".") for name in names):  # version control, the desktop's own
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
        """A path as the reader can open it from where they are."""
        own = path.removeprefix(f"{self._home}/")
        below = own if own != path else f"../{path}"
        return Path(os.path.normpath(self._folder / below)).as_posix()
