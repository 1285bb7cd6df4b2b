"""Decode content encodings a little at a time, so that a bomb costs neither memory nor time.

Every layer yields pieces of at most `STEP` bytes and is only asked for the next one when the last has been counted.
"""

from __future__ import annotations

import codecs
import re
import sys
import zlib
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Final, Generic, Protocol, TypeVar

import brotli  # type: ignore[import-untyped]

from sitemirror.reasons import Cause, Reason, format_reason

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

ACCEPTED: Final = "gzip, deflate, br, zstd"
"""The value of Accept-Encoding."""

STEP: Final = 256 * 1024
MOST_LAYERS: Final = 4
MOST_MEMBERS: Final = 65_536  # of a gzip or zstd body: empty ones would cost time and never reach the size limit
LARGEST_WINDOW_LOG: Final = 23  # RFC 9659: no more than 8 MB may be asked of a receiver
SAMPLE: Final = 1024  # bytes that tell text from packed data
ENOUGH_TO_TELL: Final = 64  # bytes: markup is markup by then
ENOUGH_TO_TRY: Final = 32 * 1024  # bytes: an encoding without magic bytes has come to its first text by then

_GZIP_MAGIC: Final = b"\x1f\x8b"
_ZSTD_MAGIC: Final = b"\x28\xb5\x2f\xfd"
# Names that servers use for bodies without an encoding. S3 repeats how an upload was framed.
_PLAIN: Final = frozenset({"", "identity", "none", "binary", "7bit", "8bit", "chunked", "aws-chunked"})
_BINARY: Final = re.compile(rb"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f\x7f]")
_CHARSET: Final = re.compile(r"[a-z0-9][a-z0-9_-]{1,30}")


class BodyTooLarge(Exception):
    """More came out than the limit allows."""


class CorruptBody(Exception):
    """The body is not what its Content-Encoding says."""

    def __init__(self, reason: Reason, coding: str) -> None:
        super().__init__(format_reason(reason, coding))
        self.cause = Cause(reason, coding)


class UnknownEncoding(Exception):
    """A Content-Encoding that we did not ask for and cannot read."""

    def __init__(self, reason: Reason, coding: str | None = None) -> None:
        super().__init__(format_reason(reason, coding))
        self.cause = Cause(reason, coding)


class EncodingLayer(Protocol):
    """One content encoding being decoded."""

    def feed(self, data: bytes) -> Iterator[bytes]: ...

    def finish(self) -> Iterator[bytes]: ...


class Decoder:
    """All of a body's encodings, and the count of what comes out."""

    def __init__(self, content_encoding: str | None, *, limit: int) -> None:
        self._layers = [_layer(name) for name in reversed(_names(content_encoding))]
        # One count for each layer: a middle one may be large although nothing comes out at the end.
        self._counts = [0] * len(self._layers)
        self._limit = limit
        self._received = 0

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Decodes `data` in bounded pieces. Take each before asking for the next."""
        self._received += len(data)
        if self._received > self._limit:
            raise BodyTooLarge
        return self._through(0, data)

    def finish(self) -> Iterator[bytes]:
        """Yields what was held back. Raises `CorruptBody` if the encoded data is truncated."""
        for number, layer in enumerate(self._layers):
            for piece in layer.finish():
                yield from self._count(number, piece)

    def _through(self, number: int, data: bytes) -> Iterator[bytes]:
        if number == len(self._layers):
            yield data
            return
        for piece in self._layers[number].feed(data):
            yield from self._count(number, piece)

    def _count(self, number: int, piece: bytes) -> Iterator[bytes]:
        self._counts[number] += len(piece)
        if self._counts[number] > self._limit:
            raise BodyTooLarge
        return self._through(number + 1, piece)


class FileDecoder(Decoder):
    """For what is saved under a name that says it is packed: `a.tar.gz` stays so."""

    def __init__(self, content_encoding: str | None, *, limit: int) -> None:
        super().__init__(content_encoding, limit=limit)
        if _names(content_encoding) in (["gzip"], ["x-gzip"]):
            self._layers = [_PackedFile(self._layers[0])]


def _names(content_encoding: str | None) -> list[str]:
    names = [name.strip().lower() for name in (content_encoding or "").split(",")]
    names = [name for name in names if name not in _PLAIN and not _is_charset(name)]
    if len(names) > MOST_LAYERS:
        raise UnknownEncoding(Reason.TOO_MANY_ENCODINGS)
    return names


@lru_cache(maxsize=64)  # A site has a handful of them.
def _is_charset(name: str) -> bool:
    """True if the header names a character set instead of an encoding, a common mistake of servers."""
    if not _CHARSET.fullmatch(name):
        return False
    try:
        "".encode(name)
    except (LookupError, ValueError):
        return False
    return True


def _layer(name: str) -> EncodingLayer:
    match name:
        case "gzip" | "x-gzip":
            return _Members("gzip", _begins_gzip, lambda: zlib.decompressobj(wbits=31), _inflated)
        case "deflate":
            return _Unmarked(_Deflate())
        case "br":
            return _Unmarked(_Brotli())
        case "zstd":
            return _Members("zstd", _begins_zstd, _zstd, _unfolded)
    raise UnknownEncoding(Reason.CONTENT_ENCODING, name)


class _Decompressor(Protocol):
    @property
    def eof(self) -> bool: ...

    @property
    def unused_data(self) -> bytes: ...


_S = TypeVar("_S", bound=_Decompressor)


class _Members(Generic[_S]):
    """gzip or zstd: any number of members, one after the other.

    A body that does not begin as one was packed in another way, or not at all.
    """

    def __init__(
        self,
        name: str,
        begins: Callable[[bytes], bool | None],  # None: too few bytes
        begin: Callable[[], _S],
        undo: Callable[[_S, bytes, str], Iterator[bytes]],
    ) -> None:
        self._name = name
        self._begins = begins
        self._begin = begin
        self._undo = undo
        self._held = b""
        self._other: _Mislabelled | None = None
        self._stream: _S | None = None
        self._members = 0

    def feed(self, data: bytes) -> Iterator[bytes]:
        if self._other is not None:
            yield from self._other.feed(data)
            return
        data = self._held + data
        self._held = b""
        while data:
            if self._stream is None:
                begins = self._begins(data)
                if begins is None:
                    self._held = data
                    return
                if not begins:
                    if self._members == 0:
                        self._other = _Mislabelled()
                        yield from self._other.feed(data)
                    return  # Padding or noise after the last member: gunzip ignores it too.
                if self._members >= MOST_MEMBERS:
                    raise CorruptBody(Reason.CORRUPT_BODY, self._name)
                self._members += 1
                self._stream = self._begin()
            yield from self._undo(self._stream, data, self._name)
            if not self._stream.eof:
                return
            data = self._stream.unused_data
            self._stream = None

    def finish(self) -> Iterator[bytes]:
        if self._stream is not None:
            raise CorruptBody(Reason.TRUNCATED_BODY, self._name)
        if self._other is not None:
            yield from self._other.finish()
        elif self._held and self._members == 0:
            yield self._held


class _Mislabelled:
    """A body in another encoding than its header says: decoded if that makes a text, else unchanged."""

    def __init__(self) -> None:
        self._held: bytes | None = b""  # None: decided
        self._layer: EncodingLayer | None = None  # None: not packed

    def feed(self, data: bytes) -> Iterator[bytes]:
        if self._held is not None:
            data = self._held + data
            if len(data) < ENOUGH_TO_TRY:
                self._held = data
                return
            self._held, self._layer = None, _unpacking_layer(data, is_whole=False)
        if self._layer is None:
            yield data
        else:
            yield from self._layer.feed(data)

    def finish(self) -> Iterator[bytes]:
        if self._held is not None:
            self._layer = _unpacking_layer(self._held, is_whole=True)
            yield from (self._held,) if self._layer is None else self._layer.feed(self._held)
        if self._layer is not None:
            yield from self._layer.finish()


def _unpacking_layer(data: bytes, *, is_whole: bool) -> EncodingLayer | None:
    """Find the encoding that makes a text of `data`; None if it is text already, or none does."""
    if _looks_like_text(data):
        return None
    for name, begins in (("gzip", _begins_gzip), ("zstd", _begins_zstd), ("deflate", None), ("br", None)):
        if begins is not None and not begins(data):
            continue
        trial = _bare_layer(name)
        text = b""
        try:
            for piece in trial.feed(data):
                text += piece
                if len(text) >= STEP:
                    break
            else:
                if is_whole:
                    text += b"".join(trial.finish())
        except CorruptBody:
            continue
        if _looks_like_text(text):
            return _bare_layer(name)
    return None


def _bare_layer(name: str) -> EncodingLayer:
    """The layer of an encoding that the data is known to have."""
    if name == "deflate":
        return _Deflate()
    return _Brotli() if name == "br" else _layer(name)


class _Deflate:
    """deflate, with zlib's wrapper as the standard says or without it as some servers send it."""

    def __init__(self) -> None:
        self._held = b""
        self._inflate: zlib._Decompress | None = None

    def feed(self, data: bytes) -> Iterator[bytes]:
        if self._inflate is None:
            data = self._held + data
            if len(data) < 2:
                self._held = data
                return
            wrapped = data[0] & 0x0F == 8 and int.from_bytes(data[:2], "big") % 31 == 0
            self._inflate = zlib.decompressobj(wbits=15 if wrapped else -15)
        if not self._inflate.eof:
            yield from _inflated(self._inflate, data, "deflate")

    def finish(self) -> Iterator[bytes]:
        if self._held if self._inflate is None else not self._inflate.eof:
            raise CorruptBody(Reason.TRUNCATED_BODY, "deflate")
        return iter(())


class _Brotli:
    """Brotli. Pieces may be twice `STEP`: the library doubles its buffer before it checks the limit."""

    def __init__(self) -> None:
        self._stream = brotli.Decompressor()
        self._fed = False

    def feed(self, data: bytes) -> Iterator[bytes]:
        self._fed = True
        while not self._stream.is_finished():
            try:
                piece = self._stream.process(data, output_buffer_limit=STEP)
            except brotli.error:
                raise CorruptBody(Reason.CORRUPT_BODY, "br") from None
            if piece:
                yield piece
            elif self._stream.can_accept_more_data():
                return
            data = b""

    def finish(self) -> Iterator[bytes]:
        if self._fed and not self._stream.is_finished():
            raise CorruptBody(Reason.TRUNCATED_BODY, "br")
        return iter(())


class _Unmarked:
    """An encoding without magic bytes. Markup that does not decode was never compressed."""

    def __init__(self, layer: EncodingLayer) -> None:
        self._layer: EncodingLayer | None = layer  # None: plain after all
        self._head = b""
        self._doubtful = True  # as long as nothing has come out

    def feed(self, data: bytes) -> Iterator[bytes]:
        if self._layer is None:
            yield data
        elif not self._doubtful:
            yield from self._layer.feed(data)
        elif len(self._head) < ENOUGH_TO_TELL <= len(self._head) + len(data):
            self._head += data
            yield from self._try(self._layer.feed(self._head))
        else:
            self._head += data
            if len(self._head) >= ENOUGH_TO_TELL:
                yield from self._try(self._layer.feed(data))

    def _try(self, pieces: Iterator[bytes]) -> Iterator[bytes]:
        try:
            for piece in pieces:
                self._doubtful, self._head = False, b""
                yield piece
        except CorruptBody:
            if not (self._doubtful and _looks_like_markup(self._head)):
                raise
            self._layer = None
            yield self._head

    def finish(self) -> Iterator[bytes]:
        if self._layer is None:
            return
        if self._doubtful and 0 < len(self._head) < ENOUGH_TO_TELL:
            yield from self._try(self._layer.feed(self._head))
        if self._layer is not None:
            yield from self._try(self._layer.finish())


class _PackedFile:
    """gzip that is decoded only if the file inside is packed as well.

    Of `a.tar.gz` some servers say that it is a tar file, packed for the way; others do pack it for the way once more.
    """

    def __init__(self, layer: EncodingLayer) -> None:
        self._layer: EncodingLayer | None = layer  # None: the file is as it should be
        self._held = b""
        self._doubtful = True

    def feed(self, data: bytes) -> Iterator[bytes]:
        if self._doubtful:
            data, self._held = self._held + data, b""
            try:
                inside = zlib.decompressobj(wbits=31).decompress(data, len(_GZIP_MAGIC))
            except zlib.error:
                inside = data
            if len(inside) < len(_GZIP_MAGIC) and len(data) < STEP:
                self._held = data
                return
            self._doubtful = False
            if inside != _GZIP_MAGIC:
                self._layer = None
        if self._layer is None:
            yield data
        else:
            yield from self._layer.feed(data)

    def finish(self) -> Iterator[bytes]:
        if self._doubtful:
            yield self._held
        elif self._layer is not None:
            yield from self._layer.finish()


def _inflated(stream: zlib._Decompress, data: bytes, name: str) -> Iterator[bytes]:
    while True:
        try:
            piece = stream.decompress(data, STEP)
        except zlib.error:
            raise CorruptBody(Reason.CORRUPT_BODY, name) from None
        if piece:
            yield piece
        data = stream.unconsumed_tail
        # A full piece may mean that zlib holds more output without needing more input.
        if stream.eof or (not data and len(piece) < STEP):
            return


def _unfolded(stream: zstd.ZstdDecompressor, data: bytes, name: str) -> Iterator[bytes]:
    while True:
        try:
            piece = stream.decompress(data, STEP)
        except zstd.ZstdError:
            raise CorruptBody(Reason.CORRUPT_BODY, name) from None
        if piece:
            yield piece
        if stream.eof or stream.needs_input:
            return
        data = b""


def _begins_gzip(data: bytes) -> bool | None:
    return None if len(data) < 2 and _GZIP_MAGIC.startswith(data) else data.startswith(_GZIP_MAGIC)


def _begins_zstd(data: bytes) -> bool | None:
    if len(data) < 4:
        return None
    # Sixteen more numbers start frames that are to be skipped.
    return data.startswith(_ZSTD_MAGIC) or (data[0] & 0xF0 == 0x50 and data[1:4] == b"\x2a\x4d\x18")


def _zstd() -> zstd.ZstdDecompressor:
    return zstd.ZstdDecompressor(options={zstd.DecompressionParameter.window_log_max: LARGEST_WINDOW_LOG})


def _looks_like_text(data: bytes) -> bool:
    """True for UTF-8 and for markup in any encoding that has ASCII in it."""
    head = data[:SAMPLE]
    if not head or _BINARY.search(head):
        return False
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head)
    except UnicodeDecodeError:
        return _looks_like_markup(head)
    return True


def _looks_like_markup(data: bytes) -> bool:
    return data.removeprefix(b"\xef\xbb\xbf").lstrip(b" \t\r\n\f").startswith(b"<")
