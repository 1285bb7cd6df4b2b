"""Shapes a page's elements so that the renderer says them well: code, pictures, media, tables, headings, controls.

One pass over the elements that need it; every rule looks at its own element and its near neighbours only.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from turbohtml import Element, Node, Text

from sitemirror.convert.links import Resolver
from sitemirror.convert.markdown import MARKS
from sitemirror.convert.tables import shape_table

_HEADINGS: Final = ("h1", "h2", "h3", "h4", "h5", "h6")

_LANGUAGE_CLASS: Final = re.compile(
    r"(?:^|\s)(?:language|lang|highlight-source|highlight)-([\w+#.-]+)|\bbrush:\s*([\w+#.-]+)"
)
_LANGUAGE: Final = re.compile(r"[\w+#.-]{1,40}")
_LINE_END: Final = re.compile("\n")
_NO_LANGUAGE: Final = frozenset(
    ("text", "none", "plaintext", "plain", "default", "txt", "nohighlight", "notranslate", "code")
)
_LINE_NUMBERS: Final = ".linenos, .lineno, .linenumber, .line-number, .gutter, .hljs-ln-numbers, .ln"

_NO_PICTURE: Final = ("data:", "javascript:", "vbscript:", "blob:", "about:", "file:")  # or none that others can see
# A URL may hold commas but not begin or end with one.
_CANDIDATE: Final = re.compile(r"([^\s,](?:\S*[^\s,])?)(?:\s+(\d+(?:\.\d+)?)[wx]\b)?[^,]*")
_LAZY: Final = ("data-src", "data-lazy-src", "data-original", "data-srcset", "data-lazy-srcset", "srcset")


def shape(element: Element, urls: Resolver) -> None:
    """Shapes everything under `element`, in place."""
    for code in element.find_all("code", text=_LINE_END):
        if code.closest("pre") is None:
            # Source is wrapped where it pleases; a code span would show every blank.
            code.text = " ".join(code.text.split())
    # A list: a rule may take out what would have come next. What has left the page by then is passed over.
    for found in list(element.iter_elements(_TAGS, include_self=True)):
        if found.parent is not None or found is element:
            _RULES[found.tag](found, urls)


def _code_block(pre: Element, _: Resolver) -> None:
    # Looking for line numbers in every code block costs more than rendering it; those that have them begin with one.
    if pre.text.lstrip()[:1].isdigit():
        pre.remove(_LINE_NUMBERS)
    code = pre.find("code")
    language = _language(code) if code is not None else None
    here: Node | None = pre
    # Many generators name the language on a wrapper, a few elements further out. A wrapper wraps little else.
    for _level in range(6):
        if language is not None or not isinstance(here, Element) or (here is not pre and len(here) > 5):
            break
        language = _language(here)
        here = here.parent
    if language is not None:
        for part in (pre,) if code is None else (pre, code):
            part.attrs["class"] = f"language-{language}" if language else ""


def _language(element: Element) -> str | None:
    """The language that `element` names; empty if it says that there is none, `None` if it says nothing."""
    named = element.attr("data-lang") or element.attr("data-language")
    if not named:
        classes = element.attr("class")
        if not classes or ("-" not in classes and ":" not in classes):
            return None
        found = _LANGUAGE_CLASS.search(classes)
        if found is None:
            return None
        named = found[1] or found[2]
    named = named.strip().lower()
    if named in _NO_LANGUAGE:
        return ""
    return named if _LANGUAGE.fullmatch(named) else None


def _image(image: Element, urls: Resolver) -> None:
    if _is_pixel(image):
        _take_out(image)
        return
    source = image.attr("src") or ""
    if not source or source.startswith(_NO_PICTURE):
        source = _lazy_source(image, urls)
        if not source:
            _say(image, image.attr("alt") or "")
            return
        image.attrs["src"] = source
    for name in ("alt", "title"):
        if (text := image.attr(name)) and "\n" in text:
            image.attrs[name] = " ".join(text.split())


def _lazy_source(image: Element, urls: Resolver) -> str:
    """Where the picture really is when `src` is missing or only holds its place."""
    candidates = [image.attr(name) for name in _LAZY]
    if isinstance(image.parent, Element) and image.parent.tag == "picture":
        candidates += [source.attr("srcset") for source in image.parent.find_all("source")]
    for candidate in candidates:
        if candidate and (best := best_candidate(candidate)):
            found = urls[best] or best
            if not found.startswith(_NO_PICTURE):
                return found
    return ""


def best_candidate(srcset: str) -> str:
    """The URL of the largest picture in a srcset."""
    best, best_size = "", -1.0
    for found in _CANDIDATE.finditer(srcset):
        size = float(found[2]) if found[2] else 1.0
        if size > best_size:
            best, best_size = found[1], size
    return best


def _is_pixel(image: Element) -> bool:
    """Whether the picture is there to count readers."""
    width, height = image.attr("width"), image.attr("height")
    return width is not None and height is not None and width.strip() in ("0", "1") and height.strip() in ("0", "1")


def _noscript(noscript: Element, _: Resolver) -> None:
    """Keeps a noscript only for a picture that the page shows in no other way."""
    images = [image for image in noscript.find_all("img") if not _is_pixel(image)]
    before = noscript.previous_sibling
    while isinstance(before, Text) and not before.data.strip():
        before = before.previous_sibling
    if not images or (isinstance(before, Element) and before.tag in ("img", "picture")):
        noscript.decompose()
    else:
        noscript.unwrap()


def _media(media: Element, urls: Resolver) -> None:
    """A video or a sound becomes its poster and a link to it."""
    child = None if media.attr("src") else media.find("source", src=True)
    source = (media if child is None else child).attr("src") or ""
    label = " ".join((media.attr("title") or media.attr("aria-label") or media.tag).split())
    poster = urls[media.attr("poster") or "#"] or ""
    shown: Node | None = None
    if poster.startswith("http"):
        shown = Element("img", {"src": poster, "alt": label})
    if source.startswith("http"):
        shown = Element("a", {"href": source}, [shown or Text(label)])
    if shown is None:
        media.unwrap()
    else:
        media.replace_with(Element("p", None, [shown]))


def _frame(frame: Element, _: Resolver) -> None:
    """An embedded page becomes a link to it."""
    source = frame.attr("src") or frame.attr("data-src") or ""
    if not source.startswith("http") or _is_pixel(frame):
        frame.decompose()
        return
    label = " ".join((frame.attr("title") or frame.attr("name") or source).split())
    frame.replace_with(Element("p", None, [Element("a", {"href": source}, [Text(label)])]))


def _drawing(svg: Element, _: Resolver) -> None:
    """A drawing that has words leaves them; an icon, whatever its title, leaves nothing."""
    if next(svg.iter_elements(("text", "foreignObject")), None) is None:
        _take_out(svg)
        return
    svg.remove("title, desc, style, script")
    _say(svg, " ".join(svg.stripped_strings))


def _control(element: Element, _: Resolver) -> None:
    """What a person would fill in or open says nothing in a file."""
    if element.attr("type") == "checkbox":
        # The box of a task list; the renderer knows it as the first thing in its item only.
        if isinstance(element.parent, Element) and element.parent.tag == "label":
            element.parent.unwrap()
    elif element.attr("open") is None:
        element.decompose()


def _label(label: Element, _: Resolver) -> None:
    """Labels stand apart on the page, by nothing but their style."""
    label.insert_before(Text(" "))


def _formula(math: Element, _: Resolver) -> None:
    math.remove("annotation, annotation-xml")
    parent = math.parent
    # KaTeX says every formula twice, once for the eye.
    if isinstance(parent, Element) and parent.has_class("katex-mathml"):
        twin = parent.next_sibling
        if isinstance(twin, Element) and twin.has_class("katex-html"):
            twin.decompose()


def _heading(heading: Element, _: Resolver) -> None:
    text = heading.text
    if not text.strip() and heading.find("img") is None:
        heading.decompose()
        return
    if "\xa0" in text:
        # The renderer would write an entity, in the very line that is searched most.
        for node in heading.descendants:
            if isinstance(node, Text) and "\xa0" in node.data:
                node.data = node.data.replace("\xa0", " ")
    link: Node | None = heading.parent
    for _level in range(4):
        if not isinstance(link, Element):
            return
        if link.tag == "a":
            break
        link = link.parent
    else:
        return
    # A card: the link moves into the heading, or the heading would be lost in the link.
    if href := link.attr("href"):
        heading.wrap_children(Element("a", {"href": href}))
    link.unwrap()


def _button(button: Element, _: Resolver) -> None:
    """Buttons are controls, except those that carry a heading or the name of a tab."""
    parent = button.parent
    if isinstance(parent, Element) and parent.tag in (*_HEADINGS, "summary", "dt"):
        button.unwrap()
    elif button.attr("role") == "tab":
        button.tag = "p"
    else:
        button.decompose()


def _table(table: Element, _: Resolver) -> None:
    shape_table(table)


def _raised(element: Element, _: Resolver) -> None:
    """Marks what stands above or below the line: 10<sup>5</sup> must not become 105."""
    # A footnote's link is its own mark, and code has no markup.
    if element.text.strip() and element.find("a") is None and element.closest("a, code, pre") is None:
        opening, closing = MARKS[element.tag]
        element.insert(0, Text(opening))
        element.append(Text(closing))


def _block(element: Element, _: Resolver) -> None:
    element.tag = "div"  # The renderer takes these for inline.


def _say(element: Element, text: str) -> None:
    """Replaces `element` by `text`, or by nothing."""
    if text.strip():
        element.replace_with(Text(" ".join(text.split())))
    else:
        _take_out(element)


def _take_out(element: Element) -> None:
    """Removes `element`, and the link around it if that has nothing left to show."""
    parent = element.parent
    element.decompose()
    if isinstance(parent, Element) and parent.tag == "a" and not parent.text.strip() and parent.find("img") is None:
        parent.decompose()


_RULES: Final[dict[str, Callable[[Element, Resolver], None]]] = {
    "pre": _code_block,
    "img": _image,
    "noscript": _noscript,
    "video": _media,
    "audio": _media,
    "iframe": _frame,
    "svg": _drawing,
    "math": _formula,
    "button": _button,
    **dict.fromkeys(("input", "select", "datalist", "textarea", "canvas", "dialog"), _control),
    "label": _label,
    "table": _table,
    "sub": _raised,
    "sup": _raised,
    "center": _block,
    "legend": _block,
    **dict.fromkeys(_HEADINGS, _heading),
}
_TAGS: Final = tuple(_RULES)
