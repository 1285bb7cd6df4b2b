"""What stands on disk for a URL that gave no page: a placeholder with the reason, and for a failure a line in the log.

Each is named as the manifest names it: what was listed, and not where its redirects led, which stands beside it.
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
from sitemirror.store.url_table import UrlTable

_IS_OURS: Final = re.compile(r".*/[0-9a-f]{16}\.md").fullmatch


class Placeholders:
    """Writes and removes placeholders, and writes `_failed.log`, in the run's folder."""

    def __init__(self, tree: Tree, home: str) -> None:
        self._tree = tree
        self._home = home

    def log(self, url: str, reason: str, at: str) -> None:
        """A line in `_failed.log` alone: of a page whose old copy stays."""
        self._tree.append(f"{self._home}/{FAILED_LOG}", failed_line(at, url, reason))

    def failed(self, url: str, reason: str, at: str, *, attempts: int, final_url: str | None = None) -> None:
        self.log(url, told(reason, final_url), at)
        content = failed_placeholder(url=url, error=reason, attempts=attempts, at=at, final_url=final_url)
        self._tree.write(self._failed(url), content)
        self._tree.remove(self._skipped(url))

    def skipped(
        self,
        url: str,
        reason: str,
        at: str,
        *,
        content_type: str | None = None,
        size: int | None = None,
        final_url: str | None = None,
    ) -> None:
        content = skipped_placeholder(
            url=url, reason=reason, at=at, content_type=content_type, size_bytes=size, final_url=final_url
        )
        self._tree.write(self._skipped(url), content)
        self._tree.remove(self._failed(url))

    def forget(self, url: str) -> None:
        """Removes the placeholders of a URL that is no failure and no file of another kind any more."""
        self._tree.remove(self._failed(url))
        self._tree.remove(self._skipped(url))

    def settle(self, survey: StateReport, counts: Counts, ledger: UrlTable) -> None:
        """Writes the placeholders that are missing, and removes those whose URL is something else by now.

        Missing are those of redirects that were found to lead to an earlier failure, and of what only redirects led to
        and is listed itself by now. Called when all is known.
        """
        found = survey.without_page() if counts.failed or counts.skipped else ()
        missing = [row for row in found if not self._is_there(row[1], row[2])]
        for id, url, has_failed, reason, attempts, at, content_type, size, final_url in missing:
            if has_failed:
                self.failed(url, reason, at, attempts=attempts, final_url=final_url)
            else:
                self.skipped(url, reason, at, content_type=content_type, size=size, final_url=final_url)
            if final_url is not None:
                ledger.tried(id)
        ledger.commit()
        browser = Browser(self._tree.root)
        self._sweep(browser, "_failed", survey.failures)
        self._sweep(browser, "_skipped", survey.skips)

    def _sweep(self, browser: Browser, folder: str, told: Callable[[], Iterable[tuple[Any, ...]]]) -> None:
        """Removes the placeholders in `folder` whose URL is in no row of `told`; rows begin with a URL."""
        names: Fingerprints | None = None
        strays: list[str] = []  # There may be a million others.
        for path, _ in browser.walk(f"{self._home}/{folder}"):
            if _IS_OURS(path):
                names = names or Fingerprints(_number(placeholder_name(url)) for url, *_ in told())
                if _number(path.rpartition("/")[2]) not in names:
                    strays.append(path)
        for path in strays:
            self._tree.remove(path)

    def _is_there(self, url: str, has_failed: bool) -> bool:
        return self._tree.exists(self._failed(url) if has_failed else self._skipped(url))

    def _failed(self, url: str) -> str:
        return f"{self._home}/_failed/{placeholder_name(url)}"

    def _skipped(self, url: str) -> str:
        return f"{self._home}/_skipped/{placeholder_name(url)}"


def _number(name: str) -> int:
    return int(name[:16], 16)


def told(reason: str, final_url: str | None) -> str:
    """The reason in one line, with where the redirects led."""
    return f"{reason}; redirected to {final_url}" if final_url else reason
