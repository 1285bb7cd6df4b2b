"""The last words of a run."""

from __future__ import annotations

from sitemirror.cli.job import command_line, summary
from sitemirror.publish.report import ListReport, RunStatus, SitemapReport, SitemapStatus
from tests.cli.scripted import mirror_report

TYPED = "sitemirror mirror https://example.com/"


def test_successful_run_has_no_advice() -> None:
    """Counts, duration and location."""
    assert summary(mirror_report(RunStatus.OK), TYPED) == [
        "ok: 3 pages saved; 1.0 s",
        "manifest: output/example.com/_manifest.json",
        "contents: output/example.com/_index.md",
    ]


def test_failed_pages_and_how_to_retry() -> None:
    """The log with the reasons, and the command that tries again."""
    lines = summary(
        mirror_report(RunStatus.PARTIAL, successful=1, failed=1, skipped=1200, duplicates=4, elapsed_sec=200), TYPED
    )
    assert lines[0] == "partial: 1 page saved, 1 failed, 1,200 skipped, 4 duplicates; 3 min 20 s"
    assert lines[3].startswith("why pages failed: ")
    assert lines[3].endswith("_failed.log")
    assert lines[4] == f"to try the failed pages again, run the same command: {TYPED}"


def test_no_useless_advice() -> None:
    """Failures of another start URL are not retried by the same command."""
    lines = summary(mirror_report(RunStatus.PARTIAL, failed=2, failed_elsewhere=2), TYPED)
    assert lines[-1].startswith("why pages failed: ")
    lines = summary(mirror_report(RunStatus.PARTIAL, failed=2, failed_elsewhere=1), TYPED)
    assert lines[-1].startswith("to try the failed pages again")


def test_later_run_shows_new_and_changed() -> None:
    """Counts of new and changed pages."""
    lines = summary(mirror_report(RunStatus.OK, successful=1200, new=2, changed=31), TYPED)
    assert lines[0] == "ok: 1,200 pages saved (2 new, 31 changed); 1.0 s"


def test_assets_are_not_called_pages() -> None:
    """A crawl saves images and style sheets as well."""
    lines = summary(mirror_report(RunStatus.OK, successful=12, assets=11, new=2), TYPED)
    assert lines[0] == "ok: 1 page and 11 other files saved (2 new, 0 changed); 1.0 s"


def test_gone_pages_are_in_the_summary() -> None:
    """A sitemap that shrank to nothing must be visible."""
    lines = summary(mirror_report(RunStatus.OK, successful=3, new=0, gone=10), TYPED)
    assert lines[0] == "ok: 3 pages saved (0 new, 0 changed), 10 no longer on the site; 1.0 s"


def test_not_reached_pages_and_how_to_resume() -> None:
    """After --max-pages, which is named, the same command continues."""
    lines = summary(mirror_report(RunStatus.PARTIAL, successful=1, not_reached=2), TYPED)
    assert lines[0] == "partial: 1 page saved, 2 not reached; 1.0 s"
    assert lines[-1] == f"stopped by --max-pages (0 = no limit); to go on with the rest, run the same command: {TYPED}"


def test_interrupted_run_shows_how_to_resume() -> None:
    """The command to resume is the only advice."""
    lines = summary(mirror_report(RunStatus.INTERRUPTED, successful=1, not_reached=2), TYPED)
    assert lines[-1] == f"to resume, run the same command: {TYPED}"


def test_list_summary() -> None:
    """URLs, sitemaps, repeats and the path of the outline."""
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
