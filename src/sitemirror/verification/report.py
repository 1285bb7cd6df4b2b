"""Collect the problems of a check, and choose the hint that says what to do about them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from sitemirror.publish.report import ProblemKind, VerifyProblem

MAX_REPORTED: Final = 1000

_THE_COMMAND: Final = "the command that made the mirror"
_HINTS: Final = {  # The first that applies says what to do first.
    ProblemKind.UNFINISHED: f"run {_THE_COMMAND} to its end, then check again",
    ProblemKind.MISSING: f"{_THE_COMMAND}, with --update, fetches missing pages again",
    ProblemKind.UNREADABLE: f"remove it; {_THE_COMMAND}, with --update, fetches it again",
    ProblemKind.CHANGED: f"{_THE_COMMAND}, with --re-download-all, writes changed files anew",
    ProblemKind.LINK: f"{_THE_COMMAND}, with --re-download-all, writes the files and their links anew",
    ProblemKind.ANCHOR: f"look whether the page has the place on the site: if so, {_THE_COMMAND}, with "
    "--re-download-all, writes the files anew; if not, the link is the site's mistake",
    ProblemKind.ORPHAN: "delete what you do not need, and keep your own files outside the mirror",
}
_DEFAULT_HINT: Final = f"run {_THE_COMMAND} again: it writes the manifest and the index anew"
# The end of an interrupted run would have relinked these, or named them in the manifest.
_FIXED_BY_THE_END: Final = frozenset((ProblemKind.LINK, ProblemKind.ANCHOR, ProblemKind.ORPHAN))

OnProblem = Callable[[VerifyProblem], None]


@dataclass(slots=True)
class Problems:
    """Every problem counted, the first `MAX_REPORTED` of them, and how much was checked."""

    on_problem: OnProblem | None = None
    total: int = 0
    kinds: set[ProblemKind] = field(default_factory=set)
    first: list[VerifyProblem] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    complete: bool = True
    urls: int = 0
    files: int = 0
    links: int = 0
    anchors: int = 0

    def add(self, kind: ProblemKind, where: str, message: str) -> None:
        problem = VerifyProblem(kind=kind, where=where, message=message)
        self.total += 1
        self.kinds.add(kind)
        if len(self.first) < MAX_REPORTED:
            self.first.append(problem)
        if self.on_problem is not None:
            self.on_problem(problem)

    def warn(self, message: str) -> None:
        """Add a note that is no problem."""
        self.warnings.append(message)

    @property
    def hint(self) -> str | None:
        """The advice for the kinds of problems found."""
        kinds = self.kinds
        if not self.complete and kinds and kinds <= _FIXED_BY_THE_END:
            return _HINTS[ProblemKind.UNFINISHED]
        if {ProblemKind.MISSING, ProblemKind.CHANGED} <= kinds and ProblemKind.UNFINISHED not in kinds:
            return f"{_THE_COMMAND}, with --re-download-all, fetches missing pages again and writes changed files anew"
        if kinds - _HINTS.keys():  # Where the manifest is wrong, a file that it does not name may be a page.
            kinds = kinds - {ProblemKind.ORPHAN}
        return next((hint for kind, hint in _HINTS.items() if kind in kinds), _DEFAULT_HINT if kinds else None)
