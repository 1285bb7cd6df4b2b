"""What a check has found so far: counted without end, kept up to a limit, told as it is found."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from sitemirror.publish.report import ProblemKind, VerifyProblem

KEPT: Final = 1000

_THE_COMMAND: Final = "the command that made the mirror"
_HINTS: Final = {  # The first that applies says what to do first.
    ProblemKind.UNFINISHED: f"run {_THE_COMMAND} to its end, then check again",
    ProblemKind.MISSING: f"{_THE_COMMAND}, with --update, fetches missing pages again",
    ProblemKind.UNREADABLE: f"remove what stands there; {_THE_COMMAND}, with --update, fetches it again",
    ProblemKind.CHANGED: f"{_THE_COMMAND}, with --re-download-all, writes changed files anew",
    ProblemKind.LINK: f"{_THE_COMMAND}, with --re-download-all, writes the files and their links anew",
    ProblemKind.ANCHOR: f"look whether the page has the place on the site: if so, {_THE_COMMAND}, with "
    "--re-download-all, writes the files anew; if not, the link is the site's mistake",
    ProblemKind.ORPHAN: "delete what you do not need, and keep your own files outside the mirror",
}
_OTHERWISE: Final = f"run {_THE_COMMAND} again: it writes the manifest and the index anew"
# Links that an interrupted run would have led on, and files that it would have named.
_MENDED_BY_THE_END: Final = frozenset((ProblemKind.LINK, ProblemKind.ANCHOR, ProblemKind.ORPHAN))

OnProblem = Callable[[VerifyProblem], None]


@dataclass(slots=True)
class Findings:
    """Problems, and how much was looked at."""

    tell: OnProblem | None = None
    total: int = 0
    kinds: set[ProblemKind] = field(default_factory=set)
    kept: list[VerifyProblem] = field(default_factory=list)
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
        if len(self.kept) < KEPT:
            self.kept.append(problem)
        if self.tell is not None:
            self.tell(problem)

    @property
    def hint(self) -> str | None:
        """What to do about it."""
        if not self.complete and self.kinds and self.kinds <= _MENDED_BY_THE_END:
            return _HINTS[ProblemKind.UNFINISHED]
        if {ProblemKind.MISSING, ProblemKind.CHANGED} <= self.kinds and ProblemKind.UNFINISHED not in self.kinds:
            return f"{_THE_COMMAND}, with --re-download-all, fetches missing pages again and writes changed files anew"
        kinds = self.kinds
        if kinds - _HINTS.keys():  # A file that wrong books do not name may be a page.
            kinds = kinds - {ProblemKind.ORPHAN}
        return next((hint for kind, hint in _HINTS.items() if kind in kinds), _OTHERWISE if kinds else None)

    def warn(self, message: str) -> None:
        """Something to know that is not wrong."""
        self.warnings.append(message)
