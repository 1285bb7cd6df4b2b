"""MathML is spelled out as the TeX that draws the same."""

from __future__ import annotations

import pytest

from tests.convert.pages import markdown

MATHJAX = '<script src="https://cdn.example.com/mathjax/MathJax.js"></script>'


@pytest.mark.parametrize(
    ("math", "tex"),
    [
        ('<mfenced open="{" close=""><mi>x</mi><mi>y</mi></mfenced>', r"\{x, y"),
        ("<mfenced><mi>x</mi><mi>y</mi></mfenced>", "(x, y)"),
        ('<mfenced separators="; |"><mi>x</mi><mi>y</mi><mi>z</mi><mi>w</mi></mfenced>', "(x; y| z| w)"),
        ('<mfenced separators=""><mi>x</mi><mi>y</mi></mfenced>', "(xy)"),
        (
            "<mmultiscripts><mi>X</mi><mn>1</mn><none/><mprescripts/><mn>3</mn><mn>4</mn></mmultiscripts>",
            "{}_{3}^{4}X_{1}",
        ),
        ("<mi>a</mi><mphantom><mi>b</mi></mphantom>", r"a\phantom{b}"),
        ('<mi mathvariant="double-struck">R</mi><mi mathvariant="bold">v</mi>', r"\mathbb{R}\mathbf{v}"),
    ],
)
def test_mathml_becomes_equal_tex(math: str, tex: str) -> None:
    """Fences that are given as nothing are nothing, and scripts stand where they belong."""
    assert markdown(f"<p><math>{math}</math></p>") == f"${tex}$\n"


@pytest.mark.parametrize(
    ("html", "said"),
    [
        (
            '<div class="math">\n\\begin{align}\na &amp;= b \\\\\nc &amp;= d\n\\end{align}</div>',
            "$$\n\\begin{align}\na &= b \\\\\nc &= d\n\\end{align}\n$$\n",
        ),
        ("<p>\\begin{equation*}x_1*y_1*z\\end{equation*}</p>", "$$\n\\begin{equation*}x_1*y_1*z\\end{equation*}\n$$\n"),
        (
            '<div class="math"><span class="eqno">(1)</span>\\begin{gather}x\\end{gather}</div>',
            "(1)\n\n$$\n\\begin{gather}x\\end{gather}\n$$\n",
        ),
    ],
)
def test_environment_needs_no_delimiters(html: str, said: str) -> None:
    """MathJax draws what stands between begin and end, and so it is kept as TeX, lines and all."""
    assert markdown(f"{MATHJAX}{html}") == said


def test_inline_environment() -> None:
    """What is between single dollars is not torn apart."""
    assert "$$" not in markdown(f"{MATHJAX}<p>It is $A = \\begin{{matrix}}a\\end{{matrix}}$.</p>")


def test_pandoc_katex_needs_no_delimiters() -> None:
    """Pandoc's names for formulas say which they are; letters with markup are drawn already."""
    html = (
        '<script src="https://cdn.example.com/katex@0.15.1/dist/katex.min.js"></script><p>Be <span class="math inline">'
        'a_1*b_1*c</span>.</p><p><span class="math display">E = mc^2</span></p>'
        '<p><span class="math inline"><em>x</em> = 1</span></p>'
    )
    assert markdown(html) == "Be $a_1*b_1*c$.\n\n$$\nE = mc^2\n$$\n\n*x* = 1\n"


def test_github_formulas() -> None:
    """They stand in an element of GitHub's own, for a script to draw."""
    html = (
        '<p>Be <math-renderer class="js-inline-math">$a_1*b_1*c$</math-renderer>.</p>'
        '<p><math-renderer class="js-display-math">$$x \\\\ y$$</math-renderer></p>'
    )
    assert markdown(html) == "Be $a_1*b_1*c$.\n\n$$\nx \\\\ y\n$$\n"


def test_sphinx_formulas_without_known_script() -> None:
    """The site may have packed what draws them into a file of any name."""
    html = r"""<p>A <span class="math notranslate nohighlight">\(a^2 + b_1\)</span> b</p>
        <div class="math notranslate nohighlight" id="e">\[c + 1 = 0\]</div>"""
    assert markdown(html) == "A $a^2 + b_1$ b\n\n$$\nc + 1 = 0\n$$\n"


@pytest.mark.parametrize("maker", ["pandoc", "bookdown 0.30 and GitBook 2.6.7", "quarto-1.3"])
def test_unmarked_delimiters_of_pandoc_are_text(maker: str) -> None:
    """It has an element for each formula, so that money and brackets in the text are what they look like."""
    html = (
        f'<meta name=generator content="{maker}"><p>It costs $$5 or $$6, and \\(a\\) is a group.</p>'
        '<p>Here <span class="math inline">\\(x^2\\)</span> is one.</p>'
    )
    assert markdown(html) == "It costs $$5 or $$6, and \\\\(a\\\\) is a group.\n\nHere $x^2$ is one.\n"
