"""What is kept of an answer, on its way from the network to the disk."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from hashlib import file_digest, sha256
from typing import Final, NamedTuple

import orjson

from sitemirror.errors import OutputError
from sitemirror.model import Failed, Skipped
from sitemirror.run.placeholders import Placeholders
from sitemirror.run.plan import Plan
from sitemirror.run.session import Session
from sitemirror.run.workspace import Workspace
from sitemirror.stopwatch import Stage, Stopwatch
from sitemirror.store import paths
from sitemirror.store.files import Draft, Tree
from sitemirror.store.paths import ENCODING, can_be_written
from sitemirror.store.placement import (
    PROVISIONAL_DIGITS,
    Move,
    Placement,
    finish_moves,
    fold_key,
    html_beside,
    pair,
    start_moves,
)
from sitemirror.store.restore import RESCUED
from sitemirror.store.schema import ASSET, PAGE, Status
from sitemirror.store.url_table import Known, SavedPage, UrlTable
from sitemirror.text import counted
from sitemirror.workers.jobs import ParsedPage


class Asset(NamedTuple):
    """A file that is in place already: it was streamed there."""

    path: str
    wanted: str
    size: int
    sha256: str


class FetchedPage(NamedTuple):
    """An answer, turned into what is kept of it."""

    status: int
    headers: Mapping[str, str]
    content_type: str
    fetched_at: str
    reading: ParsedPage
    html: bytes | None = None  # as received; also a stylesheet's or a drawing's bytes
    asset: Asset | None = None

    @property
    def is_page(self) -> bool:
        return bool(self.reading.digest)


_FOLDERS: Final = 4_000  # that are remembered


class PathAllocator:
    """The paths of one mirror that are free."""

    def __init__(self, tree: Tree, ledger: UrlTable, plan: Plan) -> None:
        self._tree = tree
        self._ledger = ledger
        self._plan = plan
        self._folders: set[str] = set()
        self._promised: set[str] = set()  # places of assets that are on their way

    def place(self, url: str, wanted: str, fold: bytes) -> str:
        """A free path for a new page. Who really owns `wanted` is settled before publishing, when all are known."""
        if self._plan.markdown and self._plan.html:
            is_free = not self._taken(wanted)
        else:
            is_free = not (
                self._blocked_folder(wanted) or wanted in self._promised or self._ledger.is_taken(wanted, fold)
            )
        return wanted if is_free else self.another_place(url, wanted)

    def another_place(self, url: str, wanted: str) -> str:
        """A free path that is not `wanted`."""
        for digits in PROVISIONAL_DIGITS:
            blocked = self._blocked_folder(wanted)
            candidate = (
                paths.moved_folder(wanted, blocked, url, digits)
                if blocked
                else paths.collision_path(wanted, url, digits)
            )
            if not self._taken(candidate):
                return candidate
        raise AssertionError("two URLs with one md5")

    @contextmanager
    def promised(self, path: str) -> Iterator[None]:
        """Nobody else gets the path meanwhile."""
        self._promised.add(path)
        try:
            yield
        finally:
            self._promised.discard(path)

    def names(self, path: str) -> tuple[str, ...]:
        """The names that go together: where both formats are saved, a page has two files, and either may be met."""
        return pair(path) if self._plan.markdown and self._plan.html else (path,)

    def remember_folder(self, path: str) -> None:
        """Remembers the folders above a file that was written: they stay folders while files are in them."""
        if len(self._folders) > _FOLDERS:
            self._folders.clear()
        folder = path
        while (folder := folder.rpartition("/")[0]) and folder not in self._folders:
            self._folders.add(folder)

    def forget_folders(self) -> None:
        """For when a file is taken away, which may have been the last in its folder."""
        self._folders.clear()

    def _taken(self, path: str) -> bool:
        return self._blocked_folder(path) != "" or any(
            self._ledger.is_taken(name, fold_key(name)) or name in self._promised or self._tree.is_folder(name)
            for name in self.names(path)
        )

    def _blocked_folder(self, path: str) -> str:
        """The part of `path` that must be a folder but is another page's file."""
        parts = path.split("/")
        for end in range(1, len(parts)):
            if self._plan.html or parts[end - 1].endswith(".md"):
                folder = "/".join(parts[:end])
                if folder in self._promised or (folder not in self._folders and self._tree.is_file(folder)):
                    return folder
        return ""


class Kept(NamedTuple):
    """Where a page is, and whether it says something else than before: a file that was deleted may be as it was."""

    path: str
    size: int
    changed: bool


_AND: Final = " "  # between the hashes of what was received for a page's Markdown and for its HTML


class _Discarded(Exception):
    """Ends a draft without its file appearing."""


class AssetDraft(NamedTuple):
    """A file on its way to `path`."""

    file: Draft
    path: str
    wanted: str
    watch: Stopwatch

    def write(self, data: bytes) -> None:
        with self.watch.working(Stage.SAVING):
            self.file.write(data)

    def discard(self) -> None:
        """Drops it: what arrived is not the whole."""
        raise _Discarded


class _OnDisk(NamedTuple):
    """A page's files, as they are now."""

    path: str
    wanted: str
    fold: bytes
    size: int
    sha256: str
    received: str
    changed: bool
    local_at: str = ""
    html_path: str | None = None
    html_size: int | None = None
    html_sha256: str | None = None


def _since(known: Known, file: _OnDisk) -> str | None:
    """Since when a page has said what its file says now; None if it has not yet.

    What was another page's twin has said it without a file, so to whoever reads files it is new. Of a file that
    somebody deleted no path is known any more.
    """
    is_its_file = known.path is None or (known.status is Status.SAVED and known.path == file.path)
    return known.changed_at if is_its_file and not file.changed else None


class PageWriter:
    """Writes pages, placeholders and the failure log of one run."""

    def __init__(self, session: Session, space: Workspace, ledger: UrlTable, plan: Plan) -> None:
        self._session = session
        self._plan = plan
        self._space = space
        self._tree = space.tree
        self._ledger = ledger
        self._home = space.home
        self._vacancies = PathAllocator(space.tree, ledger, plan)
        self._absences = Placeholders(space.tree, space.home)
        self._blanks, self._first_blank = 0, ""

    def keep(self, known: Known, taken: FetchedPage, names: Iterable[str] = ()) -> Kept:
        """Saves what was taken of a URL, to which `names` lead. Equal bytes are left alone, but count as seen today."""
        reading = taken.reading
        if not self._plan.one_folder:
            self._space.lock(paths.host_folder(known.url))
        if reading.is_blank:
            self._blanks, self._first_blank = self._blanks + 1, self._first_blank or known.url
        if taken.asset is not None:
            file = self._asset(known, taken.asset)
        elif reading.markdown is not None:
            file = self._main_file(known, reading.markdown, self.wanted(known.url, ".md"), PAGE)
            if taken.html is not None:
                file = self._beside(known, file, taken.html)
        else:
            assert taken.html is not None
            is_page = taken.is_page
            wanted = self.wanted(known.url, ".html") if is_page else self._wanted_asset(known, taken.content_type)
            file = self._main_file(known, taken.html, wanted, PAGE if is_page else ASSET)
            file = file._replace(html_path=file.path, html_size=file.size, html_sha256=file.sha256)
        left = known.path if known.status is Status.SAVED and known.path != file.path else None
        if left is not None:
            self._ledger.within_batch()
            self.begin_removal(left)
        self._ledger.saved(known.id, known.url, self._row(known, file, taken), names)
        if left is not None:
            self._ledger.commit()
            self.finish_removal()
        return Kept(file.path, file.size, file.changed)

    def tell_blanks(self) -> None:
        """Warns, once for the run, of pages that came out empty: nothing else tells them from the others."""
        if self._blanks:
            pages = counted(self._blanks, "page")
            why = "probably rendered by JavaScript, which sitemirror does not run"
            self._session.warn(f"{pages} without text, such as {self._first_blank}: {why}")

    def _row(self, known: Known, file: _OnDisk, taken: FetchedPage) -> SavedPage:
        reading, headers = taken.reading, taken.headers
        return SavedPage(
            path=file.path,
            wanted=file.wanted,
            fold=file.fold,
            size=file.size,
            fetched_at=taken.fetched_at,
            changed_at=_since(known, file) or taken.fetched_at,
            title=reading.title,
            sha256=file.sha256,
            body=reading.digest or None,
            etag=headers.get("etag"),
            last_modified=headers.get("last-modified"),
            content_type=taken.content_type,
            canonical=reading.canonical,
            html_path=file.html_path,
            html_size=file.html_size,
            html_sha256=file.html_sha256,
            received=file.received,
            local_at=file.local_at,
            http_status=taken.status,
            headers=orjson.dumps(dict(headers)).decode() if self._plan.index or self._plan.html else None,
            meta=reading.meta,
            anchors=reading.anchors,
            hidden_texts=reading.hidden_texts,
        )

    def wanted(self, url: str, extension: str) -> str:
        """The path that a page's URL maps to."""
        return f"{self._folder(url)}/{paths.page_path(url, extension)}"

    def _wanted_asset(self, known: Known, content_type: str) -> str:
        folder, url = self._folder(known.url), known.url
        # What has been saved under one of its names stays there, whatever its type is by now.
        names = [f"{folder}/{name}" for name in paths.asset_paths(url)] if known.path else []
        return known.path if known.path in names else f"{folder}/{paths.asset_path(url, content_type)}"

    def can_name(self, url: str) -> bool:
        """Whether this system can write the name of the URL's file."""
        return ENCODING == "utf-8" or can_be_written(paths.page_path(url))

    def _folder(self, url: str) -> str:
        return paths.folder_within(self._home, url) if self._plan.one_folder else paths.host_folder(url)

    def _home_of(self, known: Known, wanted: str, kind: int) -> str | None:
        """The path that a URL's file has already and may keep; None where it needs one.

        A page that is a file of another kind now, or the other way round, has to move: nobody looks for a PDF in an
        `index.html`.
        """
        is_there = known.status is Status.SAVED or known.received == RESCUED
        is_other = known.kind in (PAGE, ASSET) and known.kind != kind and known.path != wanted
        return known.path if is_there and not is_other else None

    def _main_file(self, known: Known, data: bytes, wanted: str, kind: int) -> _OnDisk:
        received, fold = sha256(data).hexdigest(), fold_key(wanted)
        saved_at = self._home_of(known, wanted, kind)
        path = saved_at or self._vacancies.place(known.url, wanted, fold)
        is_meant = path != known.html_path or not self._was_rewritten(known)
        if is_meant and known.sha256 and received == self._before(known) and self._is_intact(path, known.sha256):
            # The bytes on disk may have had their links made local since.
            self._tree.touch(path, self._session.clock.now().timestamp())
            size, local_at = self._size(path), known.local_at or ""
            return _OnDisk(path, wanted, fold, size, known.sha256, received, changed=False, local_at=local_at)
        if saved_at is None:
            self._ledger.make_room(path, fold)
        with self._session.watch.working(Stage.SAVING):
            try:
                self._tree.write(path, data)
            except OutputError:
                # Hardly ever a folder has a page's name, so nobody looks before there is a reason to.
                if saved_at or not self._tree.is_folder(path):
                    raise
                path = self._vacancies.another_place(known.url, wanted)
                self._tree.write(path, data)
        self._vacancies.remember_folder(path)
        return _OnDisk(path, wanted, fold, len(data), received, received, changed=received != self._before(known))

    def _was_rewritten(self, known: Known) -> bool:
        """Whether the links of a page's HTML were made local by an earlier run, where this one keeps every byte."""
        return bool(known.local_at) and not self._session.settings.post_process

    def _is_intact(self, path: str, digest: str) -> bool:
        """Whether a file is there and says what it said when it was written: somebody may have cut or edited it."""
        try:
            return self._tree.exists(path) and sha256(self._tree.read(path)).hexdigest() == digest
        except OutputError:  # Whoever may not read it may be able to replace it.
            return False

    def _size(self, path: str) -> int:
        found = self._tree.stat(path)
        return 0 if found is None else found.st_size

    def _before(self, known: Known) -> str | None:
        """The hash of what was received for the main file last time. In a mirror of both, that of the Markdown."""
        first, _, second = (known.received or "").partition(_AND)
        is_both = self._plan.markdown and self._plan.html and known.html_path not in (None, known.path)
        if is_both and not second:
            return known.sha256
        return first or known.sha256

    def _beside(self, known: Known, file: _OnDisk, html: bytes) -> _OnDisk:
        """The HTML of a page whose Markdown was saved: the same name with another ending."""
        path = html_beside(file.path)
        received = sha256(html).hexdigest()
        received_before = (known.received or "").rpartition(_AND)[2]
        before = known.html_sha256 if received == received_before and known.html_path == path else None
        # A lost state knew how it was received. A file with no link to lead to another file is still as it was then.
        if received_before in ("", RESCUED) and known.html_path == path and self._is_intact(path, received):
            received_before = before = received
        same = before is not None and not self._was_rewritten(known) and self._is_intact(path, before)
        if not same:
            with self._session.watch.working(Stage.SAVING):
                self._tree.write(path, html)
        return file._replace(
            html_path=path,
            html_size=self._size(path),
            html_sha256=before if same else received,
            received=file.received + _AND + received,
            changed=file.changed or received != received_before,
            local_at=(known.local_at or "") if same else "",
        )

    def has(self, path: str) -> bool:
        return self._tree.exists(path)

    def read(self, path: str) -> bytes:
        return self._tree.read(path)

    def in_place(self, known: Known, path: str, content_type: str) -> Asset:
        """An asset that is on disk already."""
        with self._tree.root.joinpath(path).open("rb") as file:
            digest = file_digest(file, "sha256").hexdigest()
        return Asset(path, self._wanted_asset(known, content_type), self._size(path), digest)

    def _asset(self, known: Known, asset: Asset) -> _OnDisk:
        changed = asset.sha256 != (known.received or known.sha256)
        fold = fold_key(asset.wanted)
        return _OnDisk(asset.path, asset.wanted, fold, asset.size, asset.sha256, asset.sha256, changed=changed)

    @contextmanager
    def draft(self, known: Known, content_type: str) -> Iterator[AssetDraft]:
        """A place for an asset that is written as it comes. Nobody else gets the place meanwhile."""
        wanted = self._wanted_asset(known, content_type)
        saved_at = self._home_of(known, wanted, ASSET) if known.status is Status.SAVED else None
        path = saved_at or self._vacancies.place(known.url, wanted, fold_key(wanted))
        if not saved_at and self._tree.is_folder(path):  # which a draft would find out only when it is whole
            path = self._vacancies.another_place(known.url, wanted)
        if not saved_at:
            self._ledger.make_room(path, fold_key(wanted))
        with self._vacancies.promised(path), suppress(_Discarded), self._tree.replace_with(path) as file:
            yield AssetDraft(file, path, wanted, self._session.watch)

    def begin_removal(self, path: str) -> None:
        """Notes, in the batch that makes a URL another name of a page, that its own files are to go."""
        start_moves(self._space.state, [Move(0, path, "")])

    def finish_removal(self) -> None:
        """Takes away what was noted, once that is written down."""
        finish_moves(self._space.state, self._tree)
        self._vacancies.forget_folders()

    def clear_place(self, known: Known) -> None:
        """Removes, after a kill, a page's file that no row tells of: there may be no such page by now."""
        if not self._space.broke_off:
            return
        wanted = self.wanted(known.url, ".md" if self._plan.markdown else ".html")
        if not wanted.startswith(f"{self._home}/"):
            return  # It may be another mirror's.
        for name in self._vacancies.names(wanted):
            if self._tree.is_file(name) and not Placement(self._space.state, self._tree).is_owned(name):
                self._tree.remove(name)
                self._vacancies.forget_folders()

    def renew(self, known: Known) -> None:
        """Sets the mtime of a copy that is current: it says when that was last known."""
        if known.path is not None and known.status is Status.SAVED:
            self._tree.touch(known.path, self._session.clock.now().timestamp())

    def mtime(self, known: Known) -> datetime | None:
        """When a copy was last known to be current; None if it is missing, or cut short, which is as good."""
        found = None if known.path is None else self._tree.stat(known.path)
        if found is None or known.file_size not in (None, found.st_size):
            return None
        if known.html_path is None and known.kind == PAGE and self._plan.markdown and self._plan.html:
            return None
        if known.html_path not in (None, known.path):  # the HTML beside it
            beside = self._tree.stat(known.html_path)
            if beside is None or known.html_size not in (None, beside.st_size):
                return None
        return datetime.fromtimestamp(found.st_mtime, UTC)

    def failed(self, known: Known, failure: Failed) -> list[str]:
        """A line in `_failed.log`, and a placeholder where the page would be looked for. Gives the names it has there.

        Where the URL is only what listed ones lead to, those are what people look for.
        """
        now = self._session.now()
        if known.path is not None and known.status is Status.SAVED:  # A twin of another page has a path, and no file.
            self.log_failure(known, failure.text)
            return [known.url]
        names, attempts = self._names(known), known.attempts + failure.tries
        for url, final_url in names:
            self._absences.failed(url, failure.text, now, attempts=attempts, final_url=final_url)
        return [url for url, _ in names]

    def log_failure(self, known: Known, text: str) -> None:
        """A line in `_failed.log` for a page whose copy stays."""
        self._absences.log(known.url, text, self._session.now())

    def skipped(self, known: Known, skip: Skipped) -> list[str]:
        """A placeholder with what is known of a file that is no page, for each name that was listed: those names."""
        now, names = self._session.now(), self._names(known)
        for url, final_url in names:
            self._absences.skipped(
                url,
                skip.text,
                now,
                content_type=skip.content_type,
                size=skip.size_bytes,
                final_url=final_url,
            )
        return [url for url, _ in names]

    def _names(self, known: Known) -> list[tuple[str, str | None]]:
        """(url, where it leads) for each name under which a URL without a page is told."""
        names = self._ledger.listed_names(known)
        for id, _ in names:
            if id != known.id:
                self._ledger.tried(id)
        return [(url, None if id == known.id else known.url) for id, url in names]

    def forget_placeholder(self, known: Known) -> None:
        """Removes the placeholder of a URL that is no failure any more: one that leads to a failure would be kept."""
        if known.attempts or known.status is Status.SKIPPED or known.size is not None:
            self._absences.forget(known.url)
