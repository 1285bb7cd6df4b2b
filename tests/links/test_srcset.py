"""A srcset is read as browsers read it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitemirror.links.values import srcset_candidates, srcset_urls


@pytest.mark.parametrize(
    ("srcset", "expected"),
    [
        ("a.png", ["a.png"]),
        ("a.png, b.png 2x", ["a.png", "b.png"]),
        ("a,b.png 1x, c,d.png 2x", ["a,b.png", "c,d.png"]),
        ("a.png 1x,b.png 2x", ["a.png", "b.png"]),
        ("a.png,b.png", ["a.png,b.png"]),
        ("a.png, b.png,, ,c.png", ["a.png", "b.png", "c.png"]),
        (",a.png", ["a.png"]),
        ("a.png,", ["a.png"]),
        ("  \n a.png\t100w \n,\r\n b.png 200w 100h", ["a.png", "b.png"]),
        ("https://cdn.example/w_100,h_50/a.png 100w, b.png 1.5x", ["https://cdn.example/w_100,h_50/a.png", "b.png"]),
        ("data:image/png;base64,AAAA 1x, b.png 2x", ["data:image/png;base64,AAAA", "b.png"]),
        ("a.png 1q, b.png 2x", ["b.png"]),
        ("a.png 1x 2x, b.png", ["b.png"]),
        ("a.png 100w 1x, b.png 100w 100w, c.png 100h, d.png 0w, e.png 1.5w, f.png -1x, g.png +1x, h.png x", []),
        ("a.png -x, b.png -.x, c.png -0x, d.png 1", ["c.png"]),
        ("a.png 1e3x, b.png .5x, c.png 0x", ["a.png", "b.png", "c.png"]),
        ("a.png (1, 2) , b.png 1x", ["b.png"]),
        ("a.png (1, 2", []),
        ("", []),
        (" ,, ", []),
    ],
)
def test_srcset_is_parsed_by_the_standard(srcset: str, expected: list[str]) -> None:
    """Commas belong to URLs unless they end one; invalid candidates are dropped."""
    assert list(srcset_urls(srcset)) == expected


@given(
    st.lists(
        st.tuples(
            st.text("az,/:?=", max_size=9).map("a{}z".format), st.sampled_from(["", " 1x", " 1.5x", " 30w", " 3w 4h"])
        ),
        max_size=5,
    ),
    st.sampled_from([", ", " , ", "\n,\t", ",\f"]),
)
def test_srcset_round_trips(pairs: list[tuple[str, str]], comma: str) -> None:
    """Any URLs survive formatting and parsing."""
    assert list(srcset_urls(comma.join(url + descriptor for url, descriptor in pairs))) == [url for url, _ in pairs]


@given(st.text("0159-+.eExwh, \n()ab", max_size=30))
def test_any_text_does_not_raise(srcset: str) -> None:
    """Any text is parsed, and the positions of URLs are right."""
    for start, end, size in srcset_candidates(srcset):
        assert srcset[start:end].strip(",")
        assert size >= 0


def test_positions_of_candidates_are_exact() -> None:
    """Changing a URL changes nothing else; the default density is 1."""
    srcset = " a.png,  b.png 2x\t,c.png 1.5x"
    found = list(srcset_candidates(srcset))
    assert [srcset[one.start : one.end] for one in found] == ["a.png", "b.png", "c.png"]
    assert [one.size for one in found] == [1, 2, 1.5]
    assert [one.size for one in srcset_candidates("a 30w 4h, b 200w")] == [30, 200]
