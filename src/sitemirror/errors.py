"""Errors that end a run, each with an exit code and a hint for the next step.

    SitemirrorError
    ├── UsageError            wrong input on the command line (exit 2)
    ├── Unreachable           no such host, refused, TLS failure, the site does not answer
    ├── BadStart              a crawl's start page is no page, or not on the site
    ├── NoPage                `convert` got something that is unavailable or not a page
    ├── NoSitemap             nothing to start from; offers another way
    │   ├── UnreadableSitemap sitemaps that could not be read
    │   └── EmptySitemap      a sitemap without a single URL in scope
    ├── OutputError           the output folder cannot be used
    │   ├── FolderLocked      another run is working on it
    │   └── DiskFull          free space or inodes under the limit
    └── Aborted               --on-error abort met its first failure

A page's failure is a value (`model.Failed`), because one page must never end a run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pathlib import Path

    from sitemirror.publish.report import Report

MORE_FILES: Final = "allow more open files (ulimit -n 1024), then run the same command"
"""Hint where a process may open too few files."""


class SitemirrorError(Exception):
    """Failure of a run: a sentence about it, and a hint for the next step."""

    exit_code = 1

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.report: Report | None = None  # for stdout, if the run got far enough

    @property
    def advice(self) -> str:
        """Message and hint in one line, for warnings."""
        return f"{self.message}; {self.hint}" if self.hint else self.message


class UsageError(SitemirrorError, ValueError):
    """Invalid input on the command line, in the configuration or by a program. `more`: further faults."""

    exit_code = 2

    def __init__(self, message: str, *more: str, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.more = more


def wrong_type(name: str, value: object, expected: str, *, hint: str) -> UsageError:
    """The error for an argument of the wrong type."""
    return UsageError(f"{name} must be {expected}, not {type(value).__name__}", hint=hint)


def describe_unexpected(error: Exception) -> str:
    """Describe an unexpected exception in one line."""
    return " ".join(f"unexpected {type(error).__name__}: {error}".split())


class Unreachable(SitemirrorError):
    """The start URL's host does not answer."""


class BadStart(SitemirrorError):
    """A crawl cannot begin at its start page."""


class NoPage(SitemirrorError):
    """The input of `convert` is unavailable or not a page."""


class NoSitemap(SitemirrorError):
    """No sitemap was found."""


class UnreadableSitemap(NoSitemap):
    """Sitemaps were found, but none could be read."""


class EmptySitemap(NoSitemap):
    """Sitemaps were found, but list no URL in scope."""


class OutputError(SitemirrorError):
    """The output folder cannot be created, written or read."""


class FolderLocked(OutputError):
    """Another run is writing to the same `folder`. `pid` is its process, where that is known."""

    def __init__(self, message: str, *, hint: str = "", folder: Path, pid: int | None = None) -> None:
        super().__init__(message, hint=hint)
        self.folder = folder
        self.pid = pid


class DiskFull(OutputError):
    """Free space or inodes fell under `--min-free-mb`."""


class Aborted(SitemirrorError):
    """`--on-error abort` and a page failed."""
