"""What a check has found so far: counted without end, kept up to a limit, told as it is found."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from sitemirror.publish.report import ProblemKind, VerifyProblem

KEPT: Final = 1000

OnProblem = Callable[[VerifyProblem], None]


@dataclass(slots=True)
class Findings:
    """Problems, and how much was looked at."""

    tell: OnProblem | None = None
    total: int = 0
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
        if len(self.kept) < KEPT:
            self.kept.append(problem)
        if self.tell is not None:
            self.tell(problem)

    def warn(self, message: str) -> None:
        """Something to know that is not wrong."""
        self.warnings.append(message)
