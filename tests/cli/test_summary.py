"""The summary of a run."""

from __future__ import annotations

from sitemirror.cli.job import command_line
from sitemirror.cli.summary import summary
from sitemirror.publish.report import ListReport, RunStatus, SitemapReport, SitemapStatus
from tests.cli.scripted import mirror_report

TYPED = "sitemirror mirror https://example.com/"


def test_successful_run_has_no_advice() -> None:
    """Pages, time and files; there is nothing left to do."""
    assert summary(mirror_report(RunStatus.OK), TYPED) == [
        "ok: 3 pages saved; 1.0 s",
        "manifest: output/example.com/_manifest.json",
        "contents: output/example.com/_index.md",
    ]


def test_counts_in_scope_add_up() -> None:
    """The URLs in scope are the sum of what became of them; duplicates and URLs out of scope follow apart."""
    report = mirror_report(
        RunStatus.PARTIAL,
        total_pages=692,
        successful=2,
        failed=1,
        skipped=689,
        out_of_scope=688,
        duplicates=4,
        elapsed_sec=200,
    )
    lines = summary(report, TYPED)
    assert lines[0] == (
        "partial: 4 URLs in scope: 2 pages saved, 1 failed, 1 skipped; 4 duplicates, 688 out of scope; 3 min 20 s"
    )
    assert lines[3].startswith("why pages failed: ")
    assert lines[3].endswith("_failed.log")
    assert lines[4] == f"to retry the failed pages, run the same command: {TYPED}"


def test_out_of_scope_urls_alone_leave_a_run_simple() -> None:
    """A run for one section is not mostly skipped."""
    report = mirror_report(RunStatus.OK, total_pages=692, successful=4, skipped=688, out_of_scope=688)
    assert summary(report, TYPED)[0] == "ok: 4 pages saved; 688 out of scope; 1.0 s"


def test_no_retry_is_suggested_for_other_start_urls() -> None:
    """A run for another start URL found them, and only that one tries them."""
    lines = summary(mirror_report(RunStatus.PARTIAL, failed=2, failed_elsewhere=2), TYPED)
    assert lines[-1].startswith("why pages failed: ")
    lines = summary(mirror_report(RunStatus.PARTIAL, failed=2, failed_elsewhere=1), TYPED)
    assert lines[-1].startswith("to retry the failed pages")


def test_no_retry_is_suggested_for_permanent_failures() -> None:
    """A page that is not there is not there the next time either."""
    lines = summary(mirror_report(RunStatus.PARTIAL, failed=2, failed_permanently=2), TYPED)
    assert lines[-1] == "all failures are permanent, such as HTTP 404: a retry helps only after the site has changed"
    lines = summary(mirror_report(RunStatus.PARTIAL, failed=2, failed_permanently=1), TYPED)
    assert lines[-1].startswith("to retry the failed pages")


def test_update_summary_shows_changes() -> None:
    """Most pages were there before: new, changed and unchanged ones add up to the pages."""
    report = mirror_report(RunStatus.OK, successful=59, new=1, changed=3)
    lines = summary(report, TYPED, checks_saved_pages=True)
    assert lines[0] == "ok: 59 pages: 1 new, 3 changed, 55 unchanged; 1.0 s"
    assert len(lines) == 3


def test_failed_updates_are_not_unchanged() -> None:
    """Nobody knows whether they changed."""
    report = mirror_report(RunStatus.PARTIAL, successful=59, new=1, changed=3, refresh_failed=5)
    lines = summary(report, TYPED, checks_saved_pages=True)
    assert lines[0] == "partial: 59 pages: 1 new, 3 changed, 50 unchanged, 5 not updated; 1.0 s"


def test_rerun_without_update_says_that_nothing_was_checked() -> None:
    """Without --update saved pages are not requested, and the summary does not call them unchanged."""
    lines = summary(mirror_report(RunStatus.OK, successful=59, new=0), TYPED)
    assert lines[0] == "ok: 59 pages: 0 new, 59 saved earlier; 1.0 s"
    assert lines[-1] == "pages saved earlier were not checked for changes: --update checks them"


def test_changes_and_failures_add_up() -> None:
    """Changes are a part of the saved pages."""
    report = mirror_report(RunStatus.PARTIAL, total_pages=61, successful=59, failed=2, new=1, changed=3)
    lines = summary(report, TYPED, checks_saved_pages=True)
    assert lines[0] == "partial: 61 URLs in scope: 59 pages saved (1 new, 3 changed, 55 unchanged), 2 failed; 1.0 s"


def test_assets_are_not_called_pages() -> None:
    """A crawl saves pictures and style sheets as well."""
    report = mirror_report(RunStatus.OK, successful=12, assets=11, new=2)
    assert summary(report, TYPED, checks_saved_pages=True)[0] == (
        "ok: 1 page and 11 other files: 2 new, 0 changed, 10 unchanged; 1.0 s"
    )


def test_gone_pages_are_in_the_summary() -> None:
    """Otherwise a sitemap that shrank to nothing would look like any other."""
    lines = summary(mirror_report(RunStatus.OK, successful=3, new=0, gone=10), TYPED, checks_saved_pages=True)
    assert lines[0] == "ok: 3 pages: 0 new, 0 changed, 3 unchanged; 10 no longer on the site; 1.0 s"


def test_not_reached_pages_and_how_to_resume() -> None:
    """After --max-pages, which is named as it has a default, the same command takes the rest."""
    lines = summary(mirror_report(RunStatus.PARTIAL, successful=1, not_reached=2), TYPED)
    assert lines[0] == "partial: 3 URLs in scope: 1 page saved, 2 not reached; 1.0 s"
    assert lines[-1] == f"stopped by --max-pages (0 = no limit); to fetch the rest, run the same command: {TYPED}"


def test_interrupted_run_shows_how_to_resume() -> None:
    """The command to resume is the only advice."""
    lines = summary(mirror_report(RunStatus.INTERRUPTED, successful=1, not_reached=2), TYPED)
    assert lines[-1] == f"to resume, run the same command: {TYPED}"


def test_list_summary() -> None:
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


def test_repeated_command_line_hides_secrets() -> None:
    """Quoted for the shell; passwords and tokens are masked."""
    shown = command_line(
        "sitemirror",
        ["mirror", "https://e.com/?a=1&b=2", "--basic-auth", "me:secret", "--header=Authorization: token", "--quiet"],
    )
    assert "secret" not in shown
    assert "token" not in shown
    assert shown.startswith("sitemirror mirror ")
    assert "https://e.com/?a=1&b=2" in shown
    assert shown.endswith("--quiet")
