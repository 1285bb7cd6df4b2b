"""Words that only a style makes bold or slanted."""

from __future__ import annotations

import pytest

from tests.convert.pages import markdown

BOLD = '<span style="color: red; font-weight: {}">{}</span>'


@pytest.mark.parametrize("weight", ["bold", "BOLD", "bolder", "600", "900", "700 !important"])
def test_bold_style(weight: str) -> None:
    """They are marked as those in `b` are, and blanks at their ends stay outside."""
    assert markdown(f"<p>Press {BOLD.format(weight, 'Save ')}now.</p>") == "Press **Save** now.\n"


@pytest.mark.parametrize("weight", ["normal", "400", "500", "lighter", "inherit"])
def test_other_weights_are_not_bold(weight: str) -> None:
    """Nothing is marked that looks as most text does."""
    assert markdown(f"<p>Press {BOLD.format(weight, 'Save')} now.</p>") == "Press Save now.\n"


def test_italic_style() -> None:
    """Alone, or bold as well; pieces that follow one another are one."""
    slanted = '<span style="font-style:italic">{}</span>'
    assert markdown(f"<p>A {slanted.format('word')}.</p>") == "A *word*.\n"
    assert markdown('<p>A <span style="font-style:italic;font-weight:700">word</span>.</p>') == "A **_word_**.\n"
    assert markdown(f"<p>{slanted.format('wo')}{slanted.format('rd')}s</p>") == "*word*s\n"


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<h2>One {}</h2>", "## One x\n"),
        ("<p><strong>One {}</strong></p>", "**One x**\n"),
        ('<p style="font-weight:bold">One {}</p>', "One x\n"),
        ("<table><tr><th>{}</th></tr></table>", "| x |\n| --- |\n"),
        ("<pre>{} = 1</pre>", "```\nx = 1\n```\n"),
        ("<p>One <code>{} y</code></p>", "One `x y`\n"),
        ("<dl><dt>{}</dt><dd>y</dd></dl>", "- **x**\n\n  y\n"),
    ],
    ids=["heading", "strong", "paragraph", "header", "code block", "code", "term"],
)
def test_only_differing_styles_are_marked(html: str, expected: str) -> None:
    """In what is bold anyway a style changes nothing, and code has letters of its own."""
    assert markdown(html.format(BOLD.format("bold", "x"))) == expected


def test_normal_weight_inside_bold() -> None:
    """Google's editor has bold words in a `b` that is none, and others in spans that say that they are none."""
    bold = BOLD.format("bold", "x")
    assert markdown(f'<b style="font-weight:normal"><p>One {bold}</p></b>') == "One **x**\n"
    assert markdown(f'<p><span style="font-weight:400">One {bold}</span></p>') == "One **x**\n"
    assert markdown(f'<ul><li style="font-weight:400">One {bold}</li></ul>') == "- One **x**\n"
    assert markdown(f'<pre style="font-weight:400">One {bold}</pre>') == "```\nOne x\n```\n"


def test_styles_without_emphasis_cost_nothing() -> None:
    """Exports have one on every word, and what stands out among them is still marked."""
    plain = '<span style="font-weight:400">y</span> ' * 2_100
    assert markdown(f"<p>{plain}{BOLD.format('bold', 'x')}</p>").endswith(" y **x**\n")


def test_paragraphs_are_not_emphasised() -> None:
    """A span around blocks marks nothing."""
    assert markdown('<span style="font-weight:bold"><p>One</p><p>Two</p></span>') == "One\n\nTwo\n"
