"""Checks that every URL a mirror has ever known stands in its manifest, and stands there once."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Final

from sitemirror import urls
from sitemirror.publish.manifest import Element, FailureRow, GoneRow, ManifestHeader, PageRow, SkipRow
from sitemirror.publish.report import ProblemKind
from sitemirror.store.reports import Glance
from sitemirror.verification.report import Findings

_LISTS: Final = {PageRow: "pages", FailureRow: "failures", SkipRow: "skips", GoneRow: "gone", str: "not_reached"}


class Accounts:
    """The URLs of one manifest, each as sixteen bytes, so that a million fit into memory."""

    def __init__(self, findings: Findings) -> None:
        self._findings = findings
        self._keys: set[bytes] = set()
        self._passed: set[bytes] = set()
        self._rows: Counter[str] = Counter()

    def add(self, row: Element) -> None:
        """Takes a row of the manifest."""
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
            self._findings.add(ProblemKind.TWICE, url, "stands in the manifest more than once")
        self._keys.add(key)
        self._findings.urls += 1

    def check_header(self, header: ManifestHeader, where: str) -> None:
        """Compares the counts of the header with the lists."""
        counted = {
            "successful": (header.successful, "pages"),
            "failed": (header.failed, "failures"),
            "skipped": (header.skipped, "skips"),
            "not_reached_count": (header.not_reached_count, "not_reached"),
        }
        for name, (told, rows) in counted.items():
            if told != self._rows[rows]:
                self._findings.add(
                    ProblemKind.COUNT, where, f"{name} is {told:,}, but {rows} has {self._rows[rows]:,} entries"
                )
        total = sum(told for told, _ in counted.values())
        if header.total_pages != total:
            self._findings.add(
                ProblemKind.COUNT, where, f"total_pages is {header.total_pages:,}, but its parts add up to {total:,}"
            )

    def check_state(self, state: Glance) -> None:
        """Checks that every URL of the state is in the manifest."""
        self._passed.update(state.passed())
        for key, url in state.urls():
            if key not in self._keys:
                self._findings.add(ProblemKind.UNACCOUNTED, url, "is in the working state, but not in the manifest")
                self._passed.add(key)

    def check_processed(self, path: Path) -> None:
        """Checks that every URL of `_processed.txt` is in the manifest. A line counts only with its newline."""
        with path.open("rb") as lines:
            for line in lines:
                url = line.decode("utf-8", "replace").strip()
                if line.endswith(b"\n") and url and not self._knows(url):
                    self._findings.add(ProblemKind.UNACCOUNTED, url, "is in _processed.txt, but not in the manifest")

    def _knows(self, url: str) -> bool:
        key = urls.key(url)
        if key in self._keys or key in self._passed:
            return True
        try:  # The log may be another tool's, which spells URLs its own way.
            key = urls.key(urls.normalize(url))
        except urls.InvalidUrl:
            return False
        return key in self._keys or key in self._passed
