"""Reads what pip-audit finds out about `constraints.txt`, and tells "nothing is known" from "nobody was asked"."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

PINNED: Final = Path(__file__).parent.parent / "constraints.txt"
SECONDS: Final = 120
NOBODY_ASKED: Final = 3


def main() -> int:
    """The exit code, after one line on each finding."""
    if find_spec("pip_audit") is None:
        return _unasked("pip-audit is not installed")
    command = [sys.executable, "-m", "pip_audit", "-r", str(PINNED), "--no-deps", "--disable-pip", "-f", "json"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)
        found: list[dict[str, Any]] = json.loads(done.stdout)["dependencies"]
    except subprocess.TimeoutExpired:
        return _unasked(f"no answer within {SECONDS} s")
    except (ValueError, KeyError, TypeError):
        return _unasked(done.stderr.strip().splitlines()[-1] if done.stderr.strip() else "no answer")
    known = [one for one in found if "vulns" in one]
    if not known:
        return _unasked("the registry knows of no advisories")
    for one in known:
        for vulnerability in one["vulns"]:
            fixed = ", ".join(vulnerability["fix_versions"]) or "no version"
            print(f"{one['name']} {one['version']}: {vulnerability['id']}, mended in {fixed}")
    unknown = [one["name"] for one in found if "vulns" not in one]
    print(f"{len(known)} asked about" + (f", not about {', '.join(unknown)}" if unknown else ""), file=sys.stderr)
    return 1 if any(one["vulns"] for one in known) else 0


def _unasked(reason: str) -> int:
    print(f"nobody could be asked: {reason}", file=sys.stderr)
    return NOBODY_ASKED


if __name__ == "__main__":
    sys.exit(main())
