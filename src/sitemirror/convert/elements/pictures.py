"""Pictures, drawings, videos and frames: shown, linked, replaced by text, or dropped."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Final

from turbohtml import Element, Node, Text

from sitemirror.links.attributes import LAZY_SOURCES, LAZY_SRCSETS
from sitemirror.links.resolve import Resolver
from sitemirror.links.values import srcset_candidates

_DRAWINGS: Final = (".svg", ".png", ".gif", ".jpg", ".jpeg", ".webp")
_NO_PICTURE: Final = ("data:", "javascript:", "vbscript:", "blob:", "about:", "file:")  # not saved, or not public
_NO_WORDS: Final = "No description has been provided for this image"  # nbconvert's default
# Pictures for dark mode only: Docusaurus, Tailwind, PyData and Furo, Starlight; GitHub.
_DARK_NAMES: Final = frozenset(("only-dark", "dark-only", "light:sl-hidden"))
_DARK_NAME: Final = "themedComponent--dark"  # with a suffix
_DARK_ADDRESSES: Final = ("#only-dark", "#gh-dark-mode-only")
_BESIDE: Final = 10  # pictures compared to find the light variant
_ON_LINE: Final = frozenset(("a", "b", "code", "em", "font", "i", "kbd", "picture", "small", "span", "strong", "u"))
_AROUND: Final = 5  # levels of inline elements around a picture
_BEFORE, _AFTER = (operator.attrgetter(f"{side}_sibling") for side in ("previous", "next"))
_LAZY_SETS: Final = (*LAZY_SRCSETS, "srcset")


def convert_image(image: Element, urls: Resolver) -> None:
    """Resolve the source of a picture and put its alternative text on one line; drop tracking pixels."""
    if _is_pixel(image):
        _remove(image)
        return
    classes, source = image.attr("class") or "", image.attr("src") or ""
    if ("emoji" in classes or "smiley" in classes) and (sign := (image.attr("alt") or "").strip()):
        image.replace_with(Text(sign))  # a character as a picture
        return
    if _is_dark_variant(classes, source) and _has_light_variant(image):
        _remove(image)
        return
    if image.attr("alt") == _NO_WORDS:
        image.attrs["alt"] = ""
    if not source or source.startswith(_NO_PICTURE):
        source = _lazy_source(image, urls)
        if not source:
            _replace_with_text(image, image.attr("alt") or "")
            return
        image.attrs["src"] = source
    _move_out_of_code(image)
    for name in ("alt", "title"):
        if (text := image.attr(name)) and "\n" in text:
            image.attrs[name] = " ".join(text.split())


def _is_dark_variant(classes: str, source: str) -> bool:
    """True if a picture is shown in dark mode only."""
    if source.endswith(_DARK_ADDRESSES):
        return True
    if "dark" not in classes and "light" not in classes:
        return False
    words = classes.split()
    is_shown_then = "hidden" in words and any(word.startswith("dark:") and word != "dark:hidden" for word in words)
    return is_shown_then or _DARK_NAME in classes or not _DARK_NAMES.isdisjoint(words)


def _has_light_variant(image: Element) -> bool:
    """True if a picture for light mode or both is beside it, or beside the link around it."""
    around = image.parent
    if isinstance(around, Element) and around.tag == "a" and next(around.stripped_strings, None) is None:
        around = around.parent
    beside = around.find_all("img", limit=_BESIDE) if isinstance(around, Element) else ()
    return not all(_is_dark_variant(one.attr("class") or "", one.attr("src") or "") for one in beside)


def _move_out_of_code(image: Element) -> None:
    """Move a picture out of code, where the renderer would drop it."""
    code = image.closest("code, tt, samp, pre")
    if code is None or code.parent is None:
        return
    block = code.closest("pre") or code
    if (number := (image.attr("alt") or "").strip("()")).isdecimal() and block.tag == "pre":
        image.replace_with(Text(f"({number})"))  # DocBook: the number of a remark below the code
    elif block.text.strip():
        block.insert_after(image.extract())
    elif block.tag != "pre":
        block.unwrap()
    else:
        block.tag = "p"


def _lazy_source(image: Element, urls: Resolver) -> str:
    """The source of a lazily loaded picture, whose `src` is missing or a placeholder."""
    sets = [image.attr(name) for name in _LAZY_SETS]
    if isinstance(image.parent, Element) and image.parent.tag == "picture":
        sets += [source.attr("srcset") for source in image.parent.find_all("source")]
    for source in (*map(image.attr, LAZY_SOURCES), *(_largest(one or "") for one in sets)):
        if source and source.strip():
            found = urls[source] or source
            if not found.startswith(_NO_PICTURE):
                return found
    return ""


def _largest(srcset: str) -> str:
    """The URL of the largest picture in a srcset; of several, the first."""
    best = max(srcset_candidates(srcset), key=lambda candidate: candidate.size, default=None)
    return srcset[best.start : best.end] if best else ""


def _is_pixel(image: Element) -> bool:
    """True if a picture is a tracking pixel or a spacer."""
    sides = [(image.attr(name) or "").strip() for name in ("width", "height")]
    thin = sum(side in ("0", "1") for side in sides)
    return thin == 2 or (thin == 1 and all(map(str.isdigit, sides)) and not (image.attr("alt") or "").strip())


def convert_noscript(noscript: Element) -> None:
    """Unwrap a noscript with a picture that is not shown otherwise; drop others."""
    images = [image for image in noscript.find_all("img") if not _is_pixel(image)]
    before = noscript.previous_sibling
    while isinstance(before, Text) and not before.data.strip():
        before = before.previous_sibling
    if not images or (isinstance(before, Element) and before.tag in ("img", "picture")):
        noscript.decompose()
    else:
        noscript.unwrap()


def convert_media(media: Element, urls: Resolver) -> None:
    """Convert a video or sound to its poster and a link."""
    child = None if media.attr("src") else media.find("source", src=True)
    source = (media if child is None else child).attr("src") or ""
    label = " ".join((media.attr("title") or media.attr("aria-label") or media.tag).split())
    poster = urls[media.attr("poster") or "#"] or ""
    shown: Node | None = None
    if poster.startswith("http"):
        shown = Element("img", {"src": poster, "alt": label})
    if source and not source.startswith(_NO_PICTURE):
        _link(media, source, shown or Text(label))
    elif shown is None:
        media.unwrap()
    else:
        media.replace_with(Element("p", None, [shown]))


def convert_embedded(frame: Element) -> None:
    """Convert an embedded page or document to a link."""
    source = frame.attr("src") or frame.attr("data") or frame.attr("data-src") or ""
    if frame.tag == "object" and frame.text.strip():
        frame.unwrap()  # fallback content
        return
    if not source or source.startswith(_NO_PICTURE) or _is_pixel(frame):
        frame.decompose()
        return
    if source.partition("?")[0].lower().endswith(_DRAWINGS):
        frame.replace_with(Element("img", {"src": source, "alt": frame.attr("title") or ""}))
        return
    label = " ".join((frame.attr("title") or frame.attr("name") or source).split())
    _link(frame, source, Text(label))


def _link(embedded: Element, source: str, shown: Node) -> None:
    """Replace embedded content by a link, placed before any link around it."""
    link = Element("p", None, [Element("a", {"href": source}, [shown])])
    around = embedded.closest("a[href]")
    if around is None or around.parent is None:
        embedded.replace_with(link)
        return
    embedded.decompose()
    around.insert_before(link)
    if next(around.stripped_strings, None) is None and around.find("img") is None:
        around.append(Text(around.attr("href") or ""))  # keeps the target of a link that has lost its content


def convert_svg(svg: Element) -> None:
    """Replace a drawing by its text; drop icons, also those with a title."""
    if next(svg.iter_elements(("text", "foreignobject")), None) is None:
        if (label := svg.attr("aria-label")) and svg.attr("aria-hidden") != "true" and _is_all_of_cell(svg):
            _replace_with_text(svg, label)
        else:
            before, around = svg.previous_sibling, svg.parent
            if isinstance(before, Text) and isinstance(around, Element) and around.tag == "a" and svg is around[-1]:
                before.data = before.data.rstrip()  # an arrow after the text of a link
            _remove(svg)
        return
    svg.remove("title, desc, style, script")
    for either in svg.find_all("switch"):
        # The first child is shown; the others are fallbacks.
        shown = next((child for child in either if isinstance(child, Element)), None)
        if shown is not None:
            either.replace_with(shown)
    _replace_with_text(svg, " ".join(svg.stripped_strings))


def _is_all_of_cell(svg: Element) -> bool:
    """True if a table cell has no other text, so that the icon is its yes or no."""
    cell = svg.closest("td, th")
    return cell is not None and next(cell.stripped_strings, None) is None


def _replace_with_text(element: Element, text: str) -> None:
    """Replace `element` by `text`, separated from adjacent words, or remove it if there is none."""
    words = " ".join(text.split())
    if words:
        before = " " if words[0].isalnum() and _beside(element, _BEFORE, -1).isalnum() else ""
        after = " " if words[-1].isalnum() and _beside(element, _AFTER, 0).isalnum() else ""
        element.replace_with(Text(before + words + after))
    else:
        _remove(element)


def _beside(element: Element, step: Callable[[Node], Node | None], edge: int) -> str:
    """The character next to an element on its line; empty if there is none."""
    here: Node = element
    for _level in range(_AROUND):
        node = step(here)
        while node is not None and not node.text:
            if isinstance(node, Element) and node.tag == "br":
                return ""
            node = step(node)
        if node is not None:
            is_on_line = isinstance(node, Text) or (isinstance(node, Element) and node.tag in _ON_LINE)
            return node.text[edge] if is_on_line else ""
        parent = here.parent
        if not isinstance(parent, Element) or parent.tag not in _ON_LINE:
            return ""
        here = parent
    return ""


def _remove(element: Element) -> None:
    """Remove `element`, and a link around it that has nothing left to show."""
    parent = element.parent
    element.decompose()
    if isinstance(parent, Element) and parent.tag == "a" and not parent.text.strip() and parent.find("img") is None:
        parent.decompose()
