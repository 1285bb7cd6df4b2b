"""Nothing binary becomes a page: bytes that no reader can read are skipped, and replace no good copy."""

from __future__ import annotations

import gzip
import random
import struct
import sys
import zlib
from pathlib import Path

import brotli  # type: ignore[import-untyped]
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitemirror.convert.document import decode_text, parse_html
from sitemirror.fetch.media_type import binary_type
from sitemirror.text import is_readable
from tests.conftest import RunHere
from tests.run.conftest import Copy, Mirror
from tests.site import Site

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

HTML = "<!DOCTYPE html><title>T</title><main><h1>T</h1>" + "<p>A page with a few words in it.</p>" * 40 + "</main>"
PACKED = HTML.encode()


def _raw_deflate(data: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(data) + packer.flush()


def _noise(size: int) -> bytes:
    return random.Random(7).randbytes(size)


BINARY = {
    "application/x-executable": b"\x7fELF\2\1\1\0" + bytes(8) + _noise(600),
    "application/java-vm": b"\xca\xfe\xba\xbe\0\0\0\x41" + _noise(600),
    "application/wasm": b"\0asm\1\0\0\0" + _noise(600),
    "application/vnd.sqlite3": b"SQLite format 3\0\x10\0\1\1\0@  " + _noise(600),
    "application/x-tar": b"page.html".ljust(100, b"\0") + b"0000644\0".ljust(157, b"0") + b"ustar\0" + b"<p>x</p>" * 99,
    "image/tiff": b"II*\0\x08\0\0\0" + _noise(600),
    "font/ttf": b"\0\1\0\0\0\x0c\0\x80" + _noise(600),
    "audio/mpeg": b"\xff\xfb\x90\x64\0" + _noise(600),
    "application/x-bzip2": b"BZh91AY&SY" + _noise(600),
    "application/x-xz": b"\xfd7zXZ\0\0\4" + _noise(600),
    "application/vnd.microsoft.portable-executable": b"MZ\x90\0\3\0\0\0" + _noise(600),
    "application/gzip": gzip.compress(PACKED),
    "image/png": b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + _noise(600),
}
UNKNOWN = {
    "noise": _noise(5000),
    "brotli": brotli.compress(PACKED),
    "zlib": zlib.compress(PACKED),
    "deflate": _raw_deflate(PACKED * 3),
    "numbers": struct.pack("<500I", *range(500)),
}


@pytest.mark.parametrize("kind", BINARY)
def test_magic_numbers_are_known(kind: str) -> None:
    """Each kind of file is recognised by its first bytes."""
    assert binary_type(BINARY[kind]) == kind


@pytest.mark.parametrize("sent_as", ["text/html", "text/html; charset=utf-8", "text/html; charset=gbk", "text/plain"])
async def test_binary_data_is_skipped_in_the_first_mirror(site: Site, run: Mirror, copy: Copy, sent_as: str) -> None:
    """Whatever media type and charset it is sent with; the reason says what it is."""
    for number, body in enumerate([*BINARY.values(), *UNKNOWN.values()]):
        site.page(f"/{number}", body, type=sent_as)
    site.html_page("/ok", "Ok", "<p>ok</p>")
    site.sitemap(urls=["/ok", *(f"/{number}" for number in range(len(BINARY) + len(UNKNOWN)))])
    report = await run()
    assert (report.status, report.skipped) == ("ok", len(BINARY) + len(UNKNOWN))
    assert copy.pages.keys() == {"/ok"}
    media_type = sent_as.partition(";")[0]
    expected = {f"unreadable: {kind}, sent as {media_type}" for kind in (*BINARY, "binary data")}
    assert {row["reason"] for row in copy.manifest["skips"]} == expected


@pytest.mark.parametrize("format", ["markdown", "html", "both"])
async def test_binary_data_replaces_no_copy(site: Site, run: Mirror, copy: Copy, format: str) -> None:
    """A page that comes back as binary data keeps its copy, and says why."""
    bodies = [*BINARY.values(), *UNKNOWN.values()]
    for number in range(len(bodies)):
        site.page(f"/{number}", HTML.replace("few", f"few, {number},"), etag=f'"{number}"')
    site.sitemap()
    await run(format=format)
    saved = {path: row["path"] for path, row in copy.pages.items()}
    before = {path: (copy.folder / file).read_bytes() for path, file in saved.items()}
    for number, body in enumerate(bodies):
        site.page(f"/{number}", body, etag=f'"later {number}"')
    report = await run(format=format, update=True)
    assert (report.status, report.changed) == ("partial", 0)
    assert {path: (copy.folder / file).read_bytes() for path, file in saved.items()} == before
    assert all(row["refresh_error"].startswith("unreadable: ") for row in copy.pages.values())


async def test_workers_recognise_binary_data(site: Site, run: Mirror, copy: Copy) -> None:
    """A page that another process parses is skipped for the same reason."""
    for number, body in enumerate(UNKNOWN.values()):
        site.page(f"/{number}", body, type="text/html")
    site.html_page("/ok", "Ok", "<p>ok</p>")
    site.sitemap()
    await run(workers=1)
    assert [row["reason"] for row in copy.manifest["skips"]] == ["unreadable: binary data, sent as text/html"] * 5


@pytest.mark.parametrize(
    "body",
    [zlib.compress(PACKED), _raw_deflate(PACKED), brotli.compress(PACKED), zstd.compress(PACKED), PACKED],
    ids=["zlib", "raw deflate", "brotli", "zstd", "plain"],
)
async def test_packed_pages_labelled_gzip_are_unpacked(site: Site, run: Mirror, copy: Copy, body: bytes) -> None:
    """Servers behind a wrong proxy send other encodings as gzip; the page is read all the same."""
    site.page("/a", body, type="text/html", headers={"Content-Encoding": "gzip"})
    site.sitemap(urls=["/a"])
    await run()
    assert "A page with a few words" in (copy.folder / copy.pages["/a"]["path"]).read_text("utf-8")


async def test_bodies_that_no_encoding_unpacks_are_unreadable(site: Site, run: Mirror, copy: Copy) -> None:
    """Labelled gzip, and neither packed in a known way nor text."""
    site.page("/a", _noise(50_000), type="text/html", headers={"Content-Encoding": "gzip"})
    site.html_page("/ok", "Ok", "<p>ok</p>")
    site.sitemap(urls=["/a", "/ok"])
    await run()
    assert [row["reason"] for row in copy.manifest["skips"]] == ["unreadable: binary data, sent as text/html"]


def test_convert_names_binary_data(site: Site, run_here: RunHere) -> None:
    """`convert URL` prints nothing and says why."""
    site.page("/a", UNKNOWN["brotli"], type="text/html")
    done = run_here("convert", f"{site.url}/a")
    assert (done.returncode, done.stdout) == (1, "")
    assert "it is binary data" in done.stderr


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("Привет, мир. " * 9, "windows-1251"),
        ("Привет, мир. " * 9, "koi8-r"),
        ("こんにちは世界。" * 9, "shift_jis"),
        ("こんにちは世界。" * 9, "iso-2022-jp"),
        ("你好，世界。" * 9, "gb18030"),
        ("你好，世界。" * 9, "big5"),
        ("안녕하세요. " * 9, "euc-kr"),
        ("Grüße aus Köln. " * 9, "utf-16"),
        ("สวัสดีชาวโลก " * 9, "windows-874"),
    ],
)
def test_pages_in_any_charset_are_readable(text: str, encoding: str) -> None:
    """With the charset in the header, and where only the page names it."""
    codec = encoding.replace("windows-", "cp")
    body = f'<meta charset="{encoding}"><p>{text}'.encode(codec)
    assert binary_type(body) == ""
    for charset in (None, encoding):
        assert is_readable(decode_text(body, parse_html(body, url="http://a/", charset=charset).tree.encoding))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\0\0\0",
        "N\bNA\bAM\bME\bE\n       m\bma\ban\bn - the manual" * 9,  # overstruck, as printers did bold
        "\x1b[1mbold\x1b[0m\f\n" * 9,
        "a page that ends with its disk block\x1a\0\0" + " and more text" * 9,
        "caf\ufffd " * 5 + "one wrong letter in twenty is a wrong charset" * 3,
        "SQLite format 3 is a format, OTTO is a name, MZ two letters",
    ],
)
def test_odd_text_is_readable(text: str) -> None:
    """A few controls make no binary data, and letters no magic number."""
    assert is_readable(text)
    assert binary_type(text.encode()) == ""


@given(st.text(st.characters(exclude_categories=["Cc", "Cs"], exclude_characters="\ufffd")))
def test_any_text_is_readable(text: str) -> None:
    """Whatever its script."""
    assert is_readable(text)


@pytest.mark.vectors
def test_vectors_of_charsets_are_readable(vectors: Path) -> None:
    """Every page of the web platform's charset tests but those in UTF-32, which browsers do not read either."""
    seen = 0
    for file in (vectors / "charset-wpt").rglob("*.html"):
        body = file.read_bytes()
        encoding = parse_html(body, url="http://a/").tree.encoding
        assert is_readable(decode_text(body, encoding)) == ("utf-32" not in file.name), file
        assert binary_type(body) == "", file
        seen += 1
    assert seen > 100


@pytest.mark.vectors
def test_vectors_of_real_pages_are_readable(vectors: Path) -> None:
    """1,600 pages as their sites sent them."""
    files = [*(vectors / "extract-aeb").rglob("*.html.gz"), *(vectors / "extract-wcxb").rglob("*.html.gz")]
    assert len(files) > 1600
    for file in files:
        body = gzip.decompress(file.read_bytes())
        assert is_readable(decode_text(body)), file
        assert binary_type(body) == "", file


@pytest.mark.vectors
def test_vectors_of_media_files_are_binary(vectors: Path) -> None:
    """Each media file of the web platform's sniffing tests is recognised, and each page is none."""
    folder = vectors / "mimesniff-wpt" / "mimesniff"
    media = [*(folder / "media" / "resources").iterdir(), folder / "sniffing/resources/test-file.zip"]
    assert len(media) > 7
    for file in media:
        assert binary_type(file.read_bytes()), file
    pages = [folder / "sniffing/support/atom.html", folder / "sniffing/support/html-comment"]
    assert [binary_type(page.read_bytes()) for page in pages] == ["", ""]


@pytest.mark.parametrize("path", ["/notes.md", "/Notes.MARKDOWN?v=1"])
async def test_markdown_sent_as_octet_stream_is_a_page(site: Site, run: Mirror, copy: Copy, path: str) -> None:
    """nginx knows no type for `.md`; the name tells, unless the bytes say otherwise."""
    site.page(path, "# Notes\n\nA *few* words.\n", type="application/octet-stream")
    site.page("/noise.md", _noise(3000), type="application/octet-stream")
    site.page("/notes.bin", "# Notes\n", type="application/octet-stream")
    site.sitemap(urls=[path, "/noise.md", "/notes.bin"])
    report = await run()
    assert (report.successful, report.skipped) == (1, 2)
    assert "A *few* words." in (copy.folder / copy.pages[path]["path"]).read_text("utf-8")
