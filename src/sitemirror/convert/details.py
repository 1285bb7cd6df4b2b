"""Sections that can be folded away: they stay such, where Markdown has a place for them."""

from __future__ import annotations

from turbohtml import Element

from sitemirror.convert.marks import end_of_details, folded, pins, unfolded
from sitemirror.convert.titles import line_of


def shape_details(details: Element) -> None:
    """Marks where a section begins and ends, or makes it a plain one."""
    summary = details.find("summary")
    if summary is None or summary.parent is not details or not summary.text.strip():
        return
    has_more = summary.select_one("h1, h2, h3, h4, h5, h6, a[href]") is not None  # than the line of a summary can hold
    if has_more or details.closest("td, th, a") is not None:
        details.tag = summary.tag = "div"
        return
    begin = folded if details.attr("open") is None else unfolded
    summary.replace_with(*pins(summary.children), begin(line_of(summary)))
    details.append(end_of_details())
    details.tag = "div"
