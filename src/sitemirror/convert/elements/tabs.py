"""Tabs as lists with an item for each tab, and `details` as folded sections."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from turbohtml import Comment, Element, Node, Text

from sitemirror.convert.elements.headings import HEADINGS, has_heading, title_line, title_words
from sitemirror.convert.elements.links import VISIBLE_WITHOUT_TEXT
from sitemirror.convert.generators import Tabs, Vocabulary
from sitemirror.convert.render.markers import details_end, details_start, id_comments, open_details_start

PanelCounts = dict[tuple[Node, str], int]
"""(element, selector) → number of panels, for elements with none or too many. A cache: searching the same element for
each of thousands of tab lists would be quadratic."""
SHOELACE: Final = Tabs(":scope > sl-tab", ":scope > sl-tab-panel")
"""Shoelace's tabs, which are custom elements."""
_LEVELS: Final = 4  # levels from a tab list to the element with its panels
_PANELS: Final = "[role=tabpanel]"
# Bootstrap, whose older releases have no ARIA roles.
_TOGGLES: Final = "a:is([data-toggle=tab], [data-toggle=pill], [data-bs-toggle=tab], [data-bs-toggle=pill])"
_LEADING: Final = "a[href^='#'], button.tab"  # Hexo's themes, otherwise like Bootstrap
_PANES: Final = ".tab-pane, .tab-item-content"
_TARGETS: Final = ("href", "data-target", "data-bs-target")
_MANY: Final = 100  # tabs, or nested panels for each; more would take quadratic time


def convert_tab_set(box: Element, tabs: Tabs, names: Vocabulary) -> bool:
    """Group the tabs of a set by a generator's selectors."""
    return _group(box.select(tabs.labels), box.select(tabs.panels), names)


def convert_named_tabs(box: Element, names: Vocabulary) -> bool:
    """Group the tabs of a box with the class of a set of tabs."""
    every = [found for name in (box.attr("class") or "").split() if (found := names.tabs.get(name))]
    return any(convert_tab_set(box, tabs, names) for tabs in every)


def convert_tabs_in(table: Element, names: Vocabulary, counts: PanelCounts) -> None:
    """Group all tabs in the cells of a table."""
    for box in list(table.iter_elements(("div", "ul", "sl-tab-group"))):
        role = names.role_by_classes[classes] if (classes := box.attr("class")) else None
        if role == "tabs":
            convert_named_tabs(box, names)
        elif role == "tablist" or box.attr("role") == "tablist":
            convert_tab_list(box, names, counts)
        elif box.tag == "sl-tab-group":
            convert_tab_set(box, SHOELACE, names)
            box.tag = "div"


def convert_tab_list(row: Element, names: Vocabulary, counts: PanelCounts) -> bool:
    """Group the tabs of a set with ARIA roles or Bootstrap's attributes; `row` is its tab list."""
    labels = row.select("[role=tab]")
    if labels:
        return _group_row(row, labels, _PANELS, names, counts)
    labels = row.select(_TOGGLES) or row.select(_LEADING)
    return 0 < len(labels) <= _MANY and _group_row(row, labels, _PANES, names, counts)


def _group_row(row: Element, labels: Sequence[Element], panes: str, names: Vocabulary, counts: PanelCounts) -> bool:
    holder = row
    panels: list[Element] = []
    most = _MANY + _MANY * len(labels)
    for _level in range(_LEVELS):
        if not isinstance(holder.parent, Element):
            break
        holder = holder.parent
        known = counts.get((holder, panes), most)
        if known > most:
            return False
        if panels := holder.select(panes) if known else []:
            break
        counts[holder, panes] = 0
    if len(panels) > most:
        counts[holder, panes] = len(panels)
        return False
    around = holder.closest(panes)
    panels = [panel for panel in panels if _is_of(panel, around, panes)]
    holds_all = bool(panels) and all(row in panel.ancestors for panel in panels)
    if holds_all and (own := _before_panels(labels, panels)) is not None:
        labels = own
    if not _group(labels, panels, names, row if holds_all else None):
        return False
    if holds_all and not row.text.strip():
        row.decompose()
    return True


def _before_panels(labels: Sequence[Element], panels: Sequence[Element]) -> list[Element] | None:
    """The labels before the panels, if every tab contains its own panel; `None` for headings."""
    if len(labels) != len(panels):
        return None
    before: list[list[Node]] = []
    for label, panel in zip(labels, panels, strict=True):
        around = frozenset((panel, *panel.ancestors))
        children = label.children
        before.append(list(children[: next((place for place, node in enumerate(children) if node in around), 0)]))
        if label not in around or not any(node.text.strip() for node in before[-1]):
            return None
        own = [node for node in before[-1] if isinstance(node, Element)]
        if any(next(node.iter_elements(HEADINGS, include_self=True), None) is not None for node in own):
            return None
    found: list[Element] = []
    for label, nodes in zip(labels, before, strict=True):
        name = Element("span", {"id": label.attr("id") or "", "aria-controls": label.attr("aria-controls") or ""})
        label.insert(0, name)
        name.extend(nodes)
        found.append(name)
    return found


def _is_of(panel: Element, around: Element | None, panes: str) -> bool:
    """True if `panel` belongs to the set in the panel `around`, not to a nested set."""
    outer = panel.parent.closest(panes) if isinstance(panel.parent, Element) else None
    return outer is None or outer is around


def _group(labels: Sequence[Element], panels: Sequence[Element], names: Vocabulary, row: Element | None = None) -> bool:
    """Pair labels and panels and write them as a list; `row` is a tab list that contains the panels."""
    if not labels or not panels:
        return False
    pairs, every = _pairs(labels, panels), frozenset(labels)
    if pairs is None or any(not every.isdisjoint(panel.ancestors) for panel in panels):
        return False  # A panel inside of its label would be lost.
    for text, panel in pairs:
        if panel is not None:
            _drop_double(text, panel)
    in_cell = panels[0].closest("td, th") is not None
    own = {panel for _, panel in pairs}
    panels = [panel for panel in panels if panel in own]  # others belong to another set
    if any(has_heading(panel, names) for panel in panels):
        for text, panel in pairs:  # Headings must not be in a list.
            if panel is not None:
                panel.insert_before(_name(text))
        if row is not None:
            row.tag = "div"
            for item in row.select(":scope > li"):
                item.tag = "div"
    else:
        outer, inner = ("div", "div") if in_cell else ("ul", "li")  # A cell cannot contain lists.
        group = Element(outer)
        (row or panels[0]).insert_before(group)
        for text, panel in pairs:
            item = Element(inner, None, [_name(text)])
            group.append(item)
            if panel is not None:
                item.append(panel)  # after inserting the group: moving nodes within one tree copies nothing
        for panel in panels:
            panel.tag = panel.tag if panel.tag == "pre" else "div"
    for label in labels:
        parent = label.parent
        label.decompose()
        while isinstance(parent, Element) and _is_left_over(parent, in_cell):
            emptied, parent = parent, parent.parent
            emptied.decompose()
    return True


def _is_left_over(box: Element, in_cell: bool) -> bool:
    """True if a box that contained a label is empty and would be visible."""
    if box.text.strip() or next(box.iter_elements(VISIBLE_WITHOUT_TEXT), None) is not None:
        return False
    return box.tag not in ("td", "th") if in_cell else box.tag == "li"


def _pairs(labels: Sequence[Element], panels: Sequence[Element]) -> list[tuple[list[Node], Element | None]] | None:
    """Each label's text with its panel; some pages contain only the selected panel."""
    texts = [title_words(label) or [Text(label.attr("data-title") or "")] for label in labels]
    named = {panel.attr("id") or "": panel for panel in panels}
    of_label = {panel.attr("aria-labelledby") or "": panel for panel in panels}
    linked = [
        named.get(label.attr("aria-controls") or "?") or of_label.get(label.attr("id") or "?") or _target(label, named)
        for label in labels
    ]
    if any(linked):
        return list(zip(texts, linked, strict=True))
    if len(panels) > len(labels):
        return None
    if len(panels) < len(labels):
        chosen = [number for number, label in enumerate(labels) if label.attr("aria-selected") == "true"]
        if len(panels) == len(chosen) == 1:
            return [(text, panels[0] if number in chosen else None) for number, text in enumerate(texts)]
    return list(zip(texts, [*panels, *[None] * (len(labels) - len(panels))], strict=True))


def _drop_double(label: Sequence[Node], panel: Element) -> None:
    """Remove a copy of the label at the beginning of its panel, made for printing."""
    first = next((one for one in panel if not isinstance(one, Comment) and one.text.strip()), None)
    if isinstance(first, Element) and first.tag == "div" and first.text.strip() == "".join(one.text for one in label):
        first.decompose()


def _target(label: Element, named: Mapping[str, Element]) -> Element | None:
    """The panel that a label links to."""
    targets = (label.attr(name) or "" for name in _TARGETS)
    return next((named[target[1:]] for target in targets if target[:1] == "#" and target[1:] in named), None)


def _name(label: list[Node]) -> Element:
    return Element("p", None, [Element("strong", None, label)])


def convert_details(section: Element) -> None:
    """Mark beginning and end of a folded section, or unwrap it."""
    summary = section.find("summary")
    if summary is None or summary.parent is not section or not summary.text.strip():
        return
    has_more = summary.select_one("h1, h2, h3, h4, h5, h6, a[href]") is not None  # than fits in a summary
    if has_more or section.closest("td, th, a") is not None:
        section.tag = summary.tag = "div"
        return
    begin = details_start if section.attr("open") is None else open_details_start
    summary.replace_with(*id_comments(summary.children), begin(title_line(summary)))
    section.append(details_end())
    section.tag = "div"
