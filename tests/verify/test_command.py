"""`sitemirror verify` as a person or a program calls it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from sitemirror.publish.schema import schemas
from tests.conftest import RunHere
from tests.verify.conftest import Mirrored


def test_a_sound_mirror(mirrored: Mirrored, run_here: RunHere) -> None:
    """Exit code 0, a report that fits its schema, and one line for a person."""
    copy = mirrored("mirror")
    done = run_here("verify", copy.folder)
    assert done.returncode == 0
    assert (done.json["status"], done.json["command"], done.json["problems"]) == ("ok", "verify", [])
    Draft202012Validator(schemas()["verify-report"]).validate(done.json)
    assert done.stderr.startswith("ok: ")
    assert len(done.stderr.splitlines()) == 1


def test_a_damaged_mirror(mirrored: Mirrored, run_here: RunHere) -> None:
    """Exit code 1, each problem a line on stderr without control characters, and the same in the report."""
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


def test_a_hint_is_given_where_it_helps(mirrored: Mirrored, run_here: RunHere) -> None:
    """Fetching again mends what is missing, and everything anew what has changed, but nothing a stranger's file or a
    link of the site's own to a place that it lacks."""
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


def test_dead_links_of_an_interrupted_run_are_fixed_when_it_ends(mirrored: Mirrored) -> None:
    """Links are updated at the end of a run: nothing has to be downloaded again for them."""
    copy = mirrored("mirror")
    manifest = json.loads((copy.folder / "_manifest.json").read_text())
    for complete, advice in ((True, "delete what"), (False, "to its end")):
        (copy.folder / "_manifest.json").write_text(json.dumps(manifest | {"complete": complete}))
        (copy.folder / "stray.md").write_text("written just before a kill")
        assert advice in (copy.verify().hint or "")


def test_dead_anchors_alone_have_a_hint(mirrored: Mirrored) -> None:
    """The hint says how to find out whose mistake it is."""
    copy = mirrored("mirror-local")
    copy.forget_what_was_saved()
    page = copy.folder / "guide/index.md"
    page.write_text(page.read_text("utf-8") + "\n[up](../index.md#nowhere)\n", "utf-8")
    report = copy.verify()
    assert [problem.kind for problem in report.problems] == ["anchor"]
    assert "the site's mistake" in (report.hint or "")


def test_many_problems_are_counted_and_not_all_kept(mirrored: Mirrored) -> None:
    """The report keeps the first thousand and the number of all."""
    copy = mirrored("mirror")
    with (copy.folder / "_processed.txt").open("a", encoding="utf-8") as log:
        log.writelines(f"http://127.0.0.1/{number}\n" for number in range(1500))
    report = copy.verify()
    assert (report.problems_total, len(report.problems)) == (1500, 1000)


@pytest.mark.parametrize("name", ["nowhere", "file", "empty"])
def test_what_is_no_mirror(run_here: RunHere, tmp_path: Path, name: str) -> None:
    """No such folder, a file, and a folder without a mirror are wrong usage: exit code 2, nothing on stdout."""
    (tmp_path / "file").write_text("x")
    (tmp_path / "empty").mkdir()
    done = run_here("verify", tmp_path / name)
    assert (done.returncode, done.stdout) == (2, "")
    assert "hint: give the folder of a" in done.stderr


def test_paths_are_relative_to_the_working_folder(mirrored: Mirrored, run_here: RunHere) -> None:
    """From inside a mirror, its files are named as they are opened there."""
    copy = mirrored("mirror")
    (copy.folder / "guide/index.md").unlink()
    done = run_here("verify", ".", cwd=copy.folder)
    assert [problem["where"] for problem in done.json["problems"]] == ["guide/index.md"]
    assert json.loads(done.stdout)["folder"] == "."
