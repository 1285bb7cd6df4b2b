"""What a URL is: one spelling, whichever way it was found."""

from __future__ import annotations

import ada_url
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sitemirror import urls

_PIECES = st.sampled_from(
    [*"/?#.%:@-~'\"\\|^`{}[]<> \t\n\x00\x7fé🙂+&=;aZ0", "..", "%2e", "%2E%2e", "%41", "//", "/./", "/../", "http:"]
)
_STARTS = st.sampled_from(
    [
        *("", "http:/", "http://", "//example.com", "ftp://example.com", "\u200bhttp://h", "https://exa mple.com"),
        *("http://h", "http://h:99999", "http://127.1", "http://[::1]", "http://xn--a", "https://bücher.example"),
        *("https://example.com", "HTTP://Example.com", "https://example.com:443", "http://example.com:8080"),
        "https://user:pw@example.com",
    ]
)


@given(st.builds(lambda start, pieces: start + "".join(pieces), _STARTS, st.lists(_PIECES, max_size=12)))
@example("http://h/a/..")
@example("http://h/a/%2e%2E?x")
@example("http://h/?")
@example("http://h/a?b/../c")
@example("https://example.com/a\n")
def test_a_url_is_spelled_as_a_browser_spells_it(text: str) -> None:
    """The shortcut for plain URLs gives exactly what the whole parser gives."""
    try:
        parsed = ada_url.URL(text)
    except ValueError:
        with pytest.raises(urls.InvalidUrl):
            urls.normalize(text)
        return
    parsed.hash = ""
    if parsed.protocol not in ("http:", "https:") or parsed.username or parsed.password:
        with pytest.raises(urls.InvalidUrl):
            urls.normalize(text)
    else:
        assert urls.normalize(text) == parsed.href
        assert urls.normalize(parsed.href) == parsed.href


@pytest.mark.parametrize("tail", ["/", "/a", "/a/b.html", "/a?b=c&d=%20", "/1..2/.hidden", "/%e2%82%ac", "/a/?b?c/d"])
def test_plain_urls_stay_as_they_are(tail: str) -> None:
    """What is in its one spelling already comes back unchanged, whatever it is resolved against."""
    assert urls.normalize(f"https://example.com{tail}", "http://elsewhere.example/x/") == f"https://example.com{tail}"


@given(
    st.lists(st.text("aB1.%2eE/?&#:\n é~", max_size=12), min_size=1, max_size=4), st.sampled_from(["h.example", "H"])
)
@example(["a", "b?c=/../"], "h.example")
@example(["a\nhttps://h.example/b"], "h.example")
@example(["a", "../b"], "h.example")
def test_what_is_said_of_all_holds_for_each(tails: list[str], host: str) -> None:
    """Where one look finds an origin for a whole list, each of its URLs is normalised already and of that origin."""
    found = [f"https://{host}/{tail}" for tail in tails]
    origin = urls.shared_origin(found)
    if origin is not None:
        assert [urls.normalize(url) for url in found] == found
        assert {urls.origin(url) for url in found} == {origin}


def test_ordinary_lists_are_known_at_a_look() -> None:
    """URLs of one host in their one spelling are not parsed; other hosts and spellings are."""
    plain = [f"https://example.com/docs/page-{number}?a=1&b=%20" for number in range(2_000)]
    assert urls.shared_origin(plain) == "https://example.com"
    for other in (
        "https://example.org/",
        "https://example.com",
        "https://EXAMPLE.com/",
        "https://example.com/a/../b",
        "/",
    ):
        assert urls.shared_origin([*plain, other]) is None
        assert urls.shared_origin([other, *plain]) is None
    assert urls.shared_origin([f"https://example.com/{'a' * urls.MAX_LENGTH}"]) is None


@pytest.mark.parametrize(
    ("reference", "encoding", "sent"),
    [
        ("/ü?q=é", "windows-1252", "/ü?q=%E9"),
        ("?q=é#é", "windows-1252", "?q=%E9#é"),
        ("#?é", "windows-1252", "#?é"),
        ("?é", "UTF-8", "?é"),
        ("?é", "utf-16le", "?é"),
        ("?é", None, "?é"),
        ("?é", "replacement", "?é"),
        ("?%E9&a b", "windows-1252", "?%E9&a b"),
        ("?€語", "windows-1252", "?%80%26%2335486%3B"),
        ("?表", "shift_jis", "?%95\\"),
        ("?똠방", "euc-kr", "?%8Cc%B9%E6"),
        ("?中Я", "big5", "?%A4%A4%C8T"),
        ("?語", "gbk", "?%D5Z"),
        ("?語", "iso-2022-jp", "?%1B$B8l%1B(B"),
        ("?ก", "windows-874", "?%A1"),
        ("?\ud800", "windows-1252", "?%26%2355296%3B"),
    ],
)
def test_queries_in_the_encoding_of_a_page(reference: str, encoding: str | None, sent: str) -> None:
    """A query is spelled in bytes of the page's encoding, as the URL standard says; path and fragment stay."""
    assert urls.with_encoded_query(reference, encoding) == sent
