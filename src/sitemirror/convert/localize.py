"""Makes the links of an HTML page lead into the mirror, so that the copy opens from disk.

Links are edited in place in the bytes as received: the charset, blanks, comments and mistakes of the page stay its own.
The parser only says where the tags are; a page is never written out from its tree.
"""

from __future__ import annotations

import html as entities
import re
from collections.abc import Callable
from typing import Final

import turbohtml
from turbohtml import Element, Namespace

from sitemirror.convert.link_values import (
    Rewrite,
    is_local,
    rewrite_loaded,
    rewrite_refresh,
    rewrite_srcset,
    rewrite_url,
)
from sitemirror.convert.localize_css import css_edits, rewrite_style
from sitemirror.convert.rewriting import Localizer, Relinker
from sitemirror.convert.source import PLAIN, Coding, Edit, Source, apply, declared_by_html, parsable
from sitemirror.convert.tags import Attribute, Tag, read_tag
from sitemirror.references import unescape
from sitemirror.srcset import LAZY_SOURCES, LAZY_SRCSETS
from sitemirror.xml_styles import style_sheet_spots

_Form = Callable[[str, Coding, Rewrite], str | None]
"""How a value names its URLs."""

_LOADED: Final[dict[str, tuple[str, ...]]] = {
    "href": ("link",),
    "src": ("img", "script", "iframe", "frame", "embed", "video", "audio", "source", "track", "input"),
    "poster": ("video",),
    "data": ("object",),
}
_LATER: Final = ("img", "source", "video", "audio", "track")  # what scripts load when a reader comes near
_FORMS: Final[dict[tuple[str, str], _Form]] = {
    **{(tag, name): rewrite_loaded for name, tags in _LOADED.items() for tag in tags},
    ("a", "href"): rewrite_url,
    ("area", "href"): rewrite_url,
    ("img", "srcset"): rewrite_srcset,
    ("source", "srcset"): rewrite_srcset,
    ("link", "imagesrcset"): rewrite_srcset,
    **{(tag, name): rewrite_loaded for tag in _LATER for name in LAZY_SOURCES},
    **{(tag, name): rewrite_srcset for tag in _LATER for name in LAZY_SRCSETS},
    ("iframe", "data-src"): rewrite_loaded,
}
_FORMS_ANYWHERE: Final[dict[str, _Form]] = {"style": rewrite_style, "background": rewrite_loaded}
_FORMS_IN_SVG: Final = _FORMS_ANYWHERE | dict.fromkeys(("href", "xlink:href"), rewrite_loaded)
# Forms talk to a server: theirs are addresses, never files.
_ACTIONS: Final = frozenset((("form", "action"), ("button", "formaction"), ("input", "formaction")))
# Nearly every `style` is without a function, and nearly every http-equiv says the charset: neither holds a URL.
_CANDIDATES: Final = (
    '[href], [src], [srcset], [style*="("], [style*="@"], [background], [poster], [data], [action], [formaction], '
    r"[imagesrcset], [srcdoc], [xlink\:href], style, "
    f"{', '.join(f'[{name}]' for name in (*LAZY_SOURCES, *LAZY_SRCSETS))}, "
    'meta[http-equiv*="refresh" i], meta[http-equiv*="security" i]'
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
_MAX_NESTING: Final = 3  # of pages in srcdoc attributes
_NOT_ASCII: Final = re.compile(r"[^\x00-\x7f]")


def localize_html(html: bytes, *, url: str, charset: str | None, target: Callable[[str], str]) -> bytes:
    """`html` with every link replaced by what `target` says of it, absolute, normalised and without its fragment.

    `target` answers with a relative path, percent-encoded, or an absolute URL. `url` is where the page is from,
    `charset` what its Content-Type header said. Fragments are kept, and links that are no web addresses are left alone;
    forms and the canonical link, which mean the site itself, become absolute. A page that does not name the charset
    of its header names it then, or a browser that opens the file would read it otherwise than the site's readers.
    """
    source = Source(html, charset, declared_by_html)
    edits = _edits(source.text, source, Localizer(url, url, target, source.encoding), _MAX_NESTING)
    return source.edited(edits.union(source.redeclared()))


def localize_svg(svg: bytes, *, url: str, charset: str | None, target: Callable[[str], str]) -> bytes:
    """The same for a drawing, which is XML and names its charset in a way of its own."""
    source = Source(svg, charset, declared_by_html)
    return source.edited(_edits(source.text, source, Localizer(url, url, target), _MAX_NESTING))


def relink_html(html: bytes, *, charset: str | None, change: Callable[[str], str | None]) -> bytes:
    """A localised page with its links changed: `change` sees each as it stands, without its fragment.

    It answers with the new text, or with `None` to leave the link as it is.
    """
    source = Source(html, charset, declared_by_html)
    return source.edited(_edits(source.text, source, Relinker(change), _MAX_NESTING))


def _edits(text: str, coding: Coding, links: Localizer | Relinker, nesting: int) -> set[Edit]:
    """What has to change in a page."""
    # Columns are offsets, since the parser is given a single line.
    tree = turbohtml.parse(parsable(text), allow_declarative_shadow_roots=False)
    bases = [base for base in tree.find_all("base", href=True) if base.namespace is Namespace.HTML]
    counting = next((base for base in bases if base.closest("template:not([shadowrootmode])") is None), None)
    if counting is not None and (tag := _tag(text, counting)) is not None:
        links = links.based_on(tag["href"].says(coding))
    page = _Page(text, coding, links, nesting)
    for base in bases:
        page.drop(base, "href")  # Links count from the file now.
    for start, end in style_sheet_spots(text):
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
    """Where the tags are that give the page's `html` or `body` attributes."""
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


class _Page:
    """A page while it is edited."""

    def __init__(self, text: str, coding: Coding, links: Localizer | Relinker, nesting: int) -> None:
        self.edits: set[Edit] = set()
        self._text = text
        self._coding = coding
        self._links = links
        self._nesting = nesting
        self._done: set[int] = set()
        self._came_home = False  # whether a link of the element at hand leads into the mirror

    def rewrite(self, element: Element, start: int) -> None:
        """Rewrites all links of an element whose tag begins at `start`."""
        if start in self._done or (tag := read_tag(self._text, start)) is None:
            return  # Misnested markup makes several elements of one tag.
        self._done.add(start)
        name = element.tag
        if name == "meta":
            self._meta(tag)
        elif name == "style":
            self._sheet(tag, element)
        self._came_home = False
        forms = _FORMS_ANYWHERE if element.namespace is Namespace.HTML else _FORMS_IN_SVG
        for attribute in tag.names:
            form = _FORMS.get((name, attribute)) or forms.get(attribute)
            if form is not None:
                canonical = name == "link" and "canonical" in self._says(tag, "rel").lower().split()
                self._replace(tag[attribute], form, self._links.address if canonical else self._link)
            elif (name, attribute) in _ACTIONS:
                self._replace(tag[attribute], rewrite_url, self._links.address)
            elif name == "iframe" and attribute == "srcdoc" and self._nesting:
                self._replace(tag[attribute], self._nested, self._link)
        if self._came_home and name in _CHECKED:
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
        new = rewrite_loaded(text, PLAIN, self._links.link)
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
            self._came_home = True
        return new

    def _replace(self, attribute: Attribute, form: _Form, rewrite: Rewrite) -> None:
        raw = attribute.raw
        if attribute.is_plain:
            new = form(raw, self._coding, rewrite)
            if new is not None and new != raw:
                self.edits.add(attribute.replaced(new))
            return
        text = attribute.says(self._coding)
        new = form(text, PLAIN, rewrite)
        if new is not None and new != text:
            start, end, written = attribute.replaced(new)
            self.edits.add((start, end, _in_ascii(written)))

    def _nested(self, text: str, coding: Coding, _: Rewrite) -> str | None:
        """The page in a srcdoc attribute."""
        return apply(text, _edits(text, coding, self._links, self._nesting - 1))

    def _meta(self, tag: Tag) -> None:
        match self._says(tag, "http-equiv").strip().lower():
            case "refresh" if "content" in tag.names:
                self._replace(tag["content"], rewrite_refresh, self._link)
            case "content-security-policy":
                # It names the site's hosts; the files of the mirror are from none of them, and would be refused.
                self.edits.add((tag.start, tag.end, ""))

    def _sheet(self, tag: Tag, element: Element) -> None:
        """The CSS of a style element."""
        if self._says(tag, "type").strip().lower() not in ("", "text/css") or self._text[tag.end - 2] == "/":
            return
        found = _STYLE_END.search(self._text, tag.end)
        end = len(self._text) if found is None else found.start()
        text = self._text[tag.end : end]
        if element.namespace is not Namespace.HTML and "&" in text and "<" not in text:
            # In SVG, unlike in HTML, references are resolved here.
            says = unescape(self._coding.decode(text))
            new = rewrite_style(says, PLAIN, self._link)
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
            # What a source is loaded with stands on the video, the sound or the picture's img.
            loader = holder.find("img") if holder.tag == "picture" else holder
            if loader is not None:
                self.drop(loader, "crossorigin")

    def _says(self, tag: Tag, name: str) -> str:
        return tag[name].says(self._coding) if name in tag.names else ""
