"""The last words of a run."""

from __future__ import annotations

from sitemirror.cli.job import command_line, summary
from sitemirror.publish.report import ListReport, RunStatus, SitemapReport, SitemapStatus
from tests.cli.scripted import mirror_report

TYPED = "sitemirror mirror https://example.com/"


def test_a_clean_run_has_no_advice() -> None:
    """What was saved, how long it took and where it is; nothing is left to do."""
    assert summary(mirror_report(RunStatus.OK), TYPED) == [
        "ok: 3 pages saved; 1.0 s",
        "manifest: output/example.com/_manifest.json",
        "contents: output/example.com/_index.md",
    ]


def test_failed_pages_are_counted_and_the_way_to_retry_is_said() -> None:
    """The log that says why, and the command that tries again."""
    lines = summary(
        mirror_report(RunStatus.PARTIAL, successful=1, failed=1, skipped=1200, duplicates=4, elapsed_sec=200), TYPED
    )
    assert lines[0] == "partial: 1 page saved, 1 failed, 1,200 skipped, 4 duplicates; 3 min 20 s"
    assert lines[3].startswith("why pages failed: ")
    assert lines[3].endswith("_failed.log")
    assert lines[4] == f"to try the failed pages again, run the same command: {TYPED}"


def test_no_advice_that_does_not_help() -> None:
    """What another command has found, and this one does not try, the same command would not try either."""
    lines = summary(mirror_report(RunStatus.PARTIAL, failed=2, failed_elsewhere=2), TYPED)
    assert lines[-1].startswith("why pages failed: ")
    lines = summary(mirror_report(RunStatus.PARTIAL, failed=2, failed_elsewhere=1), TYPED)
    assert lines[-1].startswith("to try the failed pages again")


def test_a_run_over_a_mirror_says_what_it_did() -> None:
    """Most pages were there before: whether an update found anything is what somebody wants to know."""
    lines = summary(mirror_report(RunStatus.OK, successful=1200, new=2, changed=31), TYPED)
    assert lines[0] == "ok: 1,200 pages saved (2 new, 31 changed); 1.0 s"


def test_files_that_are_no_pages_are_not_called_pages() -> None:
    """A crawl saves pictures and style sheets as well."""
    lines = summary(mirror_report(RunStatus.OK, successful=12, assets=11, new=2), TYPED)
    assert lines[0] == "ok: 1 page and 11 other files saved (2 new, 0 changed); 1.0 s"


def test_gone_pages_are_in_the_summary() -> None:
    """Otherwise a sitemap that shrank to nothing would look like any other."""
    lines = summary(mirror_report(RunStatus.OK, successful=3, new=0, gone=10), TYPED)
    assert lines[0] == "ok: 3 pages saved (0 new, 0 changed), 10 no longer on the site; 1.0 s"


def test_what_was_not_reached_is_gone_on_with() -> None:
    """After --max-pages, which is named as it has a default, the same command takes the rest."""
    lines = summary(mirror_report(RunStatus.PARTIAL, successful=1, not_reached=2), TYPED)
    assert lines[0] == "partial: 1 page saved, 2 not reached; 1.0 s"
    assert lines[-1] == f"stopped by --max-pages (0 = no limit); to go on with the rest, run the same command: {TYPED}"


def test_an_interrupted_run_says_how_to_resume() -> None:
    """Resuming is the one thing to say."""
    lines = summary(mirror_report(RunStatus.INTERRUPTED, successful=1, not_reached=2), TYPED)
    assert lines[-1] == f"to resume, run the same command: {TYPED}"


def test_a_listing_says_what_it_found_and_where() -> None:
    """URLs, sitemaps, repeats and the outline's path."""
    report = ListReport(
        status=RunStatus.INTERRUPTED,
        url="https://example.com/",
        sitemaps=(SitemapReport(url="https://example.com/s.xml", urls=12, status=SitemapStatus.OK),),
        total_urls=10,
        duplicates=2,
        outline="output/example.com/sitemap-20260103-200000.md",
        elapsed_sec=0.5,
    )
    assert summary(report, "sitemirror list x") == [
        "interrupted: 10 URLs in 1 sitemap, 2 listed more than once; 0.5 s",
        "outline: output/example.com/sitemap-20260103-200000.md",
        "to resume, run the same command: sitemirror list x",
    ]


def test_the_command_line_can_be_typed_again_but_keeps_secrets() -> None:
    """Quoted for the shell; passwords and tokens are not repeated into a log."""
    shown = command_line(
        "sitemirror",
        ["mirror", "https://e.com/?a=1&b=2", "--basic-auth", "me:secret", "--header=Authorization: token", "--quiet"],
    )
    assert "secret" not in shown
    assert "token" not in shown
    assert shown.startswith("sitemirror mirror ")
    assert "https://e.com/?a=1&b=2" in shown
    assert shown.endswith("--quiet")
