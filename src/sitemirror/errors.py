"""Everything that can end a run, with the exit code and the next step for the person who reads it.

    SitemirrorError
    ├── UsageError            wrong input on the command line (exit 2)
    ├── Unreachable           no such host, refused, TLS failure, the site does not answer
    ├── BadStart              a crawl's start page is no page, or not on the site
    ├── NoPage                what should be converted cannot be had, or is no page
    ├── NoSitemap             nothing to start from; offers another way
    │   └── EmptySitemap      a sitemap without a single URL in scope
    ├── OutputError           the output folder cannot be used
    │   ├── FolderLocked      another run is working on it
    │   └── DiskFull          free space or inodes under the limit
    └── Aborted               --on-error abort met its first failure

A page's failure is not here: it is a value (`model.Failed`), because one page must never end a run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pathlib import Path

    from sitemirror.publish.report import Report


MORE_FILES: Final = "allow more open files (ulimit -n 1024), then run the same command"
"""What to do where the system lets a process open too few."""


class SitemirrorError(Exception):
    """A run's failure: one sentence that says what happened, and a hint that says what to do."""

    exit_code = 1

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.report: Report | None = None  # what the run can say of itself in spite of it, for stdout

    @property
    def advice(self) -> str:
        """Both in one line, for where it does not end the run."""
        return f"{self.message}; {self.hint}" if self.hint else self.message


class UsageError(SitemirrorError, ValueError):
    """The command line, the configuration or a program asks for what cannot be. `more` is what else is wrong."""

    exit_code = 2

    def __init__(self, message: str, *more: str, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.more = more


def wrong_type(name: str, value: object, wanted: str, *, hint: str) -> UsageError:
    """What is said to a program that passes the wrong kind of thing."""
    return UsageError(f"{name} must be {wanted}, not {type(value).__name__}", hint=hint)


def confess(error: Exception) -> str:
    """What is said of an exception that nobody expected, in one line."""
    return " ".join(f"unexpected {type(error).__name__}: {error}".split())


class Unreachable(SitemirrorError):
    """The start URL's host could not be talked to at all."""


class BadStart(SitemirrorError):
    """A crawl cannot begin at its start page."""


class NoPage(SitemirrorError):
    """What `convert` was given cannot be had, or is no page."""


class NoSitemap(SitemirrorError):
    """No sitemap was found where sitemaps are."""


class EmptySitemap(NoSitemap):
    """Sitemaps were found, but they name no URL in scope."""


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
