"""Rewrites the links of an HTML page so that they lead into the mirror, and the copy opens from disk.

Edits the bytes as received: the charset, blanks, comments and mistakes of the page stay. The parser only gives the
places of tags; a page is never serialised from its tree.
"""

from __future__ import annotations

import html as entities
import re
from collections.abc import Callable
from typing import Final, NamedTuple

import turbohtml
from turbohtml import Element, Namespace

from sitemirror.links.attributes import (
    ATTRIBUTES,
    DRAWN_ATTRIBUTES,
    OTHER_DRAWN_ATTRIBUTES,
    STYLE,
    Syntax,
    is_canonical,
    is_css,
    is_refresh,
)
from sitemirror.links.css import css_edits, rewrite_style
from sitemirror.links.resolve import Localizer, ReferenceRelinker, is_local
from sitemirror.links.source import PLAIN, Coding, Edit, SourceText, apply, declared_by_html, parsable
from sitemirror.links.values import (
    Rewrite,
    rewrite_refresh,
    rewrite_resource,
    rewrite_srcset,
    rewrite_url,
    xml_style_sheet_spans,
)
from sitemirror.text import unescape

_Rewriter = Callable[[str, Coding, Rewrite], str | None]
"""Gives a value its new URLs; `None` if it stays as it is."""

_REWRITERS: Final[dict[Syntax, _Rewriter]] = {
    Syntax.LINK: rewrite_url,
    Syntax.RESOURCE: rewrite_resource,
    Syntax.SRCSET: rewrite_srcset,
    Syntax.CSS: rewrite_style,
    Syntax.REFRESH: rewrite_refresh,
    Syntax.ACTION: rewrite_url,
}
_SYNTAX: Final = {(tag, row.name): row.syntax for tag, rows in ATTRIBUTES.items() for row in rows}
_DRAWN_SYNTAX: Final = {(tag, row.name): row.syntax for tag, rows in DRAWN_ATTRIBUTES.items() for row in rows}
_OTHER_DRAWN_SYNTAX: Final = {row.name: row.syntax for row in OTHER_DRAWN_ATTRIBUTES}
_NAMES: Final = {name for _, name in (*_SYNTAX, *_DRAWN_SYNTAX)} - {"content"}
# Most `style` attributes have no function and most http-equiv declare the charset: neither holds a URL.
_CANDIDATES: Final = ",".join(
    (
        *(f"[{name}]".replace(":", r"\:") for name in sorted(_NAMES)),
        '[style*="("],[style*="@"],style,meta[http-equiv*="refresh" i],meta[http-equiv*="security" i]',
    )
)
# The bytes of a local file may have changed, and it has no origin to ask.
_CHECKS: Final = ("integrity", "crossorigin")
_CHECKED: Final = frozenset(("script", "link", "img", "video", "audio", "source", "track", "image", "feImage"))

# An anchor with nothing in it that could be read in two ways: values quoted, the URL in plain characters, no style. And
# a link of that kind, which loads no more than its URL, without checks, and does not name the page's own address.
_OTHERS: Final = r"(?:[ \t\n\r]++(?!(?:href|style|background)[=\s])[a-z][a-z-]*+=\"[^\"]*+\")*+"
_OTHERS_OF_LINK: Final = (
    r"(?:[ \t\n\r]++(?!(?:href|style|background|imagesrcset|integrity|crossorigin)[=\s])"
    r"(?!rel=\"[^\"]*?(?:&|(?i:canonical)))[a-z][a-z-]*+=\"[^\"]*+\")*+"
)
_URL: Final = r"[!$%'-;=?-~]"
_PLAIN: Final = re.compile(
    rf"<(?:a{_OTHERS}[ \t\n\r]++href=\"({_URL}*+)((?:#{_URL}*+)?+)\"{_OTHERS}"
    rf"|link{_OTHERS_OF_LINK}[ \t\n\r]++href=\"({_URL}++)((?:#{_URL}*+)?+)\"{_OTHERS_OF_LINK})[ \t\n\r]*+/?+>"
)
# Of these there is one on a page, with the attributes of all its tags.
_ROOTS: Final = {tag: re.compile(rf"<{tag}(?=[\t\n\f\r /])", re.I) for tag in ("html", "body")}
_STYLE_END: Final = re.compile(r"</style(?=[\t\n\f\r />])", re.I)
# One start tag in the source.
_BLANK: Final = r"\t\n\f\r "
_TAG_NAME: Final = re.compile(rf"<[A-Za-z][^{_BLANK}/>]*+")
_ATTRIBUTE: Final = re.compile(
    rf"[{_BLANK}/]*+([^{_BLANK}/>][^{_BLANK}/>=]*+)"
    rf"(?:[{_BLANK}]*+=[{_BLANK}]*+(?:\"([^\"]*+)\"|'([^']*+)'|([^{_BLANK}>\"'][^{_BLANK}>]*+)|(?=>)))?+"
)
_TAG_END: Final = re.compile(rf"[{_BLANK}/]*+>")
_UNQUOTED: Final = re.compile(rf"[^{_BLANK}\"'=<>`]+")
_QUOTES: Final = ("", "", '"', "'", "")  # by the last group of _ATTRIBUTE that matched
_MAX_NESTING: Final = 3  # of pages in srcdoc attributes
_NOT_ASCII: Final = re.compile(r"[^\x00-\x7f]")


def localize_html(html: bytes, *, url: str, charset: str | None, target: Callable[[str], str]) -> bytes:
    """Replace every link of `html` by `target(url)`; the URL is absolute, normalised, without fragment.

    `target` answers with a relative path, percent-encoded, or an absolute URL. `url` is where the page is from,
    `charset` that of its Content-Type header. Fragments are kept, and links that are no web addresses are left alone;
    forms and the canonical link, which mean the site itself, become absolute. A page that does not name the charset
    of its header names it then, or a browser that opens the file would read it otherwise than the site's readers.
    """
    source = SourceText(html, charset, declared_by_html)
    edits = _edits(source.text, source, Localizer(url, url, target, source.encoding), _MAX_NESTING)
    return source.edited(edits.union(source.redeclared()))


def localize_svg(svg: bytes, *, url: str, charset: str | None, target: Callable[[str], str]) -> bytes:
    """The same for a drawing, which is XML and names its charset in a way of its own."""
    source = SourceText(svg, charset, declared_by_html)
    return source.edited(_edits(source.text, source, Localizer(url, url, target), _MAX_NESTING))


def relink_html(html: bytes, *, charset: str | None, change: Callable[[str], str | None]) -> bytes:
    """A localised page with its links changed: `change` gets each as it is written, without its fragment.

    It answers with the new text, or with `None` to leave the link as it is.
    """
    source = SourceText(html, charset, declared_by_html)
    return source.edited(_edits(source.text, source, ReferenceRelinker(change), _MAX_NESTING))


def _edits(text: str, coding: Coding, links: Localizer | ReferenceRelinker, nesting: int) -> set[Edit]:
    """The edits that rewrite a page."""
    # Columns are offsets, since the parser is given a single line.
    tree = turbohtml.parse(parsable(text), allow_declarative_shadow_roots=False)
    bases = [base for base in tree.find_all("base", href=True) if base.namespace is Namespace.HTML]
    counting = next((base for base in bases if base.closest("template:not([shadowrootmode])") is None), None)
    if counting is not None and (tag := _tag(text, counting)) is not None:
        links = links.based_on(tag["href"].decoded(coding))
    page = _RewrittenPage(text, coding, links, nesting)
    for base in bases:
        page.drop(base, "href")  # Links count from the file now.
    for start, end in xml_style_sheet_spans(text):
        page.rewrite_style_sheet(start, end)
    for element in tree.select(_CANDIDATES):
        position = element.position
        if element.tag in _ROOTS:
            for start in _starts_of_root(text, element.tag):
                page.rewrite(element, start)
        elif position is not None:  # The parser makes some elements without a tag.
            plain = _PLAIN.match(text, position[1])
            if plain is None:
                page.rewrite(element, position[1])
            else:
                page.rewrite_plain(plain)
    return page.edits


def _starts_of_root(text: str, tag: str) -> list[int]:
    """The offsets of the tags that give the page's `html` or `body` attributes."""
    found = [match.start() for match in _ROOTS[tag].finditer(text)]
    if len(found) > 1:  # Some may be text: in a script, a comment or the page of a srcdoc.
        starts = {token.col for token in turbohtml.tokenize(parsable(text)) if token.tag == tag}
        found = [start for start in found if start in starts]
    return found


def _tag(text: str, element: Element) -> Tag | None:
    """The start tag that made `element`; the parser makes some elements without one."""
    position = element.position
    return None if position is None else read_tag(text, position[1])


def _in_ascii(markup: str) -> str:
    return _NOT_ASCII.sub(lambda char: f"&#{ord(char[0])};", markup)


class _RewrittenPage:
    """A page while it is edited."""

    def __init__(self, text: str, coding: Coding, links: Localizer | ReferenceRelinker, nesting: int) -> None:
        self.edits: set[Edit] = set()
        self._text = text
        self._coding = coding
        self._links = links
        self._nesting = nesting
        self._done: set[int] = set()
        self._is_local = False  # of the element at hand: a link leads into the mirror

    def rewrite(self, element: Element, start: int) -> None:
        """Rewrites all links of an element whose tag begins at `start`."""
        if start in self._done or (tag := read_tag(self._text, start)) is None:
            return  # Misnested markup makes several elements of one tag.
        self._done.add(start)
        name = element.tag
        if name == "meta" and _is_policy(element):
            # It names the site's hosts; the files of the mirror are from none of them, and would be refused.
            self.edits.add((tag.start, tag.end, ""))
            return
        if name == "style" and is_css(element):
            self._sheet(tag, element)
        self._is_local = False
        for attribute in tag.names:
            syntax = _syntax(element, attribute)
            if syntax is Syntax.HTML:
                if self._nesting:
                    self._replace(tag[attribute], self._nested, self._link)
            elif syntax is Syntax.ACTION or (syntax is not None and is_canonical(element)):
                self._replace(tag[attribute], _REWRITERS[syntax], self._links.address)
            elif syntax is not None and (syntax is not Syntax.REFRESH or is_refresh(element)):
                self._replace(tag[attribute], _REWRITERS[syntax], self._link)
        if self._is_local and name in _CHECKED:
            self._unchecked(tag, element)

    def rewrite_plain(self, tag: re.Match[str]) -> None:
        """Rewrites a tag that is written as nearly all are, in a tenth of the time."""
        at = 1 if tag.lastindex == 2 else 3
        new = self._links.link(tag[at], tag[at + 1])
        if new is not None:
            if "&" in new or '"' in new:
                new = new.replace("&", "&amp;").replace('"', "&quot;")
            self.edits.add((tag.start(at), tag.end(at + 1), new))

    def rewrite_style_sheet(self, start: int, end: int) -> None:
        """Rewrites what an instruction to load a sheet names."""
        text = unescape(self._coding.decode(self._text[start:end]))
        new = rewrite_resource(text, PLAIN, self._links.link)
        if new is not None and new != text:
            self.edits.add((start, end, _in_ascii(entities.escape(new))))

    def drop(self, element: Element, name: str) -> None:
        """Takes an attribute out."""
        tag = _tag(self._text, element)
        if tag is not None and (edit := tag.without(name)) is not None:
            self.edits.add(edit)

    def _link(self, reference: str, fragment: str) -> str | None:
        new = self._links.link(reference, fragment)
        if new is not None and is_local(new):
            self._is_local = True
        return new

    def _replace(self, attribute: Attribute, rewriter: _Rewriter, rewrite: Rewrite) -> None:
        raw = attribute.raw
        if attribute.is_plain:
            new = rewriter(raw, self._coding, rewrite)
            if new is not None and new != raw:
                self.edits.add(attribute.replaced(new))
            return
        text = attribute.decoded(self._coding)
        new = rewriter(text, PLAIN, rewrite)
        if new is not None and new != text:
            start, end, written = attribute.replaced(new)
            self.edits.add((start, end, _in_ascii(written)))

    def _nested(self, text: str, coding: Coding, _: Rewrite) -> str | None:
        """The page in a srcdoc attribute."""
        return apply(text, _edits(text, coding, self._links, self._nesting - 1))

    def _sheet(self, tag: Tag, element: Element) -> None:
        """The CSS of a style element."""
        if self._text[tag.end - 2] == "/":
            return
        found = _STYLE_END.search(self._text, tag.end)
        end = len(self._text) if found is None else found.start()
        text = self._text[tag.end : end]
        if element.namespace is not Namespace.HTML and "&" in text and "<" not in text:
            # In SVG, unlike in HTML, references are resolved here.
            decoded = unescape(self._coding.decode(text))
            new = rewrite_style(decoded, PLAIN, self._link)
            if new is not None:
                written = _in_ascii(entities.escape(new, quote=False))
                self.edits.add((tag.end, end, written))
            return
        for start, stop, new in css_edits(text, self._coding, self._link):
            self.edits.add((tag.end + start, tag.end + stop, new))

    def _unchecked(self, tag: Tag, element: Element) -> None:
        """Drops the checks on what is a local file now."""
        self.edits.update(edit for name in _CHECKS if (edit := tag.without(name)) is not None)
        holder = element.parent
        if element.tag in ("source", "track") and isinstance(holder, Element):
            # The video, the audio or the picture's img has the crossorigin of its sources.
            loader = holder.find("img") if holder.tag == "picture" else holder
            if loader is not None:
                self.drop(loader, "crossorigin")


def _is_policy(element: Element) -> bool:
    return (element.attr("http-equiv") or "").strip().lower() == "content-security-policy"


def _syntax(element: Element, attribute: str) -> Syntax | None:
    """How an attribute writes its URLs, if it has any."""
    if attribute == STYLE.name:
        return STYLE.syntax
    if element.namespace is Namespace.HTML:
        return _SYNTAX.get((element.tag, attribute))
    return _DRAWN_SYNTAX.get((element.tag, attribute)) or _OTHER_DRAWN_SYNTAX.get(attribute)


class Attribute(NamedTuple):
    """One attribute in the source."""

    raw: str  # the value as written, without its quotes
    start: int  # of the name
    value: int  # where the value begins, quotes included
    end: int
    quote: str
    lead: str  # `=` if the name has no value yet

    @property
    def is_plain(self) -> bool:
        """True if the value has no character references."""
        return "&" not in self.raw and "\0" not in self.raw

    def decoded(self, coding: Coding) -> str:
        """The value, with its character references resolved."""
        if self.is_plain:
            return coding.decode(self.raw)
        # Which references count depends on what follows them, in values only; the tokenizer knows.
        token = next(iter(turbohtml.tokenize(f"<a b={self.quote}{coding.decode(self.raw)}{self.quote} >")))
        return (token.attrs or [("", "")])[0][1]

    def replaced(self, text: str) -> Edit:
        """The edit that gives the attribute another value."""
        text = text.replace("&", "&amp;")
        if self.quote or not self.raw or not _UNQUOTED.fullmatch(text):
            quote = self.quote or '"'
            text = quote + text.replace(quote, "&quot;" if quote == '"' else "&#39;") + quote
        return self.value, self.end, self.lead + text


class Tag:
    """One start tag in the source."""

    __slots__ = ("end", "names", "start")

    def __init__(self, start: int, end: int, names: dict[str, re.Match[str]]) -> None:
        self.start = start
        self.end = end
        self.names = names  # lower-cased; of two attributes with the same name the first counts

    def __getitem__(self, name: str) -> Attribute:
        found = self.names[name]
        group = found.lastindex or 1
        end = found.end()
        if group == 1:
            return Attribute("", found.start(1), end, end, "", "=" if found.end(1) == end else "")
        quote = _QUOTES[group]
        return Attribute(found[group], found.start(1), found.start(group) - len(quote), end, quote, "")

    def without(self, name: str) -> Edit | None:
        """The edit that takes an attribute out."""
        found = self.names.get(name)
        if found is None:
            return None
        start, end = found.start(1), found.end()
        # With the blank before it, unless that is all that keeps its neighbours apart.
        alone = found.string[end] in "\t\n\f\r >" and found.string[start - 1] in "\t\n\f\r "
        return start - alone, end, ""


def read_tag(text: str, start: int) -> Tag | None:
    """The start tag at `start`; `None` if there is none."""
    name = _TAG_NAME.match(text, start)
    if name is None:
        return None
    here = name.end()
    names: dict[str, re.Match[str]] = {}
    while (found := _ATTRIBUTE.match(text, here)) is not None:
        here = found.end()
        names.setdefault(found[1].lower(), found)
    end = _TAG_END.match(text, here)
    return None if end is None else Tag(start, end.end(), names)
