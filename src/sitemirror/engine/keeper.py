"""Puts a page on disk and into the ledger, in that order, at a path that no other page has."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import blake2b, sha256

from sitemirror.convert import PageKind, with_front_matter
from sitemirror.engine.session import Session
from sitemirror.engine.workspace import Workspace
from sitemirror.model import Failed, Fetched, Page, Skipped
from sitemirror.publish.placeholders import failed_line, failed_placeholder, placeholder_name, skipped_placeholder
from sitemirror.store import paths
from sitemirror.store.ledger import Known, Ledger, SavedPage
from sitemirror.store.placement import fold_key
from sitemirror.store.schema import Row


@dataclass(frozen=True, slots=True)
class Kept:
    """Where a page is, and whether its bytes are new."""

    path: str
    size: int
    changed: bool


class Keeper:
    """Writes pages, placeholders and the failure log of one run."""

    def __init__(self, session: Session, space: Workspace, ledger: Ledger) -> None:
        self._session = session
        self._tree = space.tree
        self._ledger = ledger
        self._home = space.home

    def keep(self, known: Known, fetched: Fetched, page: Page, kind: PageKind) -> Kept:
        """Saves a converted page under `known`'s URL. Equal bytes are left alone, but count as seen today."""
        with_matter = self._session.settings.front_matter and kind is PageKind.HTML
        text = with_front_matter(page) if with_matter else page.markdown
        data = text.encode("utf-8", "replace")
        digest = sha256(data).hexdigest()
        wanted = f"{paths.host_folder(known.url)}/{paths.page_path(known.url)}"
        saved_at = known.path if known.status is Row.SAVED else None
        path = saved_at or self._place(known.url, wanted)
        changed = not (digest == known.sha256 and self._tree.exists(path))
        if changed:
            self._tree.write(path, data)
        else:
            self._tree.touch(path, self._session.clock.now().timestamp())
        self._ledger.saved(
            known.id,
            known.url,
            SavedPage(
                path=path,
                wanted=wanted,
                fold=fold_key(wanted),
                size=len(data),
                fetched_at=fetched.fetched_at,
                title=page.title,
                sha256=digest,
                body=blake2b(page.markdown.encode("utf-8", "replace"), digest_size=16).digest(),
                etag=fetched.validators.etag,
                last_modified=fetched.validators.last_modified,
                content_type=fetched.content_type,
                canonical=page.canonical,
            ),
            fetched.fetched_at,
        )
        self._forget_placeholders(known)
        return Kept(path, len(data), changed)

    def _place(self, url: str, wanted: str) -> str:
        """A free path for a new page. Who really owns `wanted` is settled before publishing, when all are known."""
        if not self._taken(wanted):
            return wanted
        for digits in (8, 12, 16, 24, 32):
            blocked = self._blocked_folder(wanted)
            candidate = (
                paths.moved_folder(wanted, blocked, url, digits)
                if blocked
                else paths.collision_path(wanted, url, digits)
            )
            if not self._taken(candidate):
                return candidate
        raise AssertionError("two URLs with one md5")

    def _taken(self, path: str) -> bool:
        return bool(
            self._ledger.owners(fold_key(path))
            or self._ledger.displaced_at(path)
            or self._blocked_folder(path)
            or (not path.endswith("/index.md") and self._tree.is_folder(path))
        )

    def _blocked_folder(self, path: str) -> str:
        """The part of `path` that must be a folder but is another page's file."""
        parts = path.split("/")
        for end in range(1, len(parts)):
            if parts[end - 1].endswith(".md") and self._tree.exists(folder := "/".join(parts[:end])):
                return folder
        return ""

    def remove(self, path: str) -> None:
        """Takes a page's file away, because its URL has become another name of a page."""
        self._tree.remove(path)

    def renew(self, known: Known) -> None:
        """The copy on disk is current: its mtime says when that was last known."""
        if known.path is not None and known.status is Row.SAVED:
            self._tree.touch(known.path, self._session.clock.now().timestamp())

    def mtime(self, path: str) -> datetime | None:
        found = self._tree.mtime(path)
        return None if found is None else datetime.fromtimestamp(found, UTC)

    def failed(self, known: Known, failure: Failed) -> None:
        """A line in `_failed.log`, and a placeholder where the page would be looked for."""
        now = self._session.now()
        self._tree.append(f"{self._home}/_failed.log", failed_line(now, known.url, failure.reason))
        if known.path is None:
            name = placeholder_name(known.url)
            content = failed_placeholder(url=known.url, error=failure.reason, attempts=known.attempts + 1, at=now)
            self._tree.write(f"{self._home}/_failed/{name}", content)

    def skipped(self, known: Known, skip: Skipped) -> None:
        """A placeholder with what is known of a file that is no page."""
        content = skipped_placeholder(
            url=known.url,
            reason=skip.reason,
            at=self._session.now(),
            content_type=skip.content_type,
            size_bytes=skip.size_bytes,
        )
        self._tree.write(f"{self._home}/_skipped/{placeholder_name(known.url)}", content)
        self._tree.remove(f"{self._home}/_failed/{placeholder_name(known.url)}")

    def _forget_placeholders(self, known: Known) -> None:
        if known.attempts or known.size is not None:
            for folder in ("_failed", "_skipped"):
                self._tree.remove(f"{self._home}/{folder}/{placeholder_name(known.url)}")
