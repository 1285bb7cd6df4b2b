"""Placeholder files for URLs without a page."""

from __future__ import annotations

from hashlib import md5

from hypothesis import given
from hypothesis import strategies as st

from sitemirror.publish.placeholders import failed_line, failed_placeholder, placeholder_name, skipped_placeholder


def test_name_is_hash_of_url() -> None:
    """Sixteen hex digits of the URL's MD5, so that a script can find a placeholder."""
    url = "https://example.com/a.pdf"
    assert placeholder_name(url) == md5(url.encode()).hexdigest()[:16] + ".md"


def test_skipped_file_is_described() -> None:
    """URL, reason, content type and size."""
    text = skipped_placeholder(
        url="https://example.com/a.pdf",
        reason="content type application/pdf",
        at="2026-01-03T20:00:00Z",
        content_type="application/pdf",
        size_bytes=1_234_567,
    ).decode()
    assert text.splitlines()[:7] == [
        "# Not saved: skipped",
        "",
        "- URL: [https://example.com/a.pdf](https://example.com/a.pdf)",
        "- Reason: content type application/pdf",
        "- Content type: application/pdf",
        "- Size: 1,234,567 bytes",
        "- Seen: 2026-01-03T20:00:00Z",
    ]


def test_too_large_file_names_the_option() -> None:
    """Whoever needs it learns how to save it; other files get no such advice."""
    url, at = "https://example.com/a.zip", "2026-01-03T20:00:00Z"
    text = skipped_placeholder(url=url, reason="exceeds size limit", at=at).decode()
    assert text.endswith("To save it, run the same command with a larger --max-file-size MB.\n")
    assert "--max-file-size" not in skipped_placeholder(url=url, reason="domain lock", at=at).decode()


def test_unknown_size_is_not_zero() -> None:
    """A size that was not sent is shown as not known."""
    text = skipped_placeholder(url="https://example.com/a", reason="domain lock", at="2026-01-03T20:00:00Z").decode()
    assert "- Content type: not known\n- Size: not known\n" in text


def test_failure_is_described() -> None:
    """URL, redirect target, error, attempts and time, and that the next run tries again."""
    text = failed_placeholder(
        url="https://example.com/x",
        error="HTTP 503",
        attempts=4,
        at="2026-01-03T20:00:00Z",
        final_url="https://example.com/y",
    ).decode()
    assert "- Redirected to: [https://example.com/y](https://example.com/y)\n- Error: HTTP 503\n- Attempts: 4\n" in text
    assert "retries this URL" in text


@given(st.text(), st.text(), st.text())
def test_log_line_has_three_fields(at: str, url: str, error: str) -> None:
    """Tabs, line ends and controls in a URL or an error are escaped."""
    line = failed_line(at, url, error).decode()
    assert line.endswith("\n")
    assert len(line[:-1].split("\t")) == 3
    assert line[:-1].splitlines() == [line[:-1]]


def test_log_line_has_whole_url() -> None:
    """URLs in the log are never truncated."""
    url = "https://example.com/" + "x" * 8_000
    assert failed_line("2026-01-03T20:00:00Z", url, "HTTP 404") == f"2026-01-03T20:00:00Z\t{url}\tHTTP 404\n".encode()


@given(st.text())
def test_errors_cannot_add_lines_to_a_placeholder(error: str) -> None:
    """Line ends in a server's message are escaped."""
    plain = failed_placeholder(url="https://example.com/", error="x", attempts=1, at="t").count(b"\n")
    assert failed_placeholder(url="https://example.com/", error=error, attempts=1, at="t").count(b"\n") == plain
