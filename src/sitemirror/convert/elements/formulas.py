"""Formulas as TeX: the TeX source in the page, else converted from MathML."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final

from turbohtml import Comment, Element, Node, Text

from sitemirror.convert.render.markers import display_formula, inline_formula

# Wrappers with the rendered formula, often in two forms.
_DRAWN: Final = re.compile(r"(?:^|\s)(?:katex|mwe-math|mathjax|mjx-)", re.I)
_DRAWINGS: Final = frozenset(("mjx-container", "mjx-assistive-mml"))
_DISPLAYED: Final = re.compile(
    r"katex-display|mathjax_display|formuladsp|mwe-math-(?:mathml|element)-(?:display|block)", re.I
)
# An environment is a delimiter, and part of the formula.
_DELIMITED: Final = re.compile(
    r"\s*(?:\\\((.*)\\\)|\\\[(.*)\\\]|\$\$(.*)\$\$|\$(.*)\$|(\\begin\{(?P<name>\w+\*?)\}.*\\end\{(?P=name)\}))\s*", re.S
)
_IN_TEXT: Final = re.compile(
    r"\\\((.{1,4000}?)\\\)|\\\[(.{1,4000}?)\\\]|\$\$(.{1,4000}?)\$\$"
    r"|(\\begin\{(?P<name>\w+\*?)\}.{1,4000}?\\end\{(?P=name)\})",
    re.S,
)
_UNDELIMITED: Final = {"math inline": inline_formula, "math display": display_formula}  # Pandoc's classes for KaTeX
_WIKI_STYLE: Final = re.compile(r"\{\\(?:display|text)style (.*)\}", re.S)

_SIGNS: Final = {
    "−": "-", "×": r"\times ", "⋅": r"\cdot ", "·": r"\cdot ", "÷": r"\div ", "±": r"\pm ", "≤": r"\le ", "≥": r"\ge ",
    "≠": r"\ne ", "≈": r"\approx ", "≡": r"\equiv ", "∞": r"\infty ", "∑": r"\sum ", "∏": r"\prod ", "∫": r"\int ",
    "√": r"\sqrt ", "∂": r"\partial ", "∇": r"\nabla ", "∈": r"\in ", "∉": r"\notin ", "⊂": r"\subset ",
    "⊆": r"\subseteq ", "∪": r"\cup ", "∩": r"\cap ", "∅": r"\emptyset ", "∀": r"\forall ", "∃": r"\exists ",
    "→": r"\to ", "←": r"\leftarrow ", "⇒": r"\Rightarrow ", "⇔": r"\Leftrightarrow ", "↦": r"\mapsto ",
    "…": r"\ldots ",
    "⋯": r"\cdots ", "∧": r"\land ", "∨": r"\lor ", "¬": r"\neg ", "∘": r"\circ ", "′": "'", "⌊": r"\lfloor ",
    "⌋": r"\rfloor ", "⌈": r"\lceil ", "⌉": r"\rceil ", "⟨": r"\langle ", "⟩": r"\rangle ", "{": r"\{", "}": r"\}",
    "%": r"\%", "&": r"\&", "#": r"\#", "$": r"\$", "_": r"\_", "\u2061": "", "\u2062": "", "\u2063": ",", "\u2064": "",
    "\xa0": " ", "Γ": r"\Gamma ", "Δ": r"\Delta ", "Θ": r"\Theta ", "Λ": r"\Lambda ", "Ξ": r"\Xi ", "Π": r"\Pi ",
    "Σ": r"\Sigma ", "Φ": r"\Phi ", "Ψ": r"\Psi ", "Ω": r"\Omega ", "α": r"\alpha ", "β": r"\beta ", "γ": r"\gamma ",
    "δ": r"\delta ", "ε": r"\varepsilon ", "ϵ": r"\epsilon ", "ζ": r"\zeta ", "η": r"\eta ", "θ": r"\theta ",
    "ι": r"\iota ", "κ": r"\kappa ", "λ": r"\lambda ", "μ": r"\mu ", "ν": r"\nu ", "ξ": r"\xi ", "π": r"\pi ",
    "ρ": r"\rho ", "σ": r"\sigma ", "τ": r"\tau ", "υ": r"\upsilon ", "φ": r"\varphi ", "ϕ": r"\phi ", "χ": r"\chi ",
    "ψ": r"\psi ", "ω": r"\omega ",
}  # fmt: skip
_ACCENTS: Final = {"¯": "overline", "‾": "overline", "^": "hat", "~": "tilde", "→": "vec", "˙": "dot", ".": "dot"}
_VARIANTS: Final = {
    "bold": "mathbf", "double-struck": "mathbb", "script": "mathcal", "bold-script": "mathcal", "fraktur": "mathfrak",
    "bold-fraktur": "mathfrak", "sans-serif": "mathsf", "monospace": "mathtt", "bold-italic": "boldsymbol",
}  # fmt: skip
_MAX_DEPTH: Final = 60
_NUMBER: Final = ".ltx_tag_equation"


def convert_mathml(math: Element) -> None:
    """Replace MathML and its rendered forms by TeX."""
    if isinstance(math.parent, Element) and math.parent.closest("math") is not None:
        return  # part of a formula that was replaced
    tex = _tex_of(math)
    wiki = _WIKI_STYLE.fullmatch(tex)
    is_display = math.attr("display") == "block" or math.attr("mode") == "display"
    drawing = math
    while isinstance(outer := drawing.parent, Element):
        classes = outer.attr("class") or ""
        if outer.tag not in _DRAWINGS and not _DRAWN.search(classes):
            break
        is_display = is_display or _DISPLAYED.search(classes) is not None or outer.attr("display") == "true"
        drawing = outer
    _replace(drawing, wiki[1] if wiki else tex, display_formula if is_display else inline_formula)


def _tex_of(math: Element) -> str:
    source = next((one for one in math.find_all("annotation") if "tex" in (one.attr("encoding") or "").lower()), None)
    return source.text.strip() if source is not None else to_tex(math)


def convert_equation_table(table: Element) -> bool:
    """Convert each row of a table that aligns parts of an equation to a formula with its number."""
    if table.tag != "table":
        return False
    shown: list[Node] = []
    for row in table.find_all("tr"):
        number = row.select_one(_NUMBER)
        label = number.text.strip().removeprefix("(").removesuffix(")") if number is not None else ""
        parts = [_tex_of(math).removeprefix(r"\displaystyle").strip() for math in row.find_all("math")]
        shown += [node for node in row.descendants if isinstance(node, Comment)]
        if parts:
            shown.append(display_formula(" ".join(parts) + (rf"\tag{{{label}}}" if label else "")))
        elif row.text.strip():
            shown.append(Element("p", None, [Text(" ".join(row.text.split()))]))
    table.clear()
    table.extend(shown)
    table.tag = "div"
    return True


def convert_tex_script(script: Element) -> None:
    """Replace a MathJax script by its TeX; drop other scripts."""
    kind = (script.attr("type") or "").lower()
    if not kind.startswith("math/tex"):
        script.decompose()
        return
    _replace(
        script, script.text.strip(), display_formula if "mode=display" in kind.replace(" ", "") else inline_formula
    )


def convert_delimited_tex(element: Element) -> None:
    """Replace an element that a generator marks as a formula, usually TeX with delimiters."""
    script = element.find("script")
    if script is not None:
        convert_tex_script(script)
        element.remove(".MathJax_Preview, .MathJax, .MathJax_Display")
        return
    found = _DELIMITED.fullmatch(element.text)
    if found is None:
        if (write := _UNDELIMITED.get(element.attr("class") or "")) and not any(
            isinstance(n, Element) for n in element
        ):
            _replace(element, element.text.strip(), write)
        return
    if element.find("math") is not None:
        return
    inline = found[1] if found[1] is not None else found[4]
    if inline is not None:
        _replace(element, inline.strip(), inline_formula)
    else:
        _replace(element, (found[2] or found[3] or found[5] or "").strip(), display_formula)


def convert_formula_pictures(element: Element) -> bool:
    """Replace pictures of formulas by the TeX in their alternative text."""
    is_replaced = False
    for image in [element] if element.tag == "img" else element.find_all("img"):
        tex = (image.attr("alt") or "").strip()
        if not tex:
            continue
        is_replaced = True
        is_display = element.tag == "div" or _DISPLAYED.search(image.attr("class") or "") is not None
        if (found := _DELIMITED.fullmatch(tex)) is not None:
            tex = next(part for part in found.groups() if part is not None).strip()
        _replace(image, tex, display_formula if is_display else inline_formula)
    return is_replaced


def convert_tex_in_text(page: Element) -> None:
    """Replace formulas in plain text between TeX delimiters."""
    if not _IN_TEXT.search(page.text):
        return
    for text in [node for node in page.descendants if isinstance(node, Text) and _IN_TEXT.search(node.data)]:
        holder = text.parent
        if not isinstance(holder, Element) or holder.closest("pre, code, script, math") is not None:
            continue
        here = 0
        for found in _IN_TEXT.finditer(text.data):
            if found[4] and not _has_lines_of_its_own(found):
                continue  # part of a formula between single dollars, which may be amounts of money
            tex = (found[1] or found[2] or found[3] or found[4]).strip()
            text.insert_before(
                Text(text.data[here : found.start()]), inline_formula(tex) if found[1] else display_formula(tex)
            )
            here = found.end()
        text.data = text.data[here:]


def _has_lines_of_its_own(found: re.Match[str]) -> bool:
    before, after = found.string[: found.start()], found.string[found.end() :]
    return not before.rpartition("\n")[2].strip() and not after.partition("\n")[0].strip()


def _replace(element: Element, tex: str, write: Callable[[str], Element]) -> None:
    if not tex:
        element.decompose()
    elif element.closest("pre, code") is not None:
        element.replace_with(Text(tex))
    elif write is display_formula and element.closest("td, th, h1, h2, h3, h4, h5, h6, a") is not None:
        element.replace_with(inline_formula(tex))
    else:
        element.replace_with(write(tex))


def to_tex(math: Element) -> str:
    """Convert presentation MathML to TeX."""
    return " ".join(_row(_children(math), 0).split())


def _children(element: Element) -> list[Element]:
    return [child for child in element if isinstance(child, Element)]


def _row(elements: Sequence[Element], depth: int) -> str:
    return "".join(_tex(element, depth) for element in elements)


def _tex(element: Element, depth: int) -> str:
    if depth > _MAX_DEPTH:
        return " ".join(element.text.split())
    tag, parts = element.tag, _children(element)
    if tag in ("mi", "mn", "mo", "mtext", "ms"):
        return _leaf(element)
    if tag == "mspace":
        return " "
    if tag in ("annotation", "annotation-xml"):
        return ""
    if tag == "mtable":
        rows = (" & ".join(_row(_children(cell), depth + 1) for cell in _children(row)) for row in parts)
        return r"\begin{matrix} " + r" \\ ".join(rows) + r" \end{matrix}"
    if tag == "msqrt":
        return rf"\sqrt{{{_row(parts, depth + 1)}}}"
    written = [_tex(part, depth + 1) for part in parts]
    match tag, written:
        case "mfrac", [above, below]:
            return rf"\frac{{{above}}}{{{below}}}"
        case "mroot", [base, degree]:
            return rf"\sqrt[{degree}]{{{base}}}"
        case "mover", [base, above] if above.strip() in _ACCENTS:
            return rf"\{_ACCENTS[above.strip()]}{{{base}}}"
        case (("msup" | "mover"), [base, above]):
            return f"{_base(base)}^{{{above.strip()}}}"
        case (("msub" | "munder"), [base, below]):
            return f"{_base(base)}_{{{below.strip()}}}"
        case (("msubsup" | "munderover"), [base, below, above]):
            return f"{_base(base)}_{{{below.strip()}}}^{{{above.strip()}}}"
        case "mphantom", _:
            return rf"\phantom{{{''.join(written)}}}"
        case "mfenced", _:
            return _fenced(element, written)
        case "mmultiscripts", [base, *scripts] if parts[0].tag != "mprescripts":
            tags = [part.tag for part in parts[1:]]
            before = tags.index("mprescripts") if "mprescripts" in tags else len(tags)
            left = "".join(_scripts(scripts[before + 1 :]))
            return f"{'{}' + left if left else ''}{_base(base)}{''.join(_scripts(scripts[:before]))}"
    return "".join(written)


def _fenced(element: Element, written: Sequence[str]) -> str:
    """The content of `mfenced` with its separators, of which the last repeats."""
    opening, closing, between = (element.attr(name) for name in ("open", "close", "separators"))
    signs = "".join(("," if between is None else between).split())
    joined = "".join(
        piece + (f"{_signs(signs[min(number, len(signs) - 1)])} " if signs and number + 1 < len(written) else "")
        for number, piece in enumerate(written)
    )
    return f"{_signs('(' if opening is None else opening)}{joined}{_signs(')' if closing is None else closing)}"


def _scripts(written: Sequence[str]) -> list[str]:
    """Subscripts and superscripts, alternating."""
    return [f"{'^' if number % 2 else '_'}{{{tex.strip()}}}" for number, tex in enumerate(written) if tex.strip()]


def _signs(text: str) -> str:
    return "".join(_SIGNS.get(char, char) for char in text.strip())


def _base(tex: str) -> str:
    tex = tex.strip()
    return tex if len(tex) <= 1 or re.fullmatch(r"\\?[A-Za-z]+|[0-9]+", tex) else f"{{{tex}}}"


def _leaf(element: Element) -> str:
    text = " ".join(element.text.split())
    if element.tag == "mtext":
        return rf"\text{{{text}}}" if text else " "
    written = _signs(text)
    if element.tag in ("mi", "mn") and (variant := _VARIANTS.get(element.attr("mathvariant") or "")) and text:
        return rf"\{variant}{{{written.strip()}}}"
    if element.tag == "mi" and len(text) > 1 and text.isalpha():
        return rf"\mathrm{{{text}}}"
    return f" {written} " if element.tag == "mo" and text in ("=", "+", "−", "<", ">", "≤", "≥", "→") else written
