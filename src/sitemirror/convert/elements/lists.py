"""Definition lists and task lists as Markdown lists; API signatures as code."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, TypeGuard

from turbohtml import Element, Node, Text

from sitemirror.convert.elements.controls import convert_title_buttons
from sitemirror.convert.elements.headings import HEADINGS, has_heading
from sitemirror.convert.generators import Vocabulary
from sitemirror.convert.render.markers import id_comments

_PARTS: Final = ("dt", "dd")
_LEVELS: Final = 3  # of groups in a list
# Selectors for terms, which contain few elements: a query is faster than a walk.
_BLOCKS: Final = "p, div, ul, ol, pre, table, dl"
_LINES: Final = ("br", "div", "p", "tr", "dd", "li")
_BOLD: Final = "strong, b"
_MARKED: Final = f"a, code, kbd, {_BOLD}"
_CLASSIFIERS: Final = ":scope > span:is([class=classifier], [class=classifier-delimiter])"
_NAME: Final = ":is(code, tt)[class*=descname]"  # the name declared, in Sphinx before version 4
_NOT_IN_A_LIST: Final = "td, th, a"
_BESIDE: Final = ("source", "docs", "src")  # labels of links from a signature to its source
_ROWS: Final = ":scope > tr, :scope > * > tr"
_VARIANTS: Final = ":is(ol, ul, table)"
_VARIANT: Final = ":scope > :is(li, tr), :scope > tbody > tr"
_REMARK: Final = ".def-doc"
_TEMPLATE: Final = ":scope > td.memTemplParams"
_NEW_LINE: Final = "\v"
_OPENING, _CLOSING = ("(", "[", "{"), (")", "]", "}")
_AFTER_NAME: Final = frozenset("(<:=")


def convert_definition_list(dl: Element, names: Vocabulary) -> None:
    """Convert a `dl` to a list, unless it only indents or contains headings."""
    parts: list[Element | Text] = []
    groups: list[Element] = []
    _collect(dl, parts, groups)
    kinds: list[str] = []  # read once each: a list may have thousands
    for part in parts:
        kind = part.tag if isinstance(part, Element) else ""
        if kind == "dt" and isinstance(part, Element):
            _convert_term(part, names)
            kind = part.tag
        kinds.append(kind)
    if "dt" not in kinds:
        _unlist(dl, parts)  # only `dd`: indentation in old pages and wikis
        return
    if has_heading(dl, names) or dl.closest(_NOT_IN_A_LIST) is not None:
        _unlist(dl, parts)
        return
    item: Element | None = None
    before: Element | None = None
    # Terms above one definition share it; without definitions, as in a table of contents, each is an item.
    last = max([number for number, kind in enumerate(kinds) if kind != "dt"], default=-1)
    for number, (part, kind) in enumerate(zip(parts, kinds, strict=True)):
        is_term = kind == "dt"
        if item is None or (is_term and (number > last or before is None or _is_link(before))):
            if kind not in _PARTS:
                continue  # stays before the list
            item = Element("li")
            dl.append(item)  # Inserted while empty: moving nodes within one tree copies nothing.
        before = part if is_term and isinstance(part, Element) else None
        item.append(part)
        if isinstance(part, Element) and kind in _PARTS:
            part.tag = "p" if is_term else "div"
    for group in groups:
        group.unwrap()
    dl.tag = "ul"


def convert_definition_table(box: Element, names: Vocabulary) -> bool:
    """Convert a table with a term and a definition in each row to a definition list."""
    inside = next((child for child in box if isinstance(child, Element) and child.tag == "table"), None)
    table = box if box.tag == "table" else inside
    rows = [] if table is None else table.select(_ROWS)
    cells = [row.select(":scope > td, :scope > th") for row in rows]
    if table is None or not rows or any(len(pair) != 2 for pair in cells):
        return False
    for row, (term, meaning) in zip(rows, cells, strict=True):
        while len(term) and _is_blank_or_break(term[-1]):
            term[-1].extract()
        term.tag, meaning.tag = "dt", "dd"
        row.unwrap()
    table.strip_tags(":scope > tbody, :scope > colgroup").remove("col")
    table.tag = "dl"
    convert_definition_list(table, names)
    return True


def _is_blank_or_break(node: Node) -> bool:
    """True if it is white space, or the line break after a term in AsciiDoc."""
    return not node.data.strip() if isinstance(node, Text) else isinstance(node, Element) and node.tag == "br"


def _is_link(term: Element) -> bool:
    """True if a term is only a link, as in a table of contents."""
    link = term.find("a")
    return link is not None and link.attr("href") is not None and link.text.strip() == term.text.strip()


def convert_signature(element: Element) -> None:
    """Convert the signature of a function or class to code, with links to its source beside it."""
    links = [link for link in element.find_all("a") if link.text.strip("[] \n") in _BESIDE and not _is_declared(link)]
    for link in links:
        link.extract()
    for line in list(element.iter_elements(_LINES)):
        line.insert_before(Text(_NEW_LINE))
        if line.tag != "br" and line.next_sibling is not None:
            line.insert_after(Text(_NEW_LINE))
    text = _on_one_line(element.text.replace("\u200b", "").replace("\xa0", " "))
    if not text:
        return
    kept = id_comments(element.children)
    element.set_text(text)
    element.wrap_children(Element("code"))
    for pin in kept:
        element.insert(0, pin)
    for link in links:
        element.extend((Text(" "), link))


def _on_one_line(text: str) -> str:
    """Join the lines of a signature, without blanks inside of brackets."""
    if _NEW_LINE not in text:
        return " ".join(text.split())
    first, *others = [" ".join(line.split()) for line in text.split(_NEW_LINE)]
    joined, last, has_opened = [first], first, False
    for line in filter(None, others):
        if last.endswith(_OPENING):
            has_opened = True
        elif last and not (has_opened and line.startswith(_CLOSING)):
            joined.append(" ")
        joined.append(line)
        last = line
    return "".join(joined)


def convert_function_synopsis(box: Element) -> bool:
    """Convert DocBook function synopses, each in a table or paragraph, to code."""
    for part in box.find_all(["table", "p"]):
        if part.select_one(".funcdef") is not None:
            convert_signature(part)
            part.tag = "p"
    return True


def convert_type_declaration(box: Element) -> bool:
    """Convert a type with an item or row for each variant or field to a code block (odoc)."""
    if box.select_one(f":scope > {_VARIANTS}") is None:
        return False
    for word in box.select(f"{_REMARK}, {_REMARK} > *, {_VARIANTS} li, {_VARIANTS} tr"):
        word.insert_before(Text(" "))
    lines: list[str] = []
    for part in box:
        if isinstance(part, Element):
            variants = part.select(_VARIANT) if part.matches(_VARIANTS) else ()
            lines += [f"  {' '.join(one.text.split())}" for one in variants] or [" ".join(part.text.split())]
    box.tag = "pre"
    box.set_text("\n".join(filter(None, lines)))
    return True


def _is_declared(link: Element) -> bool:
    """True if a link is the declared name, which may be `source`."""
    after = link.next_sibling
    return isinstance(after, Text) and after.data.lstrip()[:1] in _AFTER_NAME


def _link_to_member(row: Element) -> str | None:
    """The link target of a member's name at the beginning of the last cell; types have links, too."""
    cell = row.find_all("td")[-1:]
    link = cell[0].find("a", href=True) if cell else None
    if link is None or not link.text.strip() or not cell[0].text.lstrip().startswith(link.text.strip()):
        return None
    return link.attr("href")


def convert_member_table(table: Element) -> bool:
    """Convert a table with rows of members and their descriptions to a list."""
    shown: list[Element] = []
    template = ""  # the template parameters of the next row
    for row in table.select(_ROWS):
        heading = next(row.iter_elements(HEADINGS), None)
        text = " ".join(row.text.split())
        if heading is not None:
            shown.append(heading)
        elif not text:
            continue
        elif row.select_one(_TEMPLATE) is not None:
            template = f"{text} "
        elif (row.attr("class") or "").startswith("memdesc") and shown and shown[-1].tag == "ul":
            cell = row.find_all("td")[-1]
            cell.tag = "p"
            shown[-1].find_all("li")[-1].append(cell)
        else:
            if not shown or shown[-1].tag != "ul":
                shown.append(Element("ul"))
            code = Element("code", None, [Text(template + text)])
            link = _link_to_member(row)
            shown[-1].append(Element("li", None, [code if link is None else Element("a", {"href": link}, [code])]))
            template = ""
    table.clear()
    table.extend(shown)
    table.tag = "div"
    return True


def _collect(holder: Element, parts: list[Element | Text], groups: list[Element], levels: int = _LEVELS) -> None:
    """Collect the terms and definitions of a list, the text between them, and their groups."""
    is_between = False  # white space counts after other content
    for child in holder:
        if isinstance(child, Text):
            if is_between or not child.data.isspace():
                parts.append(child)
                is_between = True
        elif isinstance(child, Element):
            is_between = False
            if (tag := child.tag) in _PARTS:
                parts.append(child)
            elif tag == "div" and _is_group(child, levels):
                groups.append(child)
                grouped: list[Element | Text] = []
                _collect(child, grouped, groups, levels - 1)
                first = next((number for number, part in enumerate(grouped) if _has_tag(part, "dt")), 0)
                # A picture above the term of its group belongs to the definition below.
                parts += [*grouped[first : first + 1], *grouped[:first], *grouped[first + 1 :]]
            elif child.tag == "img" or child.text.strip() or child.find("img") is not None:
                parts.append(child)
                is_between = True


def _is_group(box: Element, levels: int) -> bool:
    """True if a box in a list only groups terms and definitions."""
    children = [child for child in box if isinstance(child, Element)] if levels else []
    return any(child.tag in _PARTS or (child.tag == "div" and _is_group(child, levels - 1)) for child in children)


def _has_tag(part: Element | Text, tag: str) -> TypeGuard[Element]:
    return isinstance(part, Element) and part.tag == tag


def _convert_term(term: Element, names: Vocabulary) -> None:
    classes = term.attr("class")
    if classes and "signature" in [names.roles.get(name) for name in classes.split()]:
        convert_signature(term)
        return
    if term.find() is None:  # except text
        if term.text.strip():
            term.wrap_children(Element("strong"))
        return
    convert_title_buttons(term)
    if term.select_one(_NAME) is not None:
        convert_signature(term)
        return
    for block in term.select(_BLOCKS):
        if block.tag == "dl":
            term.tag = "dd"  # Too much for a term: JSDoc has lists in it.
            return
        if block.tag in ("pre", "table", "ul", "ol"):
            return
        if block.previous_sibling is not None:
            block.insert_before(Text(" "))  # It was on a line of its own.
        block.unwrap()
    classifiers = _remove_classifiers(term)
    text = term.text.strip()
    marked = term.select_one(_MARKED)
    is_part = marked is not None and len(marked.text.strip()) < len(text)
    if text and (marked is None or (is_part and term.select_one(_BOLD) is None)):
        term.wrap_children(Element("strong"))
    for classifier in classifiers:
        term.extend((Text(" : "), classifier))


def _remove_classifiers(term: Element) -> list[Element]:
    """Remove and return the classifiers of a docutils term; their colons often come from the style sheet."""
    removed: list[Element] = []
    for part in term.select(_CLASSIFIERS):
        part.extract()
        if part.attr("class") == "classifier":
            removed.append(part)
    return removed


def _unlist(dl: Element, parts: Sequence[Element | Text]) -> None:
    dl.tag = "div"
    for part in parts:
        if isinstance(part, Element) and part.tag in _PARTS:
            part.tag = "div"


_ICON: Final = re.compile(r"(?:^|\s)fa-(check-square|square-check)?(?:square)?(?:-o)?(?=\s|$)")
_SIGN: Final = re.compile(r"\s*([\u2713\u2714\u2611\u2705]|[\u274f\u2610])\s+")
_DONE: Final = ("on", "checked")
_STATES: Final = ("on", "off", "checked", "unchecked")  # classes of items in Org and Doxygen
_WRITTEN: Final = re.compile(r"\[[X\s]?\]")
_OPEN: Final = "\u274f\u2610"


def convert_task_list(rows: Element) -> None:
    """Give every item of a task list a checkbox that the renderer writes."""
    for item in rows:
        if isinstance(item, Element) and item.tag == "li" and item.find("input") is None:
            _convert_task(item)


def _convert_task(item: Element) -> None:
    first_element = next((child for child in item if isinstance(child, Element)), None)
    names = [] if first_element is None else (first_element.attr("class") or "").split()
    if first_element is not None and "checkbox" in names and not first_element.text.strip():
        first_element.replace_with(_checkbox("checkbox-on" in names))  # Notion
        return
    if item.attr("data-inline-task-id") is not None:
        item.insert(0, _checkbox("checked" in (item.attr("class") or "").split()))  # Confluence
        return
    if (state := next((name for name in (item.attr("class") or "").split() if name in _STATES), None)) is not None:
        if first_element is not None and first_element.tag == "code" and _WRITTEN.fullmatch(first_element.text):
            first_element.decompose()  # Org writes the box as text, too
        elif isinstance(first := _first(item), Text) and (found := _SIGN.match(first.data)):
            first.data = f" {first.data[found.end() :]}"
        item.insert(0, _checkbox(state in _DONE))
        return
    first = _first(item)
    if isinstance(first, Text):
        found = _SIGN.match(first.data)
        if found is None:
            return
        is_done = found[1] not in _OPEN
        first.data = f" {first.data[found.end() :]}"
        first.insert_before(_checkbox(is_done))
    elif first is not None and first.tag == "i" and (icon := _ICON.search(first.attr("class") or "")):
        first.replace_with(_checkbox(icon[1] is not None))


def _checkbox(is_done: bool) -> Element:
    return Element("input", {"type": "checkbox", "checked": ""} if is_done else {"type": "checkbox"})


def _first(item: Element) -> Element | Text | None:
    """The first visible node of an item."""
    node: Node | None = item
    while isinstance(node, Element) and node.tag in ("li", "p", "div"):
        node = next(
            (one for one in node if isinstance(one, Element) or (isinstance(one, Text) and one.data.strip())), None
        )
    return node if isinstance(node, Element | Text) else None
