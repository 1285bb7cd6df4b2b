"""Makes the mirrors in `mirrors/` with an old version, and records how that version goes on with them.

Run it once for a version, with a checkout of it, from the root of this one:

    git worktree add /tmp/before <commit>
    python -m tests.upgrade.make --old /tmp/before [NAME …]

The old program runs in processes of its own, with the packages of this environment. Each archive holds the folder
`output` as a user would find it, files with their times, and `record.json`:

- `made_at`: the tests go on from then, so that nothing in a mirror grows old while it waits in the repository;
- `verified`: what the old `verify` found;
- `goes_on`: what the same command came to next (its status, the URLs it asked for, what became of each URL);
- `updated`: the same for an `--update` after that, when one page had changed;
- `without_state`: the same for a mirror whose state was lost.

Times, run ids and the layout of SQLite's pages differ each time, nothing else does.
"""

from __future__ import annotations

import argparse
import io
import json
import lzma
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tarfile
import tempfile
import time
from collections import Counter
from collections.abc import Mapping
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tests.conftest import start_program
from tests.site import faults
from tests.upgrade.cases import CASES, HOST, MIRRORS, RECORD, Case, Run, Web, account, change, findings

_STATE = "_state.sqlite3"
_PATIENCE = 60.0


class Old:
    """The old program."""

    def __init__(self, checkout: Path) -> None:
        self._path = str(checkout / "src")

    def run(self, *arguments: str, failpoint: str = "") -> subprocess.Popen[str]:
        added = {"PYTHONPATH": self._path, **({"SITEMIRROR_FAILPOINT": failpoint} if failpoint else {})}
        return start_program(arguments, added)

    def report(self, *arguments: str) -> Any:
        process = self.run(*arguments)
        printed, said = process.communicate(timeout=_PATIENCE)
        if not printed:
            sys.exit(f"{arguments}: exit code {process.returncode}: {said}")
        return json.loads(printed)


def words(run: Run, settings: Mapping[str, Any]) -> list[str]:
    """A run's command line."""
    options: list[str] = []
    for name, value in settings.items():
        options += [f"--{name.replace('_', '-')}", *([] if value is True else [str(value)])]
    return [run.command, run.url, "--quiet", *options]


def make(old: Old, case: Case, web: Web, folder: Path) -> Path:
    """The mirror, as its last run leaves it."""
    output = folder / "output"
    state, behind = output / HOST / _STATE, folder / "behind"
    before: set[Path] = set()
    for number, run in enumerate(case.runs, 1):
        case.site(web, run.stage)
        if case.power_cut and number == len(case.runs):
            behind.mkdir()
            for file in state.parent.glob(f"{_STATE}*"):
                shutil.copy(file, behind)
            before = set(output.rglob("index.*"))
        _carry_out(old, case, run, web, output)
    if case.power_cut:
        _lose_power(state, behind, sorted(set(output.rglob("index.*")) - before))
    for left in output.rglob("*-shm"):  # SQLite makes it anew
        left.unlink()
    return output


def _carry_out(old: Old, case: Case, run: Run, web: Web, output: Path) -> None:
    if run.stopped_at:
        web.fault(run.stopped_at, faults.stall())
    web.clear_log()
    process = old.run(*words(run, run.settings(web, output, https=case.https)), failpoint=run.killed_at)
    if run.stopped_at:
        deadline = time.monotonic() + _PATIENCE
        while not web.count(run.stopped_at):
            if process.poll() is not None or time.monotonic() > deadline:
                sys.exit(f"{case.name}: never asked for {run.stopped_at}")
            time.sleep(0.01)
        time.sleep(0.5)
        process.send_signal(getattr(signal, run.signal))
    _, said = process.communicate(timeout=_PATIENCE)
    web.heal(run.stopped_at)
    due = 130 if run.signal == "SIGINT" else -signal.SIGKILL if run.killed_at or run.stopped_at else 0
    if process.returncode != due:
        sys.exit(f"{case.name}: exit code {process.returncode} where {due} was due: {said}")


def _lose_power(state: Path, behind: Path, unsynced: list[Path]) -> None:
    """Stage a power cut: an older state, files that are empty or missing, another boot id."""
    for file in state.parent.glob(f"{_STATE}*"):
        file.unlink()
    for file in behind.iterdir():
        shutil.copy(file, state.parent)
    for number, file in enumerate(unsynced):
        file.write_bytes(b"") if number % 2 else file.unlink()
    with closing(sqlite3.connect(state)) as db, db:
        db.execute("UPDATE meta SET value = '\"another\"' WHERE name = 'booted'")


def record(old: Old, case: Case, web: Web, output: Path, work: Path) -> dict[str, Any]:
    """Verify the mirror with the old program, and go on with copies of it."""
    recorded: dict[str, Any] = {"made_at": datetime.now(UTC).isoformat(timespec="seconds")}
    lines = output / HOST / "_processed.txt"
    recorded["done"] = len(lines.read_text("utf-8").splitlines()) if lines.exists() else 0
    recorded["verified"] = findings(old.report("verify", str(output)), output)
    for name in ("without_state", "goes_on", "updated"):
        copy = work / "output"
        if name == "updated":
            change(web, case.changing)
        else:
            shutil.rmtree(copy, ignore_errors=True)
            shutil.copytree(output, copy)
        if name == "without_state":
            for file in (copy / HOST).glob(f"{_STATE}*"):
                file.unlink()
        web.clear_log()
        settings = case.last.settings(web, copy, https=case.https, update=name == "updated")
        report = old.report(*words(case.last, settings))
        recorded[name] = {
            "status": report["status"],
            "asked": sorted(web.asked()),
            "fetched": sorted(web.asked(status=200)),
            "account": account(copy),
            "verified": findings(old.report("verify", str(copy)), copy),
        }
    return recorded


def pack(case: Case, output: Path, recorded: Mapping[str, Any]) -> None:
    """Writes the archive: sorted, of nobody, with the files' own times."""

    def nobody(member: tarfile.TarInfo) -> tarfile.TarInfo:
        member.uid = member.gid = 0
        member.uname = member.gname = ""
        return member

    text = json.dumps(recorded, indent=0, ensure_ascii=False, sort_keys=True).encode()
    filters = [{"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME, "pb": 0}]
    with (
        lzma.open(case.archive, "wb", filters=filters) as file,
        tarfile.open(fileobj=file, mode="w", format=tarfile.PAX_FORMAT) as packed,
    ):
        said = tarfile.TarInfo(RECORD)
        said.size = len(text)
        packed.addfile(said, io.BytesIO(text))
        packed.add(output, "output", filter=nobody)  # in the order of names


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--old", type=Path, required=True, help="a checkout of the version that makes them")
    parser.add_argument("names", nargs="*", help="make only these")
    given = parser.parse_args()
    old = Old(given.old.absolute())
    MIRRORS.mkdir(exist_ok=True)
    for case in CASES:
        if given.names and case.name not in given.names:
            continue
        with tempfile.TemporaryDirectory() as folder, Web() as web:
            output = make(old, case, web, Path(folder))
            recorded = record(old, case, web, output, Path(folder) / "work")
            pack(case, output, recorded)
        print(_summary(case, recorded), flush=True)


def _summary(case: Case, recorded: Mapping[str, Any]) -> str:
    """One line that shows whether a mirror is what it is meant to be."""
    then, later = recorded["goes_on"], recorded["updated"]
    kinds = Counter(what[0] for what in then["account"].values())
    return (
        f"{case.name}: {case.archive.stat().st_size:,} bytes, {recorded['done']} done; "
        f"verify {recorded['verified']['status']} ({len(recorded['verified']['problems'])}); "
        f"goes on {then['status']}, asks {len(then['asked'])}, verify {then['verified']['status']}; "
        f"updated {later['status']}, verify {later['verified']['status']}; {dict(kinds)}"
    )


if __name__ == "__main__":
    os.umask(0o022)
    main()
