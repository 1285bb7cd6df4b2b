"""A block of ours in a file of somebody else's: put in, renewed, taken out without a trace."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitemirror.agents.marked_block import MARKDOWN, TOML, Comment, has_block, put_block, remove_block
from sitemirror.errors import UsageError

FILES = [
    b"",
    b"\n",
    b"# Rules\n",
    b"# Rules",
    b"# Rules\n\n\n",
    b"# Rules\r\n\r\nBe kind.\r\n",
    b"# Rules\r\nBe kind.",
    b"mixed\r\nends\n",
    b"odd end\r",
    b"\xef\xbb\xbf# With a mark\n",
    b"\xff\xfe no UTF-8\n",
]


@pytest.mark.parametrize("data", FILES)
def test_removal_restores_every_byte(data: bytes) -> None:
    """No final newline, CRLF, an empty file: what comes out is what went in."""
    put = put_block(data, "one\ntwo", MARKDOWN)
    assert put.startswith(data)
    assert b"one" in put
    assert has_block(put, MARKDOWN)
    assert remove_block(put, MARKDOWN) == data


@given(st.binary().filter(lambda data: b"\0" not in data), st.sampled_from([MARKDOWN, TOML]))
def test_any_file_comes_back(data: bytes, style: Comment) -> None:
    """Also after the block was renewed with another text."""
    put = put_block(put_block(data, "one", style), "another\ntext", style)
    assert remove_block(put, style) == data


def test_file_made_for_the_block_is_to_be_deleted() -> None:
    """Unless somebody has written into it meanwhile."""
    put = put_block(None, "text", MARKDOWN)
    assert remove_block(put, MARKDOWN) is None
    assert remove_block(put + b"# Mine\n", MARKDOWN) == b"# Mine\n"
    assert remove_block(b"# Mine\n" + put, MARKDOWN) == b"# Mine\n"


def test_block_is_renewed_where_it_stands() -> None:
    """What somebody wrote behind it stays behind it, and line ends stay those of the file."""
    put = put_block(b"# A\r\n", "old", MARKDOWN) + b"# B\r\n"
    renewed = put_block(put, "new\nlines", MARKDOWN)
    assert b"\r\nnew\r\nlines\r\n<!-- sitemirror end -->\r\n# B\r\n" in renewed
    assert b"old" not in renewed
    assert remove_block(renewed, MARKDOWN) == b"# A\r\n# B\r\n"


def test_file_without_block_stays_as_it_is() -> None:
    """Removal twice is no error, and text that only speaks of sitemirror is no block."""
    data = b"Run sitemirror begin and end.\n"
    assert remove_block(data, MARKDOWN) == data


@pytest.mark.parametrize(
    "change",
    [
        lambda put: put.replace(b"<!-- sitemirror end -->\n", b""),
        lambda put: put.replace(b"<!-- sitemirror begin -->\n", b""),
        lambda put: put + put,
        lambda put: put[put.index(b"<!-- sitemirror end") :] + put[: put.index(b"<!-- sitemirror end")],
    ],
)
def test_damaged_markers_are_refused(change: Callable[[bytes], bytes]) -> None:
    """Nobody can tell then what is ours."""
    put = change(put_block(b"# A\n", "text", MARKDOWN))
    with pytest.raises(UsageError, match="damaged"):
        remove_block(put, MARKDOWN)
    with pytest.raises(UsageError, match="damaged"):
        put_block(put, "more", MARKDOWN)


def test_other_encodings_are_refused() -> None:
    """A block in UTF-8 would make a file in UTF-16 unreadable."""
    with pytest.raises(UsageError, match="not text"):
        put_block("# Rules\n".encode("utf-16"), "text", MARKDOWN)
