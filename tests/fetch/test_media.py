"""Content types: read from the header as browsers do, or from the first bytes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitemirror.fetch.media_type import parse_content_type, sniff


@pytest.mark.parametrize(
    ("header", "found"),
    [
        ("text/html", ("text/html", None)),
        ("TEXT/HTML; Charset=UTF-8", ("text/html", "UTF-8")),
        ('text/html;charset="windows-1252"', ("text/html", "windows-1252")),
        ('text/html;charset="a\\"b"', ("text/html", 'a"b')),
        ("text/html;;;;charset=gbk", ("text/html", "gbk")),
        ("text/html;charset=gbk;charset=utf-8", ("text/html", "gbk")),
        ("text/html;charset=", ("text/html", None)),
        ('text/html;charset=""', ("text/html", None)),
        ("text/html;charset =gbk", ("text/html", None)),
        ("text/html;x=y", ("text/html", None)),
        ("application/xhtml+xml ; charset=utf-8", ("application/xhtml+xml", "utf-8")),
        ("text/plain, text/html", ("text/html", None)),
        ("text/html;charset=gbk, text/html", ("text/html", "gbk")),
        ("text/html;charset=gbk, text/plain", ("text/plain", None)),
        ("text/html, */*", ("text/html", None)),
        ('text/html;x="a,b/c"', ("text/html", None)),
        ("", ("", None)),
        (None, ("", None)),
        ("html", ("", None)),
        ("text/", ("", None)),
        ("/html", ("", None)),
        ("text/ht ml", ("", None)),
        ("*/*", ("", None)),
        ("unknown/unknown", ("", None)),
        ("Application/Unknown; charset=utf-8", ("", None)),
    ],
)
def test_content_type_is_parsed_as_in_browsers(header: str | None, found: tuple[str, str | None]) -> None:
    """Media type and charset in any spelling; invalid types are ignored."""
    assert parse_content_type(header) == found


@given(st.text())
def test_any_content_type_is_parsed(header: str) -> None:
    """The result is a lower-case type with one slash, or nothing."""
    essence, charset = parse_content_type(header)
    assert essence == "" or essence.count("/") >= 1
    assert essence == essence.lower()
    assert charset is None or charset.strip() == charset


@pytest.mark.parametrize(
    ("head", "kind"),
    [
        (b"<!DOCTYPE html><title>x", "text/html"),
        (b"\n\n  <!doctype HTML>", "text/html"),
        (b"\xef\xbb\xbf<html>", "text/html"),
        (b"\xff\xfe<\0h\0t\0m\0l\0>\0", "text/html"),
        (b"<!-- a page --><p>", "text/html"),
        (b"<p>text", "text/html"),
        (b"<pre>text", "text/plain"),
        (b"<?xml version='1.0'?><urlset>", "text/xml"),
        (b"<?xml version='1.0'?>\n<!DOCTYPE html><html xmlns='x'>", "application/xhtml+xml"),
        (b"<urlset xmlns='x'>", "text/xml"),
        (b"<rss version='2.0'>", "text/xml"),
        (b"%PDF-1.7\n", "application/pdf"),
        (b"\x89PNG\r\n\x1a\n\0\0", "image/png"),
        (b"GIF89a\1\0", "image/gif"),
        (b"\xff\xd8\xff\xe0\0\x10JFIF", "image/jpeg"),
        (b"RIFF\1\2\3\4WEBPVP8 ", "image/webp"),
        (b"\x1f\x8b\x08\0\0", "application/gzip"),
        (b"PK\x03\x04\x14\0", "application/zip"),
        (b"\0\0\0\x18ftypmp42", "video/mp4"),
        (b"BMW is a car maker", "text/plain"),
        (b"ID3 is a tag format", "text/plain"),
        (b"plain text\twith tabs\r\n", "text/plain"),
        (b"caf\xe9", "text/plain"),
        (b"", "text/plain"),
        (b"text\0with a zero", "application/octet-stream"),
        (b"\x01\x02\x03", "application/octet-stream"),
    ],
)
def test_first_bytes_determine_the_type(head: bytes, kind: str) -> None:
    """A body without a type is recognised by its beginning."""
    assert sniff(head) == kind


@pytest.mark.vectors
@pytest.mark.parametrize("name", ["mime-types.json", "generated-mime-types.json"])
def test_vectors_of_mime_types(vectors: Path, name: str) -> None:
    """Every type and charset of the web platform's own list comes out as there."""
    cases = json.loads((vectors / "mimesniff-wpt/mimesniff/mime-types/resources" / name).read_text("utf-8"))
    wrong = []
    for case in cases:
        # Commas separate header values before a type is parsed, so they are the next test's.
        if isinstance(case, str) or "," in case["input"]:
            continue
        if _read(case["input"]) != _expected(case["output"]):
            wrong.append((case, _read(case["input"])))
    assert not wrong


@pytest.mark.vectors
def test_vectors_of_repeated_content_types(vectors: Path) -> None:
    """Several Content-Type headers, and one with commas, are combined as in the web platform's list."""
    cases = json.loads((vectors / "http-wpt/fetch/content-type/resources/content-types.json").read_text("utf-8"))
    wrong = []
    for case in cases:
        header = ", ".join(case["contentType"])
        # "*/*" alone is no type to us: the body is looked at, as browsers do too.
        expected = _expected(case["mimeType"]) if case["mimeType"] != "*/*" else ("", None)
        if _read(header) != expected:
            wrong.append((case, _read(header)))
    assert not wrong


def _read(header: str) -> tuple[str, str | None]:
    essence, charset = parse_content_type(header)
    return essence, charset.strip(" \t\r\n") if charset else charset


def _expected(output: str | None) -> tuple[str, str | None]:
    """Takes the serialised form apart, which is regular: parameters are tokens or quoted with backslashes."""
    if output is None:
        return "", None
    essence, _, rest = output.partition(";")
    found: dict[str, Any] = {}
    while rest:
        name, _, rest = rest.partition("=")
        if rest.startswith('"'):
            value, position = "", 1
            while rest[position] != '"':
                position += rest[position] == "\\"
                value += rest[position]
                position += 1
            rest = rest[position + 2 :]
        else:
            value, _, rest = rest.partition(";")
        found.setdefault(name, value.strip(" \t\r\n") or None)
    return essence, found.get("charset")


@pytest.mark.vectors
@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("media/resources/ogg.ogg", "application/ogg"),
        ("media/resources/mp3-with-id3.mp3", "audio/mpeg"),
        ("media/resources/mp4.mp4", "video/mp4"),
        ("media/resources/flac.flac", "audio/flac"),
        ("media/resources/webm.webm", "video/webm"),
        ("media/resources/wav.wav", "audio/wav"),
        ("sniffing/resources/test-file.zip", "application/gzip"),  # a zip file in gzip, whatever its name says
        ("sniffing/resources/html-content.html", "text/html"),
        ("sniffing/resources/binary-data.bin", "application/zip"),
        ("sniffing/support/html-comment", "text/html"),
        ("sniffing/support/rss.html", "text/xml"),
    ],
)
def test_vectors_of_real_files(vectors: Path, name: str, kind: str) -> None:
    """Real files are recognised for what they are."""
    assert sniff((vectors / "mimesniff-wpt/mimesniff" / name).read_bytes()[:512]) == kind
