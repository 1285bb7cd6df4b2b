"""Fetch a URL and turn the answer into a page, as Markdown or HTML, or into an asset on disk."""

from __future__ import annotations

from dataclasses import replace

from sitemirror.convert import page_kind
from sitemirror.convert.xhtml import XHTML, as_html, charset_of
from sitemirror.fetch.decode import Decoder, FileDecoder
from sitemirror.fetch.media_type import SNIFF_SIZE, binary_type, sniff
from sitemirror.fetch.pace import Slot
from sitemirror.fetch.response import Head, Stream
from sitemirror.model import NO_CONTENT, Failed, Fetched, Lane, NotModified, Redirect, Skipped, Validators
from sitemirror.reasons import Cause, Reason
from sitemirror.run.page_writer import AssetDraft, FetchedPage, PageWriter
from sitemirror.run.plan import Plan
from sitemirror.run.session import Session
from sitemirror.run.start import check_html
from sitemirror.settings import Links
from sitemirror.stopwatch import Stage
from sitemirror.store.paths import ENCODING
from sitemirror.store.url_record import UrlRecord
from sitemirror.urls import parts
from sitemirror.workers.jobs import ConvertOptions, JobFailed, PageSource, ParsedPage

CSS = "text/css"
SVG = "image/svg+xml"

Outcome = FetchedPage | Redirect | NotModified | Failed | Skipped


class PageFetcher:
    """Fetches pages and assets for one run, as its plan says."""

    def __init__(self, session: Session, plan: Plan, writer: PageWriter) -> None:
        self._session = session
        self._plan = plan
        self._writer = writer
        self._limit = session.settings.max_file_bytes
        self._options = ConvertOptions(
            content=session.settings.content,
            front_matter=session.settings.front_matter,
            markdown=plan.markdown,
            links=plan.html or plan.follows_links,
            meta=plan.index,
            anchors=plan.markdown and session.settings.links is Links.LOCAL,
        )
        self.first: Fetched | None = None
        """The start page, if resolving the start URL fetched it: it is not requested twice."""
        self.start = ""
        """The page that a crawl starts from. If it is no page, the run ends."""

    async def fetch(self, record: UrlRecord, validators: Validators, slot: Slot) -> Outcome:
        """Send one request. Releases the slot when the request is over."""
        answer = await self._answer(record, validators, slot)
        if record.url == self.start and isinstance(answer, Skipped) and answer.content_type:
            check_html(record.url, answer.content_type)
        return answer

    async def _answer(self, record: UrlRecord, validators: Validators, slot: Slot) -> Outcome:
        if not self._writer.can_name(record.url):
            return Failed(record.url, Reason.UNWRITABLE_NAME, ENCODING)
        first = self.first
        if first is not None and first.url == record.url and page_kind(first.content_type):
            self.first = None
            return await self._read(record, first, slot)
        if self._plan.html:
            outcome = await self._fetch_any(record, validators, slot)
        else:
            outcome = await self._session.fetcher.get(
                record.url, lane=Lane.CONTENT, limit=self._limit, validators=validators, wanted=_is_page, slot=slot
            )
        if isinstance(outcome, Fetched) and outcome.status in NO_CONTENT:
            return _no_content(record.url, outcome.status)
        return await self._read(record, outcome, slot) if isinstance(outcome, Fetched) else outcome

    async def _read(self, record: UrlRecord, fetched: Fetched, slot: Slot) -> Outcome:
        """Parse bytes as a page, here or in a worker."""
        slot.release()
        kind = _kind(fetched.content_type)
        if kind is None or (kind == "text" and self._plan.html) or (kind in ("css", "svg") and not self._plan.html):
            return _other_type(fetched.url, fetched.status, fetched.content_type, len(fetched.body))
        if kind in ("html", "text") and (found := binary_type(fetched.body)):
            return _unreadable(fetched, len(fetched.body), found)
        body, charset = fetched.body, fetched.charset
        if fetched.content_type == XHTML:
            body, charset = as_html(body), charset or charset_of(body)
        source = PageSource(body, fetched.url, charset)
        watch = self._session.watch
        try:
            with watch.waiting(Stage.CONVERSION):
                reading = await self._session.pool.read(kind, source, self._options, watch)
        except JobFailed as error:
            return Failed(record.url, Reason.CONVERSION, str(error))
        if reading.is_unreadable:
            return _unreadable(fetched, len(fetched.body))
        if reading.refresh and reading.refresh != record.url:
            return Redirect(record.url, fetched.status, reading.refresh)
        is_empty = kind in ("html", "text") and not fetched.body.strip()
        return _fetched_page(fetched, reading, html=fetched.body if self._plan.html else None, is_empty=is_empty)

    # --- pages and assets --------------------------------------------------------------------------------------

    async def _fetch_any(self, record: UrlRecord, validators: Validators, slot: Slot) -> Outcome | Fetched:
        """Fetch a page or asset. Pages, style sheets and SVG are read whole; other files are streamed to disk."""
        stream = self._session.fetcher.stream(
            record.url, lane=Lane.CONTENT, limit=self._limit, validators=validators, slot=slot, kind=_decoder
        )
        async with stream as answer:
            if not isinstance(answer, Stream):
                return answer
            head = answer.head
            if head.status in NO_CONTENT:
                return _no_content(record.url, head.status)
            if head.content_length is not None and head.content_length > self._limit:
                return head.too_large
            chunks = answer.chunks()
            begun = b""
            while len(begun) < SNIFF_SIZE and (piece := await anext(chunks, b"")):
                begun += piece
            if not head.content_type:
                head = replace(head, content_type=sniff(begun))
            elif _kind(head.content_type) == "html" and (found := binary_type(begun)):
                if (record.html_path or record.path or "").endswith(".html"):  # A page's copy does not become an asset.
                    return _unreadable(head, head.content_length, found)
                head = replace(head, content_type=found)
            if record.url == self.start:
                check_html(record.url, head.content_type)
            if _kind(head.content_type) in ("html", "css", "svg"):
                body = b"".join([begun, *[piece async for piece in chunks]])
                return _cut_short(head, answer.error) if answer.error else head.fetched(body, self._session.now())
            try:
                with self._writer.draft(record, head.content_type) as draft:
                    draft.write(begun)
                    async for piece in chunks:
                        draft.write(piece)
                    if answer.error:
                        raise _CutShort
            except _CutShort:
                assert answer.error
                return _cut_short(head, answer.error)
            return _fetched_page(head.fetched(b"", self._session.now()), ParsedPage(), asset=draft)


class _CutShort(Exception):
    """The body is incomplete."""


def _fetched_page(
    fetched: Fetched,
    reading: ParsedPage,
    *,
    html: bytes | None = None,
    asset: AssetDraft | None = None,
    is_empty: bool = False,
) -> FetchedPage:
    return FetchedPage(
        status=fetched.status,
        headers=fetched.headers,
        content_type=fetched.content_type,
        fetched_at=fetched.fetched_at,
        reading=reading,
        html=html,
        asset=asset,
        is_empty=is_empty,
    )


def _kind(content_type: str) -> str | None:
    """Return how a body is parsed: as html, text, css or svg. None: not at all."""
    if content_type in (CSS, SVG):
        return "css" if content_type == CSS else "svg"
    kind = page_kind(content_type)
    return None if kind is None else kind.value


def _decoder(head: Head) -> type[Decoder]:
    """Choose the decoder: files that are parsed for links are decompressed whatever their name."""
    is_packed = parts(head.url).path.lower().endswith((".gz", ".tgz"))
    return FileDecoder if is_packed and _kind(head.content_type) not in ("html", "css", "svg") else Decoder


def _cut_short(head: Head, error: Cause) -> Failed | Skipped:
    if error.reason is Reason.TOO_LARGE:
        return head.too_large
    return Failed(head.url, error.reason, error.detail, transient=True)


def _no_content(url: str, status: int) -> Skipped:
    """Record that the answer has no content. It does not replace an earlier copy."""
    return Skipped(url, Reason.NO_CONTENT, str(status), size_bytes=0, status=status)


def _is_page(head: Head) -> Skipped | None:
    if page_kind(head.content_type):
        return None
    return _other_type(head.url, head.status, head.content_type, head.content_length)


def _other_type(url: str, status: int, content_type: str, size: int | None) -> Skipped:
    return Skipped(url, Reason.WRONG_TYPE, content_type, content_type=content_type, size_bytes=size, status=status)


def _unreadable(answer: Head | Fetched, size: int | None, content_type: str = "") -> Skipped:
    """Binary data that was sent as a page."""
    detail = f"{content_type or 'binary data'}, sent as {answer.content_type}"
    kind = content_type or "application/octet-stream"
    return Skipped(answer.url, Reason.UNREADABLE, detail, content_type=kind, size_bytes=size, status=answer.status)
