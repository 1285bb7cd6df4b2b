"""Placeholder files for failed and skipped URLs, and the log of failures.

Each URL is named as in the manifest: by its listed URL, with the end of its redirects beside it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any, Final

from sitemirror.publish.file_names import FAILED_LOG
from sitemirror.publish.placeholders import failed_line, failed_placeholder, placeholder_name, skipped_placeholder
from sitemirror.store.browse import Browser
from sitemirror.store.bulk_insert import Fingerprints
from sitemirror.store.files import Tree
from sitemirror.store.reports import Counts, StateReport

_IS_OURS: Final = re.compile(r".*/[0-9a-f]{16}\.md").fullmatch


class Placeholders:
    """Writes and removes placeholders, and writes `_failed.log`, in the run's folder."""

    def __init__(self, tree: Tree, home: str) -> None:
        self._tree = tree
        self._home = home
        self._logged: set[int] = set()

    def log(self, id: int, url: str, reason: str, at: str) -> bool:
        """Append a line to `_failed.log`, once per URL; False if it has one."""
        if id in self._logged:
            return False
        self._is_there(url, has_failed=True)  # The run ends at once where no placeholder may be written.
        self._logged.add(id)
        self._tree.append(f"{self._home}/{FAILED_LOG}", failed_line(at, url, reason))
        return True

    def update(self, report: StateReport, counts: Counts, run: int) -> None:
        """Write missing and outdated placeholders, and remove those of URLs that have another state now."""
        found = report.without_page(run) if counts.failed or counts.skipped else ()
        due = [row for row in found if row[-1] or not self._is_there(row[1], has_failed=row[2])]
        for _, url, has_failed, reason, attempts, at, content_type, size, final_url, _ in due:
            if has_failed:
                content = failed_placeholder(url=url, error=reason, attempts=attempts, at=at, final_url=final_url)
                self._tree.write(self._failed(url), content)
            else:
                content = skipped_placeholder(
                    url=url, reason=reason, at=at, content_type=content_type, size_bytes=size, final_url=final_url
                )
                self._tree.write(self._skipped(url), content)
        browser = Browser(self._tree.root)
        self._sweep(browser, "_failed", report.failures)
        self._sweep(browser, "_skipped", report.skips)

    def _sweep(self, browser: Browser, folder: str, rows: Callable[[], Iterable[tuple[Any, ...]]]) -> None:
        """Remove the placeholders in `folder` whose URL is in no row of `rows`; rows begin with a URL."""
        names: Fingerprints | None = None
        strays: list[str] = []  # There may be a million others.
        for path, _ in browser.walk(f"{self._home}/{folder}"):
            if _IS_OURS(path):
                names = names or Fingerprints(_number(placeholder_name(url)) for url, *_ in rows())
                if _number(path.rpartition("/")[2]) not in names:
                    strays.append(path)
        for path in strays:
            self._tree.remove(path)

    def _is_there(self, url: str, *, has_failed: bool) -> bool:
        return self._tree.exists(self._failed(url) if has_failed else self._skipped(url))

    def _failed(self, url: str) -> str:
        return f"{self._home}/_failed/{placeholder_name(url)}"

    def _skipped(self, url: str) -> str:
        return f"{self._home}/_skipped/{placeholder_name(url)}"


def _number(name: str) -> int:
    return int(name[:16], 16)


def failure_text(reason: str, final_url: str | None) -> str:
    """The reason in one line, with where the redirects led."""
    return f"{reason}; redirected to {final_url}" if final_url else reason
