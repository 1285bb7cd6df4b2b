"""One page, from wherever it is: a file, bytes at hand, or a URL, which passes the guards that mirrored pages pass."""

from __future__ import annotations

import re
from dataclasses import dataclass
from mimetypes import MimeTypes
from pathlib import Path
from typing import Final

from sitemirror.convert import PageKind, convert_html, convert_text, page_kind
from sitemirror.convert.explain import Explained, explain
from sitemirror.convert.xhtml import XHTML, as_html
from sitemirror.errors import NoPage, UsageError
from sitemirror.fetch.client import Fetcher
from sitemirror.fetch.media_type import binary_type, sniff
from sitemirror.fetch.response import Head
from sitemirror.model import NO_CONTENT, Failed, Fetched, Lane, NotModified, Page, Redirect, Skipped
from sitemirror.reasons import Reason
from sitemirror.run.start import MAX_HOPS, advice, unreachable
from sitemirror.settings import Content

_TEXT_ENDINGS: Final = (".md", ".markdown", ".txt")
_HTML_ENDINGS: Final = (".html", ".htm", ".xhtml")
_REFRESH: Final = re.compile(rb"http-equiv\s*=\s*[\"']?refresh", re.I)
_TAG: Final = re.compile(rb"<[A-Za-z!?/]")
_BEGINS_WITH_TAG: Final = re.compile(rb"(?:\xef\xbb\xbf|\xff\xfe|\xfe\xff)?[\s\0]*<")
_HOST: Final = re.compile(r"[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+(?::[0-9]+)?(?:/|\Z)|[A-Za-z0-9-]+:[0-9]+(?:/|\Z)")
_NAMES: Final = MimeTypes()  # Python's own list: the system's would give another answer on each.
_PIPE: Final = "give an HTML file; if it is one, give it as stdin: sitemirror convert - < FILE"


@dataclass(frozen=True, slots=True)
class Source:
    """A page before it is converted. `url` is empty where nobody said what it is."""

    body: bytes
    url: str
    kind: PageKind
    charset: str | None = None

    def page(self, content: Content) -> Page:
        """The page as Markdown; text is kept as it is."""
        if self.kind is PageKind.TEXT:
            return convert_text(self.body, url=self.url, charset=self.charset)
        return convert_html(self.body, url=self.url, content=content, charset=self.charset)

    def explained(self, content: Content) -> list[Explained]:
        """Every block of the page's text, kept or cut, and why."""
        if self.kind is PageKind.TEXT:
            return [Explained(self.page(content).markdown, "text", True, "plain text is kept as it is")]
        return explain(self.body, url=self.url, content=content, charset=self.charset)


async def fetch(fetcher: Fetcher, url: str, *, limit: int) -> Source:
    """The page at `url`, or where it leads. Raises `Unreachable` or `NoPage`."""
    asked = [url]
    for _ in range(MAX_HOPS + 1):
        outcome = await fetcher.get(url, lane=Lane.CONTENT, limit=limit, wanted=_is_page)
        match outcome:
            case Fetched(status=status) if status in NO_CONTENT:
                raise NoPage(f"{url} cannot be had: HTTP {status}: no content", hint="give the address of a page")
            case Fetched():
                source = _fetched(outcome)
                refresh = source.page(Content.FULL).refresh if _REFRESH.search(outcome.body) else None
                if refresh is None or refresh == url:
                    return source
                url = refresh
            case Redirect(location=location):
                url = location
                if url in asked:
                    fetcher.keep_cookies(asked)
                asked.append(url)
            case Failed(status=None):
                raise unreachable(url, outcome)
            case Failed():
                hint = "try again later" if outcome.transient else advice(outcome)
                raise NoPage(f"{url} cannot be had: {outcome.text}", hint=hint)
            case Skipped(reason=reason):
                hint = "give the address of a page"
                if reason is Reason.TOO_LARGE:
                    hint = "allow larger pages with --max-file-size"
                raise NoPage(f"{url} cannot be converted: {outcome.text}", hint=hint)
            case NotModified():  # which nobody asked for
                raise NoPage(f"{url} cannot be had: HTTP 304", hint="try again later")
    raise NoPage(f"{asked[0]} redirects more than {MAX_HOPS} times", hint="give the address that they should lead to")


def read_file(path: Path, *, url: str = "") -> Source:
    """The page in a file. Raises `UsageError` where there is none, `NoPage` for what is no page."""
    try:
        body = path.read_bytes()
    except FileNotFoundError:
        hint = "the address of a page begins with https://"
        if _HOST.match(str(path)) and not _is_file_name(path):
            hint = f"if it is the address of a page, give it as https://{path}"
        raise UsageError(f"no such file: {path}", hint=hint) from None
    except IsADirectoryError:
        raise UsageError(f"{path} is a folder", hint="give a file in it") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise UsageError(f"cannot read {path}: {reason}", hint="check the name and its permissions") from None
    _refuse_empty(body, str(path))
    name = path.name.lower()
    if name.endswith(_TEXT_ENDINGS) and sniff(body) == "text/plain":
        return Source(body, url, PageKind.TEXT)
    if not name.endswith(_HTML_ENDINGS):
        source = of_bytes(body, str(path), url=url)
        if path.suffix:
            _refuse_other_names(body, path)
        return source
    _refuse_other_types(body, str(path))
    return Source(as_html(body) if name.endswith(".xhtml") else body, url, PageKind.HTML)


def _is_file_name(path: Path) -> bool:
    """Whether it is plainly a file in this folder that is misspelt, or not there yet."""
    name = path.name.lower()
    return len(path.parts) == 1 and (name.endswith(_TEXT_ENDINGS) or _NAMES.guess_type(name)[0] is not None)


def of_bytes(body: bytes, name: str, *, url: str = "") -> Source:
    """A page whose bytes are at hand, and that nothing but those bytes says anything of. Raises `NoPage`."""
    _refuse_empty(body, name)
    _refuse_other_types(body, name)
    if not _TAG.search(body) and b"\0" not in body:
        raise NoPage(f"{name} is not HTML: there is no tag in it", hint="plain text is Markdown as it is")
    return Source(body, url, PageKind.HTML)


def _refuse_empty(body: bytes, name: str) -> None:
    if not body.strip():
        raise NoPage(f"{name} is empty", hint="give a page in HTML")


def _refuse_other_names(body: bytes, path: Path) -> None:
    """Programs and data have tags in them, too. Only what the bytes leave open is decided by the name."""
    if page_kind(sniff(body)) is PageKind.HTML:
        return
    said = _NAMES.guess_type(f"x{path.suffix}")[0]
    if said is not None:
        raise NoPage(f"{path} is not HTML but {said}", hint=_PIPE)
    if not _BEGINS_WITH_TAG.match(body):
        raise NoPage(f"{path} is not HTML: it does not begin with a tag", hint=_PIPE)


def _refuse_other_types(body: bytes, name: str) -> None:
    found = sniff(body)
    if page_kind(found) is None:
        what = "binary data" if found == "application/octet-stream" else found
        raise NoPage(f"{name} is not HTML but {what}", hint="give an HTML file")


def _fetched(found: Fetched) -> Source:
    kind = page_kind(found.content_type)
    if kind is None:
        raise NoPage(
            f"{found.url} cannot be converted: content type {found.content_type}", hint="give a page's address"
        )
    if binary := binary_type(found.body):
        raise NoPage(f"{found.url} cannot be converted: it is {binary}", hint="give a page's address")
    body = as_html(found.body) if found.content_type == XHTML else found.body
    return Source(body, found.url, kind, found.charset)


def _is_page(head: Head) -> Skipped | None:
    if page_kind(head.content_type):
        return None
    return Skipped(head.url, Reason.WRONG_TYPE, head.content_type, content_type=head.content_type)
