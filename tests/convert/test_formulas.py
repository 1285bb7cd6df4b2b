"""MathML is spelled out as the TeX that draws the same."""

from __future__ import annotations

import pytest

from tests.convert.pages import markdown


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
def test_mathml_means_the_same_in_tex(math: str, tex: str) -> None:
    """Fences that are given as nothing are nothing, and scripts stand where they belong."""
    assert markdown(f"<p><math>{math}</math></p>") == f"${tex}$\n"
