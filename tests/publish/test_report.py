"""The JSON on stdout: named fields, in ASCII, as the published schemas say."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from sitemirror.publish.report import (
    ErrorReport,
    ListReport,
    MirrorReport,
    Report,
    RunStatus,
    SitemapReport,
    SitemapStatus,
)

SCHEMAS = Path(__file__).parents[2] / "docs/schema"

LISTED = ListReport(
    status=RunStatus.PARTIAL,
    url="https://example.com/",
    sitemaps=(
        SitemapReport(url="https://example.com/sitemap.xml", urls=3, status=SitemapStatus.OK),
        SitemapReport(url="https://example.com/b.xml", urls=0, status=SitemapStatus.FAILED, error="HTTP 404"),
    ),
    total_urls=2,
    duplicates=1,
    outline="output/example.com/sitemap-20260103-200000.md",
    elapsed_sec=1.5,
)
MIRRORED = MirrorReport(
    status=RunStatus.OK,
    url="https://example.com/",
    output_dir="output/example.com",
    total_pages=2,
    successful=2,
    failed=0,
    skipped=0,
    duplicates=1,
    not_reached=0,
    elapsed_sec=1.5,
    manifest="output/example.com/_manifest.json",
    index="output/example.com/_index.md",
)
FAILED = ErrorReport(command="list", url="nowhere", error="no such host", hint="check the name", elapsed_sec=0.1)


def printed(report: Report, schema: str) -> dict[str, Any]:
    """The report as a program that reads stdout sees it, checked against the schema it was given."""
    document: dict[str, Any] = json.loads(report.to_json())
    Draft202012Validator(json.loads((SCHEMAS / f"{schema}.schema.json").read_text("utf-8"))).validate(document)
    return document


def test_list_report_has_documented_keys() -> None:
    """A sitemap's error is present only if there is one."""
    document = printed(LISTED, "list-report")
    assert list(document) == [
        "status",
        "command",
        "url",
        "sitemaps",
        "total_urls",
        "duplicates",
        "outline",
        "elapsed_sec",
        "warnings",
    ]
    assert document["sitemaps"] == [
        {"url": "https://example.com/sitemap.xml", "urls": 3, "status": "ok"},
        {"url": "https://example.com/b.xml", "urls": 0, "status": "failed", "error": "HTTP 404"},
    ]


def test_mirror_report_has_documented_keys() -> None:
    """`error` and `hint` are absent if there was no error."""
    assert list(printed(MIRRORED, "mirror-report")) == [
        "status",
        "command",
        "url",
        "output_dir",
        "total_pages",
        "successful",
        "failed",
        "skipped",
        "duplicates",
        "not_reached",
        "new",
        "changed",
        "elapsed_sec",
        "manifest",
        "index",
        "warnings",
    ]


def test_aborted_run_reports_its_counts() -> None:
    """An aborted mirror reports the error, the hint and its progress."""
    report = replace(MIRRORED, status=RunStatus.ERROR, error="Insufficient disk space", hint="free some", index=None)
    document = printed(report, "mirror-report")
    assert (document["error"], document["hint"], document["successful"]) == ("Insufficient disk space", "free some", 2)
    assert document["index"] is None


@pytest.mark.parametrize("schema", ["list-report", "mirror-report"])
def test_early_failure_fits_both_schemas(schema: str) -> None:
    """A failure before the run fits the schemas of both commands."""
    document = printed(FAILED, schema)
    assert (document["status"], document["error"], document["hint"]) == ("error", "no such host", "check the name")


def test_control_characters_are_escaped() -> None:
    """Escape sequences and bidi controls in errors are escaped; the text is printable ASCII."""
    report = ErrorReport(
        command="mirror",
        url="https://x/\u202e",
        error="\x1b[31mred\x9b日",
        hint="",
        elapsed_sec=0,
        warnings=("\u2066",),
    )
    assert json.loads(report.to_json())["error"] == "\\x1b[31mred\\x9b日"
    assert all(char.isprintable() and char.isascii() for char in report.to_json().replace("\n", ""))


def test_path_that_is_not_unicode_can_be_reported() -> None:
    """Linux allows folder names in any encoding."""
    report = replace(MIRRORED, output_dir="output/\udcff")
    assert json.loads(report.to_json())["output_dir"] == "output/\udcff"


@pytest.mark.parametrize("change", [{"failed": -1}, {"status": "fine"}, {"elapsed_sec": -0.1}, {"pages": 3}])
def test_invalid_values_raise(change: dict[str, Any]) -> None:
    """Negative counts, unknown statuses and unknown keys are bugs and raise."""
    with pytest.raises((ValueError, TypeError)):
        replace(MIRRORED, **change)
