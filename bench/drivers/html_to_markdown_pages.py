"""html-to-markdown on pages as they come, with its own preprocessing, which takes out navigation and forms."""
# mypy: disable-error-code="import-not-found,misc,no-any-unimported"

from __future__ import annotations

from urllib.request import urlopen

from html_to_markdown import ConversionOptions, PreprocessingOptions, convert

from bench.drivers.listed import Listed


def convert_all(work: Listed) -> None:
    """Every URL once, Markdown to disk."""
    options = ConversionOptions(preprocessing=PreprocessingOptions(enabled=True, preset="aggressive"))
    work.begin()
    for url in work.urls:
        work.save_markdown(url, convert(urlopen(url).read().decode(), options).content or "")
    work.end()


if __name__ == "__main__":
    convert_all(Listed())
