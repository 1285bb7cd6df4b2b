"""The jobs of a worker: stateless functions on pages, and their messages between processes.

A job and its result cross to another process as JSON and one body of bytes: even if a hostile page takes over a
worker, reading its answer is safe.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b, sha256
from itertools import product
from pathlib import Path
from typing import Final

import orjson

from sitemirror.convert.xhtml import XHTML, as_html, charset_of
from sitemirror.errors import DiskFull, OutputError
from sitemirror.frontier.traps import ParamRules, strip_session_and_tracking
from sitemirror.links.attributes import LinkKind
from sitemirror.links.found import Found, PageLinks, Refused
from sitemirror.links.resolve import relative_link
from sitemirror.reasons import Reason
from sitemirror.settings import Content
from sitemirror.store.files import Tree

NOTHING: Final = blake2b(digest_size=16).digest()
"""The digest of a page without text."""

Message = tuple[bytes, bytes]
"""JSON, and the bytes that go with it."""


_LOCALIZE: Final = "localize"


class JobFailed(Exception):
    """A job that failed. The message says why."""


@dataclass(frozen=True, slots=True)
class ConvertOptions:
    """The parts of a page that a run needs, and how much of its content is kept."""

    content: Content = Content.AUTO
    front_matter: bool = True
    markdown: bool = True
    links: bool = False
    meta: bool = False
    anchors: bool = False


@dataclass(frozen=True, slots=True)
class PageSource:
    """A response body, with what parsing it needs."""

    body: bytes
    url: str
    charset: str | None


@dataclass(frozen=True, slots=True)
class ParsedPage:
    """A parsed page."""

    digest: bytes = b""  # 16 bytes that are equal for equal pages; empty for a body that is no page
    title: str | None = None
    canonical: str | None = None
    refresh: str | None = None  # target of an immediate meta refresh, if the page is nothing else
    markdown: bytes | None = None  # the whole file
    links: PageLinks | None = None
    meta: str | None = None  # JSON
    anchors: str | None = None  # packed map from the page's ids to headings of the Markdown
    hidden_texts: int = 0  # number of pieces of hidden text that were removed
    is_unreadable: bool = False  # binary data under a page's media type
    is_wordless: bool = False  # a page in which a reader sees no word

    @property
    def is_blank(self) -> bool:
        """True if its Markdown has no text besides the front matter."""
        return self.markdown is not None and self.digest == NOTHING


@dataclass(frozen=True, slots=True)
class Received:
    """A saved file with the links of the site."""

    root: str  # the output folder
    path: str  # in it
    sha256: str | None
    url: str
    charset: str | None
    content_type: str | None
    targets: Mapping[str, str]  # paths of its link targets, by URL
    strip_params: Sequence[str] = ()  # the run's `ParamRules`
    keep_params: Sequence[str] = ()


@lru_cache(maxsize=8)
def _tree(root: str) -> Tree:
    return Tree(Path(root), min_free_mb=0)


Rewritten = tuple[int, str]
"""Size and hash of a file with local links."""


def localize(files: Sequence[Received]) -> list[Rewritten]:
    """Rewrite the links of files to local ones."""
    return [_localize(file) for file in files]


def _localize(file: Received) -> Rewritten:
    tree = _tree(file.root)
    data = tree.read(file.path)
    digest = sha256(data).hexdigest()
    if digest == file.sha256:  # a killed run has already done it
        rules = ParamRules(tuple(file.strip_params), tuple(file.keep_params))

        def target(url: str) -> str:
            there = file.targets.get(strip_session_and_tracking(url, rules))
            return relative_link(file.path, there) if there else url

        from sitemirror.links.css import localize_css
        from sitemirror.links.rewrite_html import localize_html, localize_svg  # Only for HTML, when a run ends.

        charset = file.charset
        if file.content_type == XHTML:
            data, charset = as_html(data), charset or charset_of(data)
        rewrite = {"text/css": localize_css, "image/svg+xml": localize_svg}.get(file.content_type or "", localize_html)
        data = rewrite(data, url=file.url, charset=charset, target=target)
        tree.write(file.path, data)
        digest = sha256(data).hexdigest()
    return len(data), digest


# --- across processes ----------------------------------------------------------------------------------------------


def encode_parse_job(kind: str, source: PageSource, options: ConvertOptions) -> Message:
    """Encode a job that parses a page."""
    return orjson.dumps((kind, source.url, source.charset, options)), source.body


def encode_rewrite_job(files: Sequence[Received]) -> Message:
    """Encode a job that rewrites links."""
    return orjson.dumps((_LOCALIZE, None, None, files)), b""


def answer_job(job: Message) -> Message:
    """Run a job from another process. A failure is an answer, too."""
    from sitemirror.workers.readers import READERS  # A process that has workers does not need these.

    try:
        kind, url, charset, parameters = orjson.loads(job[0])
        if kind == _LOCALIZE:
            return orjson.dumps(localize([Received(**file) for file in parameters])), b""
        options = ConvertOptions(**parameters | {"content": Content(parameters["content"])})
        return _pack(READERS[kind](PageSource(job[1], url, charset), options))
    except OutputError as refused:
        failure = {"full": isinstance(refused, DiskFull), "message": refused.message, "hint": refused.hint}
        return _dump({"refused": failure}), b""
    except Exception as error:
        return _dump({"error": f"{type(error).__name__}: {error}"}), b""


# All combinations of a link's other fields, by number: a page may have thousands of links, and most are alike.
_ROLES: Final = tuple(product(LinkKind, (False, True), ("href", "src"), (False, True)))
_NUMBERS: Final = {role: number for number, role in enumerate(_ROLES)}


def _pack(reading: ParsedPage) -> Message:
    links = reading.links
    packed = None
    if links is not None:
        packed = (
            [one.url for one in links.found],
            [_NUMBERS[one[1:]] for one in links.found],
            [(one.text, one.reason) for one in links.refused],
            links.nofollow,
        )
    fields = (
        reading.digest.hex(),
        reading.title,
        reading.canonical,
        reading.refresh,
        reading.markdown is not None,
        packed,
        reading.meta,
        reading.anchors,
        reading.hidden_texts,
        reading.is_unreadable,
        reading.is_wordless,
    )
    return _dump(fields), reading.markdown or b""


def _dump(value: object) -> bytes:
    try:
        return orjson.dumps(value)
    except TypeError:  # half of a surrogate pair, which no file can contain
        return json.dumps(value).encode()


def raise_failure(answer: Message) -> None:
    """Raise the failure that an answer carries: `JobFailed`, or an `OutputError` of the disk."""
    if not answer[0].startswith(b"{"):
        return
    failure = json.loads(answer[0])
    if refused := failure.get("refused"):
        raise (DiskFull if refused["full"] else OutputError)(refused["message"], hint=refused["hint"])
    raise JobFailed(failure["error"])


def decode_page(answer: Message) -> ParsedPage:
    """Decode a parsed page."""
    head, body = answer
    try:
        fields = orjson.loads(head)
    except ValueError:
        fields = json.loads(head)
    digest, title, canonical, refresh, has_markdown, links, meta, anchors, hidden_texts, *flags = fields
    if links is not None:
        found, roles, refused, nofollow = links
        links = PageLinks(
            tuple([Found(url, *_ROLES[role]) for url, role in zip(found, roles, strict=True)]),
            tuple(Refused(text, Reason(reason)) for text, reason in refused),
            nofollow,
        )
    markdown = body if has_markdown else None
    digest = bytes.fromhex(digest)
    return ParsedPage(digest, title, canonical, refresh, markdown, links, meta, anchors, hidden_texts, *flags)
