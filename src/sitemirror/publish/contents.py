"""`_index.md`: the mirror's table of contents, for people. Grouped by folder, with links to the local files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from typing import Final

from sitemirror.publish import inline
from sitemirror.publish.json_text import Sink
from sitemirror.publish.listing import shown, write_listing
from sitemirror.publish.manifest import FailureRow, ManifestHeader
from sitemirror.text import counted

FAILURES_SHOWN: Final = 50
"""More than this many failures are a matter for `_failed.log`."""


ContentsRow = tuple[str, str, str | None]
"""A page on disk: its URL, its POSIX path, its title. Bare tuples, because all are read once for each level."""


def write_contents(
    file: Sink,
    header: ManifestHeader,
    *,
    host: str,
    rows: Callable[[int], Iterable[ContentsRow]],
    here: Callable[[str], str],
    failures: Iterable[FailureRow],
    assets: int = 0,
) -> None:
    """Writes the contents, under the manifest's header. `host` is the site's, with its port if it has one; pages of
    other hosts are grouped under theirs. `rows(n)` gives the pages from the n-th on, always sorted by their URLs'
    `sections.order`; `here` makes a path relative to the folder that `_index.md` is in. Of `failures` no more is read
    than is shown. `assets`: how many of what is saved are no pages."""
    _write_head(file, header, host, assets)

    def items(some: Sequence[ContentsRow]) -> list[str]:
        return [inline.file_link(_label(url, title, host), here(path)) for url, path, title in some]

    write_listing(file, host, rows, items)
    if header.failed:
        _write_failures(file, header, failures)


def _write_head(file: Sink, header: ManifestHeader, host: str, assets: int) -> None:
    others = f" and {counted(assets, 'other file')}," if assets else ""
    lines = [
        f"# {inline.text(host)}",
        "",
        f"- Source: {inline.autolink(header.source_url)}",
        f"- Pages: {header.successful - assets:,}{others} of {header.total_pages:,}"
        f" (failed: {header.failed:,}, skipped: {header.skipped:,}, not reached: {header.not_reached_count:,})",
        f"- Duplicates: {header.duplicates:,} (URLs listed more than once, and other URLs of the same pages)",
        f"- Mirrored: {header.crawl_completed or header.crawl_started}",
    ]
    if not header.complete:
        lines.append(
            "- **Incomplete**: the run ended before its work did, or a sitemap could not be read whole. "
            "The same command goes on where it stopped."
        )
    file.write(("\n".join(lines) + "\n\n---\n").encode())


def _label(url: str, title: str | None, host: str) -> str:
    return inline.title(title or "") or inline.text(shown(url, host))


def _write_failures(file: Sink, header: ManifestHeader, failures: Iterable[FailureRow]) -> None:
    file.write(f"\n## Failed ({header.failed:,})\n\n".encode())
    for row in islice(failures, FAILURES_SHOWN):
        file.write(f"- {inline.autolink(row.url)}: {inline.text(row.error, limit=200)}\n".encode())
    more = header.failed - FAILURES_SHOWN
    rest = f"{more:,} more are in" if more > 0 else "Times and earlier failures are in"
    file.write(f"\n{rest} [\\_failed.log](_failed.log). The next run tries them again.\n".encode())
