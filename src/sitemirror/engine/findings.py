"""What a check has found so far: counted without end, kept up to a limit, told as it is found."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from sitemirror.publish.report import ProblemKind, VerifyProblem

KEPT: Final = 1000

_FETCHED_AGAIN: Final = "the command that made the mirror, with --update, fetches missing pages again"
_WRITTEN_ANEW: Final = "the command that made the mirror, with --re-download-all, writes changed files anew"
_RUN_TO_ITS_END: Final = "run the command that made the mirror to its end, then check again"

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
        """What to do about it, where something is known to help."""
        if ProblemKind.UNFINISHED in self.kinds:
            return _RUN_TO_ITS_END
        if ProblemKind.MISSING in self.kinds:
            return _FETCHED_AGAIN
        if ProblemKind.CHANGED in self.kinds:
            return _WRITTEN_ANEW
        return None

    def warn(self, message: str) -> None:
        """Something to know that is not wrong."""
        self.warnings.append(message)
