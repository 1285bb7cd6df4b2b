"""Load the page that `convert` converts: from a URL, a file or bytes.

A URL passes all the checks of a mirrored page.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from mimetypes import MimeTypes
from pathlib import Path
from typing import Final

from sitemirror.convert import PageKind, convert_html, convert_text, page_kind
from sitemirror.convert.document import decode_text, parse_html
from sitemirror.convert.explain import Explained
from sitemirror.convert.explain import explain as explain_html
from sitemirror.convert.xhtml import XHTML, as_html
from sitemirror.errors import NoPage, UsageError
from sitemirror.fetch.client import Fetcher
from sitemirror.fetch.media_type import binary_type, sniff
from sitemirror.fetch.response import Head
from sitemirror.model import NO_CONTENT, Failed, Fetched, Lane, NotModified, Page, Redirect, Skipped
from sitemirror.reasons import Reason
from sitemirror.run.start import MAX_HOPS, advice, unreachable
from sitemirror.settings import Content
from sitemirror.text import is_readable

_TEXT_ENDINGS: Final = (".md", ".markdown", ".txt")
_HTML_ENDINGS: Final = (".html", ".htm", ".xhtml")
_REFRESH: Final = re.compile(rb"http-equiv\s*=\s*[\"']?refresh", re.I)
_TAG: Final = re.compile(rb"<[A-Za-z!?/]")
_BEGINS_WITH_TAG: Final = re.compile(rb"(?:\xef\xbb\xbf|\xff\xfe|\xfe\xff)?[\s\0]*<")
_HOST: Final = re.compile(r"[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+(?::[0-9]+)?(?:/|\Z)|[A-Za-z0-9-]+:[0-9]+(?:/|\Z)")
_NAMES: Final = MimeTypes()  # Python's own list: the system's would give another answer on each.
_PIPE: Final = "give an HTML file; if it is one, give it as stdin: sitemirror convert - < FILE"


@dataclass(frozen=True, slots=True)
class PageInput:
    """A page to convert. `url` is empty if it is not known."""

    body: bytes
    url: str
    kind: PageKind
    charset: str | None = None

    def convert(self, content: Content) -> Page:
        """Convert the page to Markdown; plain text stays as it is."""
        if self.kind is PageKind.TEXT:
            return convert_text(self.body, url=self.url, charset=self.charset)
        return convert_html(self.body, url=self.url, content=content, charset=self.charset)

    def explain(self, content: Content) -> list[Explained]:
        """List every block of the page's text with the reason why it is kept or cut."""
        if self.kind is PageKind.TEXT:
            return [Explained(self.convert(content).markdown, "text", True, "plain text is kept as it is")]
        return explain_html(self.body, url=self.url, content=content, charset=self.charset)


async def fetch(fetcher: Fetcher, url: str, *, limit: int) -> PageInput:
    """Fetch the page at `url`, following redirects. Raises `Unreachable` or `NoPage`."""
    asked = [url]
    for _ in range(MAX_HOPS + 1):
        outcome = await fetcher.get(url, lane=Lane.CONTENT, limit=limit, wanted=_is_page)
        match outcome:
            case Fetched(status=status) if status in NO_CONTENT:
                raise NoPage(f"cannot fetch {url}: HTTP {status}: no content", hint="give the address of a page")
            case Fetched():
                page = _fetched(outcome)
                refresh = page.convert(Content.FULL).refresh if _REFRESH.search(outcome.body) else None
                if refresh is None or refresh == url:
                    return page
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
                raise NoPage(f"cannot fetch {url}: {outcome.text}", hint=hint)
            case Skipped(reason=reason):
                hint = "give the address of a page"
                if reason is Reason.TOO_LARGE:
                    hint = "allow larger pages with --max-file-size"
                raise NoPage(f"cannot convert {url}: {outcome.text}", hint=hint)
            case NotModified():  # although the request was not conditional
                raise NoPage(f"cannot fetch {url}: HTTP 304", hint="try again later")
    raise NoPage(f"{asked[0]} redirects more than {MAX_HOPS} times", hint="give the address that they should lead to")


def read_file(path: Path, *, url: str = "") -> PageInput:
    """Read the page in a file. Raises `UsageError` if it cannot be read, `NoPage` if it is no page."""
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
        return PageInput(body, url, PageKind.TEXT)
    if not name.endswith(_HTML_ENDINGS):
        source = of_bytes(body, str(path), url=url)
        if path.suffix:
            _refuse_other_names(body, path)
        return source
    _refuse_other_types(body, str(path))
    return PageInput(as_html(body) if name.endswith(".xhtml") else body, url, PageKind.HTML)


def _is_file_name(path: Path) -> bool:
    """True if this looks like the name of a file, misspelt or not there yet, rather than a host."""
    name = path.name.lower()
    return len(path.parts) == 1 and (name.endswith(_TEXT_ENDINGS) or _NAMES.guess_type(name)[0] is not None)


def of_bytes(body: bytes, name: str, *, url: str = "") -> PageInput:
    """Make a page of bytes without a name or type. Raises `NoPage`."""
    _refuse_empty(body, name)
    _refuse_other_types(body, name)
    if not _TAG.search(body) and b"\0" not in body:
        raise NoPage(f"{name} is not HTML: there is no tag in it", hint="plain text is Markdown as it is")
    return PageInput(body, url, PageKind.HTML)


def _refuse_empty(body: bytes, name: str) -> None:
    if not body.strip():
        raise NoPage(f"{name} is empty", hint="give a page in HTML")


def _refuse_other_names(body: bytes, path: Path) -> None:
    """Refuse programs and data, which may contain tags, too. The name decides only where the bytes do not."""
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


def _fetched(found: Fetched) -> PageInput:
    kind = page_kind(found.content_type)
    if kind is None:
        raise NoPage(
            f"{found.url} cannot be converted: content type {found.content_type}", hint="give a page's address"
        )
    if binary := binary_type(found.body):
        raise NoPage(f"{found.url} cannot be converted: it is {binary}", hint="give a page's address")
    body = as_html(found.body) if found.content_type == XHTML else found.body
    charset = found.charset
    if kind is PageKind.HTML:
        charset = parse_html(body, url=found.url, charset=charset).tree.encoding
    if not is_readable(decode_text(body, charset)):
        raise NoPage(f"{found.url} cannot be converted: it is binary data", hint="give a page's address")
    return PageInput(body, found.url, kind, found.charset)


def _is_page(head: Head) -> Skipped | None:
    if page_kind(head.content_type):
        return None
    return Skipped(head.url, Reason.WRONG_TYPE, head.content_type, content_type=head.content_type)
