"""Mirrors of the version before open, go on, update and verify; also after faults.

`make.py` made them and recorded what that version did with each next. What differs from that is a fault, but for what
`_decided` names.
"""

from __future__ import annotations

import json
import re
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from sitemirror import crawl_sync, mirror_sync
from sitemirror.fetch.pace import SystemClock
from tests.conftest import RunHere
from tests.site import NoOpenssl, certificate
from tests.upgrade.cases import CASES, HOME, HOST, Case, Web, account, change, findings

_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
_STATE = "_state.sqlite3"
_SOUND = {"status": "ok", "problems": []}

INTERRUPTED = [case for case in CASES if case.interrupted]
KILLED = [case for case in INTERRUPTED if case.last.signal == "SIGKILL" and not case.power_cut]


class Then(SystemClock):
    """The clock of somebody who comes back to a mirror an hour after it was made."""

    def __init__(self, made_at: str) -> None:
        super().__init__()
        self._past = super().now() - datetime.fromisoformat(made_at) - timedelta(hours=1)

    def now(self) -> datetime:
        return super().now() - self._past


class Old:
    """A mirror of the version before, and the site that it is a copy of."""

    def __init__(self, case: Case, web: Web, folder: Path, verify: RunHere) -> None:
        self.case = case
        self.web = web
        self.output, self.record = case.unpack(folder)
        self.home = self.output / HOST
        self._verify = verify
        self.done_before = self.done()
        case.site(web, case.last.stage)

    def verify(self) -> Any:
        return findings(self._verify("verify", self.output).json, self.output)

    def run(self, *, update: bool = False) -> str:
        """The same command again. Gives its status."""
        self.web.clear_log()
        run = self.case.last
        settings = run.settings(self.web, self.output, https=self.case.https, update=update)
        copy = {"mirror": mirror_sync, "crawl": crawl_sync}[run.command]
        return copy(run.url, clock=Then(self.record["made_at"]), **settings).status.value

    def done(self) -> set[str]:
        """The URLs whose pages are safe, as the folder says."""
        log = self.home / "_processed.txt"
        return set(log.read_text("utf-8").splitlines()) if log.exists() else set()

    def booted(self, start: str) -> None:
        """Set the boot id that the mirror was made under."""
        state, aside = self.home / _STATE, self.output.parent / "aside"
        aside.mkdir()
        with closing(sqlite3.connect(state)) as db:
            with db:
                db.execute("UPDATE meta SET value = ? WHERE name = 'booted'", (json.dumps(start),))
            for file in self.home.glob(f"{_STATE}*"):  # While it is open: its log is folded into it when it closes.
                shutil.copy(file, aside)
        for file in self.home.glob(f"{_STATE}*"):
            file.unlink()
        for file in aside.iterdir():
            if not file.name.endswith("-shm"):
                shutil.move(file, self.home)
        shutil.rmtree(aside)

    def lose_state(self) -> None:
        for file in self.home.glob(f"{_STATE}*"):
            file.unlink()

    def differs(self, step: str) -> dict[str, Any]:
        """URL → (then, now), where the account is not that of the old version."""
        then, now = self.record[step]["account"], account(self.output)
        return {
            url: (then.get(url), now.get(url))
            for url in {*then, *now}
            if then.get(url) != now.get(url) and not _decided(self, url, then.get(url), now.get(url))
        }


def _decided(old: Old, url: str, then: list[str | None] | None, now: list[str | None] | None) -> bool:
    """True for the differences that the design of the state decided on, and for no others."""
    if not then or not now:
        return False
    if then[0] == now[0] == "page" and (then[3] or "").endswith("redirect loop"):  # Each of the circle says the same.
        return now == [*then[:3], "redirect loop"]
    if then[0] == "page" and then[3] == "HTTP 410":  # is gone at once; the file stays
        return now == ["gone", then[1]]
    if then[0] == "gone" and old.case.name == "listed-and-crawled":  # what a run of one kind names is not gone
        return now[0] == "page"
    if then[0] == now[0] == "page" and re.search(r"\.(md|html)/", url.removeprefix(HOME)):
        # A folder that is named like a page's file gets `_`. What is saved keeps its path.
        return url not in old.done_before and then[2:] == now[2:]
    return False


def _again(old: Old) -> set[str]:
    """Asked for whatever was done before: where a run begins."""
    return {old.case.last.url}


@pytest.fixture
def old(request: pytest.FixtureRequest, tmp_path: Path, run_here: RunHere) -> Iterator[Old]:
    """The mirror of a case, as if the machine had stayed up since. After a power cut it has not."""
    case: Case = request.param
    if case.https:
        try:
            certificate.good()
        except NoOpenssl as missing:
            pytest.skip(str(missing))
    with Web() as web:
        opened = Old(case, web, tmp_path / "old", run_here)
        if case.interrupted and not case.power_cut and _BOOT_ID.exists():
            opened.booted(_BOOT_ID.read_text().strip())
        yield opened


def of(cases: Any) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("old", cases, indirect=True, ids=lambda case: case.name)


@of(CASES)
def test_verify_finds_what_it_found_then(old: Old) -> None:
    """A whole mirror is sound; of one that was interrupted, the same is missing."""
    assert old.verify() == old.record["verified"]


@of(CASES)
def test_the_same_command_goes_on(old: Old) -> None:
    """It asks for nothing that is done, and each URL becomes what the old version made of it."""
    then = old.record["goes_on"]
    assert old.run() == then["status"]
    assert old.differs("goes_on") == {}
    assert old.web.asked() <= {*then["asked"]}
    asks_again = old.case.last.options.get("update") or old.case.power_cut  # for changes, and for what was lost
    if not asks_again:
        assert not old.web.asked() & old.done_before - _again(old)
    assert old.verify() == then["verified"] == _SOUND


@of(CASES)
def test_an_update_fetches_what_has_changed(old: Old) -> None:
    """One page has another text since: that is fetched, and nothing else that the old version would not have."""
    old.run()
    change(old.web, old.case.changing)
    then = old.record["updated"]
    assert old.run(update=True) == then["status"]
    assert HOME + old.case.changing in old.web.asked(status=200) <= {*then["fetched"]}
    _, path, *_ = account(old.output)[HOME + old.case.changing]
    assert "version 9" in (old.home / str(path)).read_text("utf-8")
    assert old.differs("updated") == {}
    assert old.verify() == then["verified"] == _SOUND


@of(INTERRUPTED)
def test_it_goes_on_after_a_restart_of_the_machine(old: Old) -> None:
    """Files that had not been forced onto the disk are compared with their hashes; all are there."""
    old.booted("another")
    assert old.run() == old.record["goes_on"]["status"]
    assert old.differs("goes_on") == {}
    assert old.verify() == _SOUND


@of(KILLED)
def test_it_goes_on_with_torn_journals(old: Old) -> None:
    """A power cut took the last commits of the state and half a line of `_processed.txt`."""
    for name in (f"{_STATE}-wal", "_processed.txt"):
        file = old.home / name
        if file.exists() and (data := file.read_bytes()):
            file.write_bytes(data[: -(len(data) // 3)])
    old.booted("another")
    assert old.run() == old.record["goes_on"]["status"]
    assert old.differs("goes_on") == {}
    assert old.verify() == _SOUND


@of([case for case in CASES if not case.interrupted])
def test_a_whole_mirror_goes_on_without_its_state(old: Old) -> None:
    """The manifest and `_processed.txt` say what is done: no page of a mirror is fetched again."""
    then = old.record["without_state"]
    old.lose_state()
    assert old.run() == then["status"]
    assert old.differs("without_state") == {}
    if old.case.last.command == "mirror":  # A crawl may ask for its pages once, to read their links.
        assert old.web.asked() <= {*then["asked"]}
    assert old.verify() == then["verified"] == _SOUND


@of(INTERRUPTED)
def test_an_interrupted_mirror_loses_no_page_without_its_state(old: Old) -> None:
    """Killed, and the state is lost as well: no page is missing, and no problem is new."""
    then = old.record["without_state"]
    old.lose_state()
    old.run()
    now = account(old.output)
    missing = {
        url
        for url, row in old.record["goes_on"]["account"].items()
        if row[0] in ("page", "alias") and (url not in now or now[url][0] not in ("page", "alias"))
    }
    assert {url for url in missing if not _decided(old, url, old.record["goes_on"]["account"][url], now[url])} == set()
    wrong = [problem for problem in old.verify()["problems"] if problem not in then["verified"]["problems"]]
    if old.case.name == "killed-file-moved":  # Of a page's two files one had moved: the other is nobody's now.
        wrong.remove(["orphan", f"{HOST}/p_52d4c5a4.html"])
    assert wrong == []
