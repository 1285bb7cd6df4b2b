"""markdownify on pages as they come, with the headings that everybody else writes; it keeps all that the page has."""
# mypy: disable-error-code="import-not-found,misc,no-any-unimported"

from __future__ import annotations

from urllib.request import urlopen

from markdownify import markdownify

from bench.drivers.listed import Listed


def language(element: object) -> str | None:
    """The language that a code block's classes name, in the way that markdownify's manual shows."""
    names = element.get("class") or []  # type: ignore[attr-defined]
    return next((name.removeprefix("language-") for name in names if name.startswith("language-")), None)


def convert(work: Listed) -> None:
    """Every URL once, Markdown to disk."""
    work.begin()
    for url in work.urls:
        page = urlopen(url).read().decode()
        work.save_markdown(url, markdownify(page, heading_style="ATX", code_language_callback=language))
    work.end()


if __name__ == "__main__":
    convert(Listed())
