"""Asks for a URL and turns the answer into what is kept of it: Markdown, HTML, or an asset streamed to disk."""

from __future__ import annotations

from dataclasses import replace
from hashlib import blake2b, sha256
from mimetypes import guess_type

from sitemirror.convert import PageKind, convert_html, convert_text, page_kind, with_front_matter
from sitemirror.convert.page_meta import page_meta
from sitemirror.discover.links import page_links
from sitemirror.discover.stylesheet import css_links
from sitemirror.engine.keeper import Keeper
from sitemirror.engine.plan import Plan
from sitemirror.engine.session import Session
from sitemirror.engine.taken import Asset, Taken
from sitemirror.fetch.client import TOO_LARGE, Stream
from sitemirror.fetch.exchange import Head
from sitemirror.fetch.media import sniff
from sitemirror.model import Failed, Fetched, Lane, NotModified, Page, Redirect, Skipped, Validators
from sitemirror.publish.mirror_index import dump_page_meta
from sitemirror.store.ledger import Known
from sitemirror.store.restore import RESCUED

CSS = "text/css"


Answer = Taken | Redirect | NotModified | Failed | Skipped


class Taker:
    """Does this for one run, as its plan says."""

    def __init__(self, session: Session, plan: Plan, keeper: Keeper) -> None:
        self._session = session
        self._plan = plan
        self._keeper = keeper
        self._limit = session.settings.max_file_bytes
        self.first: Fetched | None = None
        """The start page, where arriving had to fetch it: no need to ask twice."""

    async def take(self, known: Known, validators: Validators) -> Answer:
        """One request, and what became of it."""
        first = self.first
        if first is not None and first.url == known.url and page_kind(first.content_type):
            self.first = None
            return self._page(known, first)
        if self._plan.html:
            return self._rescued(known) or await self._take_anything(known, validators)
        outcome = await self._session.fetcher.get(
            known.url, lane=Lane.CONTENT, limit=self._limit, validators=validators, wanted=_is_page
        )
        return self._page(known, outcome) if isinstance(outcome, Fetched) else outcome

    def _rescued(self, known: Known) -> Answer | None:
        """A file that was saved as received, and of which nothing else is known: read from disk, not asked for."""
        path = known.html_path or known.path
        if known.received != RESCUED or path is None or not self._keeper.has(path):
            return None
        kind = "text/html" if path.endswith(".html") else guess_type(path)[0] or "application/octet-stream"
        found = Fetched(known.url, 200, {}, b"", kind, None, known.fetched_at or self._session.now())
        if kind not in ("text/html", CSS):
            return replace(_taken(found, None), asset=self._keeper.in_place(known, path))
        found = replace(found, body=self._keeper.read(path))
        try:
            found.body.decode("utf-8")
        except UnicodeDecodeError:
            return None  # The header may have named its charset; only the server knows.
        return self._stylesheet(found) if kind == CSS else self._html(known, found)

    # --- pages -------------------------------------------------------------------------------------------------

    def _page(self, known: Known, fetched: Fetched) -> Answer:
        match page_kind(fetched.content_type):
            case PageKind.HTML:
                return self._html(known, fetched)
            case PageKind.TEXT if not self._plan.html:
                return self._text(fetched)
            case _:
                return _other_type(fetched.url, fetched.content_type, len(fetched.body))

    def _text(self, fetched: Fetched) -> Taken:
        page = convert_text(fetched.body, url=fetched.url, charset=fetched.charset)
        return _taken(fetched, page.markdown.encode("utf-8", "replace"), page)

    def _html(self, known: Known, fetched: Fetched) -> Taken | Redirect:
        settings, url, charset = self._session.settings, fetched.url, fetched.charset
        page = convert_html(fetched.body, url=url, content=settings.content, charset=charset)
        if page.refresh and page.refresh != known.url:
            return Redirect(known.url, fetched.status, page.refresh)
        taken = replace(_taken(fetched, page.markdown.encode("utf-8", "replace"), page), markdown=None)
        if self._plan.markdown:
            text = with_front_matter(page) if settings.front_matter else page.markdown
            taken = replace(taken, markdown=text.encode("utf-8", "replace"))
        if self._plan.html:
            taken = replace(taken, html=fetched.body)
        if self._plan.html or self._plan.follows_links:
            taken = replace(taken, links=page_links(fetched.body, url=url, charset=charset))
        if self._plan.index:
            taken = replace(taken, meta=dump_page_meta(page_meta(fetched.body, url=url, charset=charset)).decode())
        return taken

    # --- anything ----------------------------------------------------------------------------------------------

    async def _take_anything(self, known: Known, validators: Validators) -> Answer:
        """Pages and stylesheets are read whole, for their links; everything else goes to disk as it comes."""
        stream = self._session.fetcher.stream(known.url, lane=Lane.CONTENT, limit=self._limit, validators=validators)
        async with stream as answer:
            if not isinstance(answer, Stream):
                return answer
            head = answer.head
            if head.content_length is not None and head.content_length > self._limit:
                return Skipped(known.url, TOO_LARGE, head.content_type or None, head.content_length)
            chunks = answer.chunks()
            begun = await anext(chunks, b"")
            head = replace(head, content_type=head.content_type or sniff(begun))
            if page_kind(head.content_type) is PageKind.HTML or head.content_type == CSS:
                pieces = [begun, *[piece async for piece in chunks]]
                if answer.error:
                    return _cut_short(known.url, head, answer.error)
                fetched = self._fetched(head, b"".join(pieces))
                return self._html(known, fetched) if head.content_type != CSS else self._stylesheet(fetched)
            digest, size = sha256(begun), len(begun)
            with self._keeper.draft(known) as draft:
                draft.write(begun)
                async for piece in chunks:
                    digest.update(piece)
                    size += len(piece)
                    draft.write(piece)
                if answer.error:
                    draft.discard()
            if answer.error:
                return _cut_short(known.url, head, answer.error)
            asset = Asset(draft.path, draft.wanted, size, digest.hexdigest())
            return replace(_taken(self._fetched(head, b""), None), asset=asset)

    def _stylesheet(self, fetched: Fetched) -> Taken:
        links = css_links(fetched.body, url=fetched.url, charset=fetched.charset)
        return replace(_taken(fetched, None), html=fetched.body, links=links)

    def _fetched(self, head: Head, body: bytes) -> Fetched:
        return Fetched(head.url, head.status, head.headers, body, head.content_type, head.charset, self._session.now())


def _taken(fetched: Fetched, markdown: bytes | None, page: Page | None = None) -> Taken:
    return Taken(
        status=fetched.status,
        headers=fetched.headers,
        content_type=fetched.content_type,
        charset=fetched.charset,
        fetched_at=fetched.fetched_at,
        body=b"" if markdown is None else blake2b(markdown, digest_size=16).digest(),
        title=page.title if page else None,
        canonical=page.canonical if page else None,
        markdown=markdown,
    )


def _cut_short(url: str, head: Head, error: str) -> Failed | Skipped:
    if error == TOO_LARGE:
        return Skipped(url, TOO_LARGE, head.content_type or None, head.content_length)
    return Failed(url, error, transient=True)


def _is_page(head: Head) -> Skipped | None:
    if not head.content_type or page_kind(head.content_type):
        return None
    return _other_type(head.url, head.content_type, head.content_length)


def _other_type(url: str, content_type: str, size: int | None) -> Skipped:
    return Skipped(url, f"content type {content_type}", content_type=content_type, size_bytes=size)
