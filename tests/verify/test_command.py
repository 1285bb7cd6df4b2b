"""`sitemirror verify` as a person or a program calls it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from sitemirror.publish.schema import schemas
from tests.conftest import RunHere
from tests.verify.conftest import Mirrored


def test_sound_mirror_exits_0(mirrored: Mirrored, run_here: RunHere) -> None:
    """A report that fits its schema, and one line on stderr."""
    copy = mirrored("mirror")
    done = run_here("verify", copy.folder)
    assert done.returncode == 0
    assert (done.json["status"], done.json["command"], done.json["problems"]) == ("ok", "verify", [])
    Draft202012Validator(schemas()["verify-report"]).validate(done.json)
    assert done.stderr.startswith("ok: ")
    assert len(done.stderr.splitlines()) == 1


def test_damaged_mirror_exits_1(mirrored: Mirrored, run_here: RunHere) -> None:
    """Each problem is an escaped line on stderr and an entry in the report."""
    copy = mirrored("mirror")
    (copy.folder / "guide/index.md").unlink()
    (copy.folder / "evil\x1b[31m.md").write_text("x")
    done = run_here("verify", copy.folder)
    assert done.returncode == 1
    assert (done.json["status"], done.json["problems_total"]) == ("error", 2)
    assert [problem["kind"] for problem in done.json["problems"]] == ["missing", "orphan"]
    Draft202012Validator(schemas()["verify-report"]).validate(done.json)
    lines = done.stderr.splitlines()
    assert lines[0] == f"{copy.folder.as_posix()}/guide/index.md: _manifest.json names it, but it is not there"
    assert r"evil\x1b[31m.md" in lines[1]
    assert "\x1b" not in done.stderr + done.stdout
    assert lines[-2:] == [
        "sitemirror: error: 2 problems found",
        "hint: the command that made the mirror, with --update, fetches missing pages again",
    ]
    quiet = run_here("verify", copy.output, "--quiet")
    assert (quiet.returncode, quiet.json["problems"]) == (1, done.json["problems"])
    assert len(quiet.stderr.splitlines()) == 2


def test_hint_depends_on_kind_of_problem(mirrored: Mirrored, run_here: RunHere) -> None:
    """Missing files suggest a rerun, changed ones `--re-download-all`; orphans and the site's own links none."""
    copy = mirrored("mirror")
    page, stranger = copy.folder / "guide/index.md", copy.folder / "notes.md"
    stranger.write_text("mine")
    assert "hint: delete what you do not need" in run_here("verify", copy.folder).stderr
    stranger.unlink()
    page.write_text("edited")
    assert (
        "hint: the command that made the mirror, with --re-download-all, writes changed files anew"
        in run_here("verify", copy.folder).stderr
    )
    (copy.folder / "index.md").unlink()
    assert "--re-download-all, fetches missing pages again and writes changed" in (copy.verify().hint or "")


def test_dead_links_of_interrupted_run_are_fixed_at_its_end(mirrored: Mirrored) -> None:
    """Links are rewritten at the end of a run, without downloads."""
    copy = mirrored("mirror")
    manifest = json.loads((copy.folder / "_manifest.json").read_text())
    for complete, advice in ((True, "delete what"), (False, "to its end")):
        (copy.folder / "_manifest.json").write_text(json.dumps(manifest | {"complete": complete}))
        (copy.folder / "stray.md").write_text("written just before a kill")
        assert advice in (copy.verify().hint or "")


def test_dead_anchors_alone_have_a_hint(mirrored: Mirrored) -> None:
    """The hint says how to find out if the site lacks the anchor, too."""
    copy = mirrored("mirror-local")
    copy.forget_what_was_saved()
    page = copy.folder / "guide/index.md"
    page.write_text(page.read_text("utf-8") + "\n[up](../index.md#nowhere)\n", "utf-8")
    report = copy.verify()
    assert [problem.kind for problem in report.problems] == ["anchor"]
    assert "the site's mistake" in (report.hint or "")


def test_only_first_thousand_problems_are_listed(mirrored: Mirrored) -> None:
    """The report also has the total number."""
    copy = mirrored("mirror")
    with (copy.folder / "_processed.txt").open("a", encoding="utf-8") as log:
        log.writelines(f"http://127.0.0.1/{number}\n" for number in range(1500))
    report = copy.verify()
    assert (report.problems_total, len(report.problems)) == (1500, 1000)


@pytest.mark.parametrize("name", ["nowhere", "file", "empty"])
def test_folder_without_mirror_is_wrong_usage(run_here: RunHere, tmp_path: Path, name: str) -> None:
    """A missing folder, a file, and a folder without a mirror: exit code 2, nothing on stdout."""
    (tmp_path / "file").write_text("x")
    (tmp_path / "empty").mkdir()
    done = run_here("verify", tmp_path / name)
    assert (done.returncode, done.stdout) == (2, "")
    assert "hint: give the folder of a" in done.stderr


def test_paths_are_relative_to_the_working_folder(mirrored: Mirrored, run_here: RunHere) -> None:
    """Inside a mirror, files are named as they are opened from there."""
    copy = mirrored("mirror")
    (copy.folder / "guide/index.md").unlink()
    done = run_here("verify", ".", cwd=copy.folder)
    assert [problem["where"] for problem in done.json["problems"]] == ["guide/index.md"]
    assert json.loads(done.stdout)["folder"] == "."
