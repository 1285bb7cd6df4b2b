"""The two files that say how far a run is."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from sitemirror.publish.progress import (
    Checkpoint,
    CorruptFile,
    Progress,
    SitemapProgress,
    SitemapState,
    SitemapType,
    check_checkpoint,
)

PROGRESS = Progress(processed=100, total=400, elapsed_sec=50.5, eta_sec=151.5, rate=2.0, failed=1, skipped=3)
CHECKPOINT = Checkpoint(
    started_at="2026-01-03T20:00:00Z",
    source_url="https://example.com/",
    sitemap_type=SitemapType.INDEX,
    sitemaps=(
        SitemapProgress(url="https://example.com/1.xml", status=SitemapState.COMPLETED, urls_processed=10),
        SitemapProgress(url="https://example.com/2.xml", status=SitemapState.IN_PROGRESS, urls_processed=5),
    ),
    total_processed=15,
    total_expected=None,
)


def test_progress_has_the_documented_fields() -> None:
    """A script that watches the file finds these names."""
    assert json.loads(PROGRESS.dump()) == {
        "processed": 100,
        "total": 400,
        "elapsed_sec": 50.5,
        "eta_sec": 151.5,
        "rate": 2.0,
        "failed": 1,
        "skipped": 3,
    }
    assert json.loads(replace(PROGRESS, eta_sec=None).dump())["eta_sec"] is None


def test_checkpoint_has_the_documented_fields() -> None:
    """The older format's fields keep their names and values."""
    assert json.loads(CHECKPOINT.dump()) == {
        "version": 1,
        "started_at": "2026-01-03T20:00:00Z",
        "source_url": "https://example.com/",
        "sitemap_type": "index",
        "sitemaps": [
            {"url": "https://example.com/1.xml", "status": "completed", "urls_processed": 10},
            {"url": "https://example.com/2.xml", "status": "in_progress", "urls_processed": 5},
        ],
        "sitemaps_completed_before": 0,
        "total_processed": 15,
        "total_expected": None,
    }


def test_written_checkpoint_is_valid() -> None:
    """What was written passes the check."""
    check_checkpoint(CHECKPOINT.dump())


CHANGES: st.SearchStrategy[object] = st.sampled_from(
    [None, True, False, -1, 0, 7, 1.0, 2.5, "7", "single", "completed", "", [], {}, [{}], 10**30]
)


@given(
    st.dictionaries(st.sampled_from([*json.loads(CHECKPOINT.dump()), "more"]), CHANGES, max_size=2),
    st.dictionaries(st.sampled_from(["url", "status", "urls_processed", "more"]), CHANGES, max_size=2),
    st.sets(st.sampled_from([*json.loads(CHECKPOINT.dump())]), max_size=1),
)
def test_fast_check_agrees_with_pydantic(
    changes: dict[str, object], of_a_sitemap: dict[str, object], dropped: set[str]
) -> None:
    """Nearly every checkpoint is checked without pydantic, with the same result."""
    document = json.loads(CHECKPOINT.dump())
    document["sitemaps"][0] |= of_a_sitemap
    document |= changes
    data = json.dumps({name: value for name, value in document.items() if name not in dropped}).encode()
    try:
        TypeAdapter(Checkpoint).validate_json(data)
    except ValidationError:
        with pytest.raises(CorruptFile):
            check_checkpoint(data)
    else:
        check_checkpoint(data)


def test_older_checkpoint_is_valid() -> None:
    """The first version lacked the expected total and the count of earlier sitemaps."""
    content = json.loads(CHECKPOINT.dump())
    del content["sitemaps_completed_before"], content["total_expected"]
    check_checkpoint(json.dumps(content).encode())


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "JSON"),
        (b'{"version": 1, "started', "JSON"),
        (b"\xff\x00garbage", "JSON"),
        (b"[]", "(?i)dict|object"),
        (CHECKPOINT.dump().replace(b'"version": 1', b'"version": 2'), "version"),
        (CHECKPOINT.dump().replace(b'"in_progress"', b'"lost"'), r"sitemaps\.1\.status"),
        (CHECKPOINT.dump().replace(b'"total_processed": 15', b'"total_processed": "15"'), "total_processed"),
        (CHECKPOINT.dump().replace(b'"total_processed": 15', b'"total_processed": -1'), "total_processed"),
    ],
)
def test_corrupt_checkpoint_is_refused_with_reason(data: bytes, said: str) -> None:
    """The message says in one line what is wrong."""
    with pytest.raises(CorruptFile, match=said) as caught:
        check_checkpoint(data)
    assert "\n" not in str(caught.value)


def test_truncated_checkpoint_is_corrupt() -> None:
    """No prefix of a checkpoint is valid."""
    whole = CHECKPOINT.dump().rstrip()
    for length in range(len(whole)):
        with pytest.raises(CorruptFile):
            check_checkpoint(whole[:length])
