"""Code blocks, with the language that they name, and without the numbers and buttons beside the code."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from html import unescape
from textwrap import dedent
from typing import Final

from turbohtml import Comment, Element, Node, Text

from sitemirror.convert.code_lines import CHANGED, REMOVED, drop_counted, part_lines, show_changes, split_listing
from sitemirror.convert.languages import language_of

_LINE_NUMBERS: Final = (
    "[class]:is(.linenos, .lineno, .linenumber, .line-number, .gutter, .hljs-ln-numbers, .ln, .linenr, "
    ".source-line-no, .sourceLineNo, span.line-numbers, td.line-numbers)"
)
_NOT_COPIED: Final = "span[style*=user-select]"  # Hugo's numbers, where it writes styles and no classes
_MORE_THAN_TEXT: Final = ":not(code)"
_MAYBE_NUMBERED: Final = "[class^=lin], .ln"
_MORE_THAN_COLOUR: Final = (
    ":not(span), [id], [style], [hidden], [aria-hidden], [class*=hidden], [class*='-'], [class*=lin], .ln"
)
_POPUPS: Final = ".twoslash-popup-container"  # the type of a name, for who points at it
_LINES_BESIDE: Final = "td.code > .container > .line"  # SyntaxHighlighter's, beside their numbers
_IN_A_WRAPPER: Final = 5  # elements and texts, at most
_COLOURING: Final = re.compile(r"</?(?:font|span|b|strong|i|em|u|a)(?: [^<>]*)?>")
_BREAK: Final = re.compile(r"<br ?/?>")
_ENTITY: Final = re.compile(r"&#?\w+;")
_LABELS: Final = ("div", "span", "header", "figcaption")
_LABEL_LEVELS: Final = 3
_HEADS_CODE: Final = re.compile(r"code|lang|header|toolbar|title|label", re.I)
_ALSO_CALLED: Final = {
    "javascript": ("js", "mjs", "cjs"), "typescript": ("ts",), "python": ("py", "python3"), "ruby": ("rb",),
    "rust": ("rs",), "shell": ("sh", "bash", "console"), "bash": ("sh", "shell"), "yaml": ("yml",),
    "c#": ("csharp", "cs"), "c++": ("cpp",), "go": ("golang",), "golang": ("go",), "js": ("javascript",),
    "markdown": ("md",), "kotlin": ("kt",), "objective-c": ("objc", "objectivec"), "f#": ("fsharp",),
}  # fmt: skip
_BUTTONS: Final = ("button", "clipboard-copy")


def drop_colours(listings: Iterable[Element]) -> None:
    """Makes one text of code that is cut into coloured pieces. Half the elements of a manual are such pieces."""
    for pre in listings:
        code = pre if len(pre) != 1 else pre.find("code") or pre
        if len(code) < 2 or isinstance(code[0], Comment):  # which keeps the place of an id
            continue
        if code.select_one(_MORE_THAN_COLOUR) is None:
            text = code.text
            if not text.lstrip()[:1].isdigit():  # else it may have numbers beside its lines
                code.set_text(text)


def shape_listing(pre: Element, names: Mapping[str, str]) -> None:
    """Tells the renderer the language of a code block; `names` are class names that mean one."""
    if isinstance(pre.parent, Element) and pre.parent.tag == "pre":
        return  # Its text is that of the one around it.
    code = pre.find("code")
    if code is not None and len(pre) > 1:
        for variant in split_listing(pre):
            shape_listing(variant, names)
    if (classes := pre.attr("class")) and "twoslash" in classes:
        pre.remove(_POPUPS)
    text = pre.text
    if pre.select_one(_MORE_THAN_TEXT) is not None:
        if text.lstrip()[:1].isdigit() or pre.select_one(_MAYBE_NUMBERED) is not None:
            _drop_numbers(pre)
        if "\n" not in text:
            part_lines(pre)
        for part in list(pre.iter_elements((*_BUTTONS, "details", "li"))):
            if part.tag == "details":
                _unfold(part)
            elif part.tag == "li":
                beside = part.next_sibling
                if not part.text and not (isinstance(beside, Text) and "\n" in beside.data):
                    part.append(Text("\n"))  # It has a number beside it, and so is a line.
            else:
                part.decompose()
    language = language_of(code, names) if code is not None else None
    here: Node | None = pre
    # Many generators name the language on a wrapper, a few elements further out. A wrapper wraps little else.
    for _level in range(9):
        if language is not None or not isinstance(here, Element) or (here is not pre and not _wraps_little(here)):
            break
        language = language_of(here, names)
        here = here.parent
    if language:
        _drop_label(pre, language)
    if language == "diff":
        show_changes(pre, CHANGED)
    elif ((classes and "has-diff" in classes) or pre.attr("data-language")) and show_changes(pre, REMOVED):
        language = "diff"  # Where lines are only added, the code is whole, and its language says more.
    for part in (pre,) if code is None else (pre, code):
        if language is not None:
            part.attrs["class"] = f"language-{language}" if language else ""


def _unfold(lines: Element) -> None:
    """Shows lines of code that were folded away; Expressive Code tells above them how many there are."""
    summary = lines.find("summary")
    if summary is not None and "ec-section" in (lines.attr("class") or ""):
        summary.decompose()
    lines.tag = "div"


def _drop_label(pre: Element, language: str) -> None:
    """Takes the language out that stands above the code, for those who see the page: the code block says it."""
    here: Node | None = pre
    for _level in range(_LABEL_LEVELS):
        if not isinstance(here, Element):
            return
        before = here.previous_sibling
        while isinstance(before, Text) and not before.data.strip():
            before = before.previous_sibling
        if before is not None:
            if isinstance(before, Element) and before.tag in _LABELS and _HEADS_CODE.search(before.attr("class") or ""):
                said = "".join(before.text.lower().split())
                if language in (said, *_ALSO_CALLED.get(said, ())) and _stands_alone(before):
                    before.decompose()
            return
        here = here.parent


def _stands_alone(label: Element) -> bool:
    """Whether it is no word of a sentence, nor a place that something may lead to."""
    if label.attr("id") is not None or label.select_one("[id]") is not None:
        return False
    return label.tag != "span" or not any(
        not isinstance(one, Text) or one.data.strip() for one in label.previous_siblings
    )


def _drop_numbers(pre: Element) -> None:
    """Takes out the numbers of the lines, and what only has to place them."""
    before = pre.text
    pre.remove(_LINE_NUMBERS)
    for span in pre.select(_NOT_COPIED):
        if span.text.strip().isdigit():  # else it may be a prompt
            span.decompose()
    if (text := pre.text) == before:
        drop_counted(pre)
        return
    if isinstance(last := pre[-1] if len(pre) else None, Text) and last.data.isspace():
        last.data = "\n"  # Javadoc has a screenful of empty lines below its sources.
    inner = pre.find("pre")
    if inner is not None and inner.text.strip() == text.strip():  # in a table, beside the numbers
        code = inner.closest("code")
        (pre if code is None else code).set_text(inner.text)


def _wraps_little(element: Element) -> bool:
    try:
        element[_IN_A_WRAPPER]  # Counting all that is in it would take as long as there is.
    except IndexError:
        return True
    return False


def shape_lines(element: Element) -> None:
    """Makes a code block of an element that draws one: a line of code in each of its own elements, or rows."""
    for row in element.select("tr + tr"):
        row.insert(0, Text("\n"))
    lines = element.select(_LINES_BESIDE) or [child for child in element if isinstance(child, Element)]
    texts = [line.text.rstrip("\n") for line in lines] if lines else [element.text]
    if all(text.startswith(" ") for text in texts if text.strip()) and any(map(str.strip, texts)):
        texts = [text[1:] for text in texts]  # It stood between the code and the numbers of its lines.
    text = "\n".join(texts)
    element.clear()
    element.tag = "pre"
    element.append(Text(text.replace("\xa0", " ")))


def shape_terminal(box: Element) -> None:
    """Takes the tags out of a session's text, which are there for a script to play it in colour."""
    for pre in box.iter_elements("pre"):
        code = pre.find("code") or pre
        text, tags = _COLOURING.subn("", code.text)
        if tags:
            code.set_text(_ENTITY.sub(lambda found: unescape(found[0]), _BREAK.sub("\n", text)))


def shape_callouts(box: Element) -> bool:
    """Makes a numbered list of the remarks on a listing that a page keeps in a table, number and text."""
    table = next((child for child in box if isinstance(child, Element) and child.tag == "table"), None)
    if table is None:
        return False
    for row in table.select(":scope > tr, :scope > * > tr"):
        *numbers, remark = row.select(":scope > td") or [row]
        for number in numbers:
            for pin in [node for node in number.descendants if isinstance(node, Comment)]:
                remark.insert(0, pin)
            number.decompose()
        remark.tag = "div"
        row.tag = "li"
    for part in table.select(":scope > tbody"):
        part.unwrap()
    table.tag = "ol"
    return True


def shape_diagram(element: Element) -> bool:
    """Makes code of Mermaid's text, which is there for a script to draw."""
    text = element.text
    if not text.strip() or element.find("svg") is not None:
        return False
    element.clear()
    even = dedent(text.strip("\n"))
    # Where the first line alone is set in by the page's own markup, the others keep what they have.
    element.append(Text((text if even[:1].isspace() else even).strip()))
    element.tag = "pre"
    element.attrs["class"] = "language-mermaid"
    return True
