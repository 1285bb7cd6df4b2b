"""The source round trip: its own yardstick, and a short version with the one generator that is quickest to build."""

from __future__ import annotations

import pytest

from bench.peers import HOME
from bench.quality.roundtrip.asciidoc import AsciiDoc
from bench.quality.roundtrip.blocks import Kind, Unit, units_of, units_of_source
from bench.quality.roundtrip.dialects import Docsy, Docusaurus, Markdown, Material, Myst, Starlight, VitePress
from bench.quality.roundtrip.generators import GENERATORS
from bench.quality.roundtrip.grammar import read_source
from bench.quality.roundtrip.jobs import Dialect
from bench.quality.roundtrip.measure import built, ours, scored, sources, summed
from bench.quality.roundtrip.score import compare
from bench.quality.roundtrip.site import output_target, source_target
from bench.quality.roundtrip.written import MADE, from_material, from_myst

FLOOR = 0.99  # of the blocks, back from Sphinx; what a full run reached stands in bench/quality/README.md
MOST_FOREIGN = 0  # blocks that are in no source


def test_a_source_is_its_own_round_trip() -> None:
    """A page that comes back as it was written has all of its blocks and no others."""
    for text in sources().values():
        units = units_of_source(text)
        score = compare(units, units)
        assert (score.share, score.lost, score.foreign, score.altered) == (1.0, [], [], 0)


def test_every_kind_of_block_is_in_the_sources() -> None:
    """Nothing that a documentation page uses is left unmeasured."""
    found = {unit.kind for text in sources().values() for unit in units_of_source(text)}
    assert found == set(Kind) - {Kind.HTML}


def test_markup_is_read_apart_from_the_text() -> None:
    """A paragraph's words are one unit; its code, emphasis, links and keys are others."""
    assert units_of("See **the** [`x` page](a.md) — press <kbd>Q</kbd>.") == [
        Unit(Kind.PARAGRAPH, "See the x page - press Q."),
        Unit(Kind.EMPHASIS, "the", "strong"),
        Unit(Kind.LINK, "x page", "a.md"),
        Unit(Kind.SPAN, "x"),
        Unit(Kind.KEY, "Q"),
    ]


def test_an_alert_has_kind_title_and_body() -> None:
    """A title counts whether it stands beside the kind or below it, in bold."""
    wanted = [Unit(Kind.ADMONITION, "caution"), Unit(Kind.TITLE, "Mind"), Unit(Kind.PARAGRAPH, "Body.")]
    assert units_of("> [!CAUTION] Mind\n> Body.") == wanted
    below = units_of("> [!DANGER]\n> **Mind**\n>\n> Body.")
    assert [unit for unit in below if unit.kind is not Kind.EMPHASIS] == wanted


def test_what_was_lost_and_what_was_added_is_told() -> None:
    """Code without its language, a heading of another level and a menu's line are all seen."""
    source = units_of("# A\n\n## B\n\n```python\nx\n```\n\ntext")
    score = compare(source, units_of("# A\n\n### B\n\n```\nx\n```\n\ntext\n\nSkip to content"))
    assert score.lost == [Unit(Kind.HEADING, "B", "2"), Unit(Kind.CODE, "x", "python")]
    assert score.foreign == [Unit(Kind.PARAGRAPH, "Skip to content")]
    assert score.altered == 2
    assert score.share == 0.5


def test_a_label_may_be_any_block_of_text() -> None:
    """Markdown has no tabs: a label in bold, in a heading or in an item is kept, one that is gone is lost."""
    source = units_of_source("::::tabs\n:::tab One\nfirst\n:::\n:::tab Two\nsecond\n:::\n::::")
    assert compare(source, units_of("- **One**\n\n  first\n\n#### Two\n\nsecond")).share == 1.0
    assert compare(source, units_of("One Two\n\nfirst\n\nsecond")).found[Kind.TAB] == 0


@pytest.mark.parametrize(
    ("dialect", "wanted"),
    [
        (Myst(), "::::{tab-set}\n:::{tab-item} One\nfirst\n:::\n::::"),
        (Material(), '=== "One"\n\n    first'),
        (VitePress(), "**One**\n\nfirst"),
        (Starlight(), '<Tabs>\n<TabItem label="One">\n\nfirst\n\n</TabItem>\n</Tabs>'),
        (Docsy(), '{{< tabpane text=true >}}\n{{% tab header="One" %}}\nfirst\n{{% /tab %}}\n{{< /tabpane >}}'),
        (AsciiDoc(), "[tabs]\n======\nOne::\n+\n--\nfirst\n--\n======"),
    ],
    ids=lambda value: type(value).__name__ if not isinstance(value, str) else "",
)
def test_every_generator_gets_tabs_in_its_own_words(dialect: Dialect, wanted: str) -> None:
    """One source becomes what the generator's author would have written."""
    tree = read_source("::::tabs\n:::tab One\nfirst\n:::\n::::")
    assert isinstance(dialect, Markdown | AsciiDoc)
    assert dialect.blocks(tree.children) == wanted


def test_material_as_others_write_it_is_read_as_a_source() -> None:
    """Notes, tabs in a list, icons and attributes of a real manual become what our own sources have for them."""
    text = """---
title: x
---
!!! warning "Mind"
    Body.

- item

    === ":octicons-file-code-16: a.toml"

        ```toml
        !!! none
        ```

![A](b.png){ loading=lazy } :material-check: `#!toml x`

::: package.module
    options: none
"""
    assert units_of_source(from_material(text)) == [
        Unit(Kind.ADMONITION, "warning"),
        Unit(Kind.TITLE, "Mind"),
        Unit(Kind.PARAGRAPH, "Body."),
        Unit(Kind.ITEM, "item", "1 -"),
        Unit(Kind.TAB, "a.toml"),
        Unit(Kind.CODE, "!!! none", "toml"),
        Unit(Kind.PARAGRAPH, "x"),
        Unit(Kind.IMAGE, "A", "b.png"),
        Unit(Kind.SPAN, "x"),
        Unit(Kind.PARAGRAPH, MADE),
    ]


def test_myst_as_others_write_it_is_read_as_a_source() -> None:
    """Directives, roles, labels and definitions are known; what Sphinx writes by itself is marked."""
    text = """(a label)=
```{note}
Body with {ref}`x`.
```

````{tab} Linux
```{pip-cli}
$ pip list
```
````

Term
: Meaning
  of it.
"""
    assert units_of_source(from_myst(text)) == [
        Unit(Kind.ADMONITION, "note"),
        Unit(Kind.PARAGRAPH, f"Body with {MADE}."),
        Unit(Kind.TAB, "Linux"),
        Unit(Kind.PARAGRAPH, MADE),
        Unit(Kind.TERM, "Term"),
        Unit(Kind.DEFINITION, "Meaning of it."),
    ]


def test_links_of_both_sides_have_one_spelling() -> None:
    """A link to a page is the same link wherever a generator puts that page."""
    base = "http://127.0.0.1:1/"
    wanted = source_target("install.md#check", "index")
    for built_as in ("install.html#check", "install/#check", "docs/install/#check"):
        assert output_target(base + built_as, base, "index") == wanted
    assert output_target(f"{base}docs/", base, "install") == source_target("index.md", "install")
    assert output_target("https://a.example/b%20c", base, "x") == source_target("https://a.example/b%20c", "x")


@pytest.mark.timeout(300)
def test_sphinx_gives_the_source_back() -> None:
    """Pages that Sphinx builds from MyST sources come back as the sources, block by block."""
    (sphinx,) = (generator for generator in GENERATORS if generator.name == "Sphinx, alabaster")
    if reason := sphinx.missing(HOME):
        pytest.skip(f"Sphinx: {reason}")
    with built(sphinx, HOME) as site:
        score = summed(scored(site, ours(site)))
    assert score.share >= FLOOR, score.lost
    assert len(score.foreign) <= MOST_FOREIGN, score.foreign


def test_what_mdx_would_run_is_escaped() -> None:
    """Braces and brackets of the text are no JavaScript; code, keys and formulas stay as they are."""
    source = "a {b} < c `{d}` <kbd>E</kbd> ${f}$ <https://g.example/> h<br>i"
    wanted = r"a \{b} \< c `{d}` <kbd>E</kbd> ${f}$ [https://g.example/](https://g.example/) h<br/>i"
    assert Docusaurus().page(read_source(source)).rstrip().endswith(wanted)
