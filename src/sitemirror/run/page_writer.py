"""Writes the files of fetched pages and their rows, in batches that a kill cannot tear."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from typing import Final, NamedTuple

import orjson

from sitemirror import failpoint
from sitemirror.errors import OutputError
from sitemirror.events import PageSaved
from sitemirror.run.plan import Plan
from sitemirror.run.session import Session
from sitemirror.run.workspace import Workspace
from sitemirror.stopwatch import Stage, Stopwatch
from sitemirror.store import paths
from sitemirror.store.files import Draft
from sitemirror.store.journal import announce_write, execute, finish_writes, strike_out
from sitemirror.store.path_allocation import PathAllocator, html_beside
from sitemirror.store.paths import ENCODING, can_be_written, path_key
from sitemirror.store.processed_log import ProcessedLog
from sitemirror.store.replaced import NewText, forget, gist_of, keep
from sitemirror.store.tables import ASSET, PAGE, ChangeKind, FileKind, UrlState
from sitemirror.store.url_record import FileRecord, RowChange, UrlRecord, apply_change, note_received
from sitemirror.text import count_words, count_words_of_html, counted, without_front_matter
from sitemirror.workers.jobs import ParsedPage

BATCH: Final = 16
"""Pages per batch: the cost of a kill besides the requests in flight."""

_BATCH_BYTES: Final = 128 << 10

_PAUSE: Final = 0.02
"""Seconds since the last batch after which a page is written at once: only fast pages need batches."""


class _Discarded(Exception):
    """Ends a draft without creating its file."""


class AssetDraft:
    """An asset that is being streamed to disk. Its file appears under its own name with its batch."""

    def __init__(self, file: Draft, path: str, preferred: str, opened: ExitStack, watch: Stopwatch) -> None:
        self.path = path
        self.preferred = preferred
        self.size = 0
        self._file = file
        self._opened = opened
        self._watch = watch
        self._digest = sha256()

    def write(self, data: bytes) -> None:
        """Append a piece."""
        with self._watch.working(Stage.SAVING):
            self._digest.update(data)
            self.size += len(data)
            self._file.write(data)

    @property
    def sha256(self) -> bytes:
        return self._digest.digest()

    def finish(self) -> None:
        """Put the file in place."""
        self._opened.close()

    def discard(self) -> None:
        """Delete it."""
        with suppress(_Discarded):
            self._opened.__exit__(_Discarded, _Discarded(), None)


class FetchedPage(NamedTuple):
    """An answer, parsed or streamed to disk."""

    status: int
    headers: Mapping[str, str]
    content_type: str
    fetched_at: str
    reading: ParsedPage
    html: bytes | None = None  # as received; also the bytes of a style sheet or SVG
    asset: AssetDraft | None = None
    is_empty: bool = False  # a body of no bytes, or of spaces alone

    @property
    def is_page(self) -> bool:
        return bool(self.reading.digest)

    @property
    def etag(self) -> str | None:
        return self.headers.get("etag")

    @property
    def last_modified(self) -> str | None:
        return self.headers.get("last-modified")


class _Content(NamedTuple):
    """The required content of one file of a page."""

    kind: FileKind
    preferred: str
    received: bytes  # its hash
    size: int
    data: bytes | None  # None: the draft has it
    path: str | None  # its current path, if it may remain there
    is_same: bool  # the same was received before
    sha256: bytes | None  # hash of the file on disk, if it need not be written


@dataclass(frozen=True, slots=True)
class Compared:
    """A fetched page, compared with its files on disk."""

    contents: tuple[_Content, ...]
    changed: bool
    asset: AssetDraft | None

    @property
    def path(self) -> str | None:
        """The page's current path, which it retains."""
        return self.contents[0].path

    def discard(self) -> None:
        """Delete the streamed file."""
        if self.asset is not None:
            self.asset.discard()


@dataclass(slots=True)
class _Pending:
    """A page whose files are to be written with the batch."""

    change: RowChange
    data: dict[str, bytes]  # by path
    asset: AssetDraft | None
    promised: str
    saved: PageSaved  # emitted when the files exist


class PageWriter:
    """Writes the pages of one run. Nothing else commits meanwhile."""

    def __init__(self, session: Session, space: Workspace, plan: Plan, log: ProcessedLog) -> None:
        self._session = session
        self._plan = plan
        self._space = space
        self._state = space.state
        self._tree = space.tree
        self._log = log
        self._home = space.home
        self._paths = PathAllocator(space.state.db, space.tree, has_assets=plan.html)
        self._pending: list[_Pending] = []
        self._bytes = 0
        self._lines: list[str] = []
        self._count = 0
        self._flushed = 0.0  # time of the last batch
        self._blanks, self._first_blank = 0, ""
        self._has_claimed = False  # The folder's format is noted.

    # --- comparing ---------------------------------------------------------------------------------------------

    def compare(self, record: UrlRecord, fetched: FetchedPage) -> Compared:
        """Compare a fetched page with its files: their required content, and if it changed."""
        reading, asset = fetched.reading, fetched.asset
        if reading.is_blank:
            self._blanks, self._first_blank = self._blanks + 1, self._first_blank or record.url
        validators = (fetched.etag, fetched.last_modified)
        is_confirmed = any(validators) and validators == (record.etag, record.last_modified)
        if asset is not None:
            contents = [
                self._content(record, FileKind.ASSET, asset.preferred, None, asset.sha256, asset.size, path=asset.path)
            ]
        elif reading.markdown is not None:
            contents = [self._content(record, FileKind.MARKDOWN, self.preferred(record.url, ".md"), reading.markdown)]
            if fetched.html is not None:
                preferred = html_beside(contents[0].preferred)
                contents.append(
                    self._content(
                        record, FileKind.HTML, preferred, fetched.html, is_beside=True, is_confirmed=is_confirmed
                    )
                )
        else:
            assert fetched.html is not None
            if fetched.is_page:
                preferred = self.preferred(record.url, ".html")
                contents = [self._content(record, FileKind.HTML, preferred, fetched.html, is_confirmed=is_confirmed)]
            else:
                preferred = self._preferred_asset(record, fetched.content_type)
                contents = [self._content(record, FileKind.ASSET, preferred, fetched.html, is_confirmed=is_confirmed)]
        return Compared(tuple(contents), not all(each.is_same for each in contents), asset)

    def _content(
        self,
        record: UrlRecord,
        kind: FileKind,
        preferred: str,
        data: bytes | None,
        received: bytes = b"",
        size: int = 0,
        *,
        path: str | None = None,
        is_beside: bool = False,
        is_confirmed: bool = False,
    ) -> _Content:
        """Describe one file. `is_confirmed`: the validators match, should a rebuilt state lack the hash."""
        if data is not None:
            received, size = sha256(data).digest(), len(data)
        if is_beside:
            before, digest = record.html_received_sha256, record.html_sha256
            there, linked = record.html_path, record.html_linked_path
        else:
            before, digest = record.received_sha256, record.sha256
            there, linked = record.path, record.linked_path
            is_other = record.kind in (PAGE, ASSET) and record.kind != (ASSET if kind is FileKind.ASSET else PAGE)
            if is_other and record.path != preferred:
                there = None  # A PDF does not belong into an `index.html`.
        path = path or there
        is_equal = received == (before or digest)
        same = is_equal or (is_confirmed and before is None and linked is not None)
        # The links on disk may have been made local since.
        was_rewritten = linked is not None and kind is not FileKind.MARKDOWN and not self._session.settings.post_process
        is_left = is_equal and data is not None and path == there and not was_rewritten
        is_left = is_left and path is not None and digest is not None and self._is_intact(path, digest)
        return _Content(kind, preferred, received, size, data, path, same, digest if is_left else None)

    def _is_intact(self, path: str, digest: bytes) -> bool:
        """True if a file exists and is as written: it may have been truncated or edited."""
        try:
            return self._tree.exists(path) and sha256(self._tree.read(path)).digest() == digest
        except OutputError:  # An unreadable file may still be replaceable.
            return False

    def preferred(self, url: str, extension: str) -> str:
        """Return the preferred path of a page's URL."""
        return f"{self._folder(url)}/{paths.page_path(url, extension)}"

    def _preferred_asset(self, record: UrlRecord, content_type: str) -> str:
        folder, url = self._folder(record.url), record.url
        # A file saved under one of its names stays there, even if its type changed.
        names = [f"{folder}/{name}" for name in paths.asset_paths(url)] if record.path else []
        return record.path if record.path in names else f"{folder}/{paths.asset_path(url, content_type)}"

    def can_name(self, url: str) -> bool:
        """True if this system can write the name of the URL's file."""
        return ENCODING == "utf-8" or can_be_written(paths.page_path(url))

    def _folder(self, url: str) -> str:
        return paths.folder_within(self._home, url) if self._plan.one_folder else paths.host_folder(url)

    def dump_headers(self, headers: Mapping[str, str]) -> str | None:
        """Return headers as JSON for the state; None if neither index nor HTML needs them."""
        return orjson.dumps(dict(headers)).decode() if self._plan.index or self._plan.html else None

    # --- saving ------------------------------------------------------------------------------------------------

    def save(self, record: UrlRecord, change: RowChange, compared: Compared, *, changed: bool) -> None:
        """Add a page to the batch. A file that is already right is not written, but its time is updated."""
        if not self._plan.one_folder:
            self._space.lock(paths.host_folder(record.url))
        contents = compared.contents
        main = contents[0]
        is_new_place = main.path is None
        path = main.path or self._paths.allocate(record.id, record.url, main.preferred)
        files: list[FileRecord] = []
        data: dict[str, bytes] = {}
        for number, each in enumerate(contents):
            here = path if not number else html_beside(path) if is_new_place or each.path is None else each.path
            files.append(
                FileRecord(
                    each.kind,
                    here,
                    each.preferred,
                    path_key(each.preferred).hex(),
                    each.size,
                    each.received.hex(),
                    each.received.hex(),
                    is_written=each.sha256 is None,
                )
            )
            if each.sha256 is None and each.data is not None:
                data[here] = each.data
        now = self._session.clock.now().timestamp()
        for file, each in zip(files, contents, strict=True):
            if not file.is_written:
                self._tree.touch(file.path, now)
                if each.sha256 == each.received:
                    note_received(self._state.db, record.id, each.kind)
        size = main.size if files[0].is_written else record.size or 0
        saved = PageSaved(record.url, path, size, changed, change.event is ChangeKind.ADDED)
        if not any(file.is_written for file in files):
            apply_change(self._state.db, change)
            self._lines += change.lines
            self._session.emit(saved)
            self.count()
            return
        pending = _Pending(change._replace(files=tuple(files)), data, compared.asset, path, saved)
        self._paths.promise(path)
        self._pending.append(pending)
        self._bytes += sum(map(len, data.values()))
        is_full = len(self._pending) >= BATCH or self._bytes >= _BATCH_BYTES
        # Duplicates of the page are fetched whole from now on; queueing them once is enough.
        is_alone = self._session.settings.concurrency == 1
        is_late = self._session.clock.monotonic() - self._flushed >= _PAUSE
        if is_full or is_alone or is_late or change.frees_duplicates:
            self.flush()

    def begin(self) -> None:
        """Begin a batch if there is none: later writes to the state belong to it."""
        self._state.begin()

    def count(self) -> None:
        """Count a row that was written without a file."""
        self._count += 1
        if self._count >= BATCH:
            self.flush()

    def add_lines(self, lines: list[str]) -> None:
        """Add URLs to `_processed.txt`, each once per run."""
        self._log.reread()
        self._lines += lines
        self.flush()

    def flush(self) -> None:
        """Write the batch: announce its files, write them, then their rows, then the lines of the log."""
        pending, self._pending, self._bytes, self._count = self._pending, [], 0, 0
        done: list[RowChange] = []
        if pending:
            self._state.begin()
            if not self._has_claimed:
                self._state.set_facts(format=self._plan.format)
                self._has_claimed = True
            for each in pending:
                announce_write(self._state.db, each.change)
            self._state.commit()
            failpoint.reached("intent-committed")
        try:
            for each in pending:
                with self._session.watch.working(Stage.SAVING):
                    self._write(each)
                done.append(each.change)
        finally:
            self._write_rows(done, is_whole=len(done) == len(pending))
            for each in pending:
                self._paths.release(each.promised)
            if pending:
                self._flushed = self._session.clock.monotonic()
        for each in pending:
            self._session.emit(each.saved)

    def _write(self, page: _Pending) -> None:
        for path, data in page.data.items():
            self._tree.write(path, data)
        if page.asset is not None:
            page.asset.finish()

    def _write_rows(self, changes: list[RowChange], *, is_whole: bool) -> None:
        self._lines += [line for change in changes for line in change.lines]
        if changes:
            self._state.begin()
            if is_whole:
                finish_writes(self._state.db, changes)
            else:  # The disk is full: files announced but not written are checked when the state is opened next.
                for change in changes:
                    apply_change(self._state.db, change)
                    strike_out(self._state.db, change)
        lines = self._lines and self._log.not_there(self._lines)
        if lines:
            self._state.begin()
            self._log.announce(lines)
        failpoint.reached("rows-written")
        self._state.commit()
        failpoint.reached("rows-committed")
        if changes:
            execute(self._state.db, self._space.journal_tree)
        if lines:
            self._log.append(lines)
            failpoint.reached("lines-appended")
        self._lines.clear()

    @contextmanager
    def draft(self, record: UrlRecord, content_type: str) -> Iterator[AssetDraft]:
        """Create a file for an asset that is streamed to disk. Its path is reserved meanwhile.

        A complete draft is passed to `save`; an exception discards it.
        """
        preferred = self._preferred_asset(record, content_type)
        is_other = record.kind == PAGE and record.path != preferred
        path = None if is_other else record.path
        path = path or self._paths.allocate(record.id, record.url, preferred)
        with ExitStack() as opened:
            opened.enter_context(self._paths.promised(path))
            file = opened.enter_context(self._tree.replace_with(path))
            draft = AssetDraft(file, path, preferred, opened, self._session.watch)
            yield draft
            draft._opened = opened.pop_all()

    def warn_of_blanks(self) -> None:
        """Warn once per run of pages without text: nothing else distinguishes them."""
        if self._blanks:
            pages = counted(self._blanks, "page")
            why = "probably rendered by JavaScript, which sitemirror does not run"
            self._session.warn(f"{pages} without text, such as {self._first_blank}: {why}")

    # --- existing files --------------------------------------------------------------------------------------------

    def has(self, path: str) -> bool:
        """True if the file exists."""
        return self._tree.exists(path)

    def count_words(self, record: UrlRecord, limit: int) -> int:
        """The words of a copy, up to a limit: those that a reader sees."""
        if record.path is None or not self._tree.exists(record.path):
            return 0
        text = self._tree.read(record.path).decode("utf-8", "replace")
        if record.file_kind == FileKind.MARKDOWN:
            return count_words(without_front_matter(text), limit)
        return count_words_of_html(text, limit)

    def keep_replaced(self, record: UrlRecord, run: int, fetched: FetchedPage, *, same: bool) -> None:
        """Keeps the copy that an answer replaces until the run ends. Comes before all that the answer changes."""
        if same:
            forget(self._state.db, record.id, fetched.reading.digest)
        elif (
            fetched.is_page and record.text_hash != fetched.reading.digest and not self._session.settings.accept_changes
        ):
            reading = fetched.reading
            if reading.markdown is not None:
                words = gist_of(reading.markdown, FileKind.MARKDOWN)
            else:
                words = gist_of(fetched.html or b"", FileKind.HTML)
            keep(self._state.db, self._tree, record, run, NewText(reading.digest, words))

    def touch(self, record: UrlRecord) -> None:
        """Set the mtime of a current copy to the time of its last check."""
        if record.path is not None and record.state is UrlState.PAGE:
            with suppress(OutputError):
                self._tree.touch(record.path, self._session.clock.now().timestamp())

    def mtime(self, record: UrlRecord) -> datetime | None:
        """Return when a copy was last checked; None if it is missing or truncated."""
        found = None if record.path is None else self._tree.stat(record.path)
        if found is None or record.size not in (None, found.st_size):
            return None
        if record.html_path is None and record.kind == PAGE and self._plan.markdown and self._plan.html:
            return None
        if record.html_path is not None:
            beside = self._tree.stat(record.html_path)
            if beside is None or record.html_size not in (None, beside.st_size):
                return None
        return datetime.fromtimestamp(found.st_mtime, UTC)
