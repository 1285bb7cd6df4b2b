"""Kill the process at a named step, for tests of crash safety.

Off unless `SITEMIRROR_FAILPOINT` names a step: `file-renamed`, or `file-renamed:3` for the third time it is reached.
"""

from __future__ import annotations

import os
import signal
from typing import Final

_STEP, _, _COUNT = os.environ.get("SITEMIRROR_FAILPOINT", "").partition(":")
_times: Final = [int(_COUNT or 1)] if _STEP else []


def _count_down(step: str) -> None:
    if step == _STEP:
        _times[0] -= 1
        if not _times[0]:
            os.kill(os.getpid(), getattr(signal, "SIGKILL", signal.SIGTERM))  # which Windows takes for the same


def _go_on(step: str) -> None:
    pass


reached: Final = _count_down if _STEP else _go_on
"""Kill the process if this step is selected."""
