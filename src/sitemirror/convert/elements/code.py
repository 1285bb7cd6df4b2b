"""Code blocks and code spans: language, line numbers, diff lines, lines that are elements.

A code span would join its lines, so code with several lines becomes a block, or a span for each line.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from html import unescape
from textwrap import dedent
from typing import Final, NamedTuple

from turbohtml import Comment, Element, Node, Text

from sitemirror.convert.elements.inline import code_span
from sitemirror.convert.elements.tables import is_layout

_LANGUAGE_CLASS: Final = re.compile(
    r"(?:^|\s)(?:language|lang|highlight-source|highlight-text|mw-highlight-lang|source|src|highlight|hl)"
    r"-([\w+#.-]+)|\b(?:brush|lang):\s*([\w+#.-]+)"
)
_LANGUAGE_ATTRIBUTES: Final = (
    "data-lang", "data-language", "language", "data-enlighter-language", "data-code-lang", "syntax",
    "data-syntax",
)  # fmt: skip
_SETTINGS: Final = "data-syntaxhighlighter-params"  # `brush: java; gutter: false`
_BESIDE_LANGUAGE: Final = frozenset(("hljs", "sourceCode", "programlisting", "prettyprint", "highlight"))
_BESIDE_BOTH: Final = frozenset(("linenums", "line-numbers", "numberLines", "prettyprinted", "prettyprint", "hljs"))
# Class names that are a language by themselves, on code only: elsewhere some are ordinary words.
_KNOWN: Final = frozenset(
    (
        "ada", "apache", "asm", "awk", "bash", "bat", "batch", "c", "c#", "c++", "clojure", "cmake", "cobol",
        "coffeescript", "cpp", "csharp", "css", "csv", "cuda", "dart", "delphi", "diff", "django", "docker",
        "dockerfile", "dos", "elixir", "elm", "erb", "erlang", "f#", "fish", "fortran", "fsharp", "gherkin", "glsl",
        "go", "golang", "graphql", "groovy", "haml", "handlebars", "haskell", "hcl", "heex", "html", "http", "ini",
        "java", "javascript", "jinja", "jinja2", "js", "json", "json5", "jsonc", "jsonnet", "jsx", "julia", "kotlin",
        "latex", "less", "lisp", "lua", "makefile", "markdown", "matlab", "mermaid", "nginx", "nim", "nix", "objc",
        "objectivec", "ocaml", "pascal", "perl", "php", "plsql", "powershell", "prolog", "protobuf", "proto", "ps1",
        "puppet", "py", "pycon", "python", "python3", "r", "raku", "rb", "rs", "rst", "ruby", "rust", "sass", "scala",
        "scheme", "scss", "sh", "shell", "sparql", "sql", "svelte", "swift", "tcl", "terraform", "tex", "toml", "ts",
        "tsx", "typescript", "vb", "vbnet", "verilog", "vhdl", "vim", "vue", "xml", "yaml", "yml", "zig", "zsh",
    )
)  # fmt: skip
_CODE: Final = ("code", "pre")
_LANGUAGE: Final = re.compile(r"[\w+#.-]{1,40}")
_NO_LANGUAGE: Final = frozenset(
    (
        "text", "none", "plaintext", "plain", "default", "txt", "nohighlight", "notranslate", "code", "line", "generic",
        "myst-ansi",
    )
)  # fmt: skip
# Names of wrappers that look like languages: `highlight-wrapper`, `lang-switcher`.
_ARRANGES: Final = re.compile(
    r"(?:^|[-_])(?:area|block|body|box|button|container|content|copy|frame|group|header|inner|ipynb|menu|outer|panel|picker|"
    r"select|selector|switch|switcher|tabs?|title|toggle|toolbar|view|viewer|wrap|wrapper)$",
    re.I,
)
_OTHER_NAMES: Final = {
    "html-basic": "html",
    "html-erb": "erb",
    "xml-svg": "svg",
    "jscript": "javascript",
}  # by GitHub and SyntaxHighlighter
_SHORT_NAMES: Final = frozenset(("c", "r", "js", "ts", "go", "py", "rb", "rs", "cs", "sh", "kt", "hs", "md"))


def language_of(element: Element, names: Mapping[str, str]) -> str | None:
    """The language that `element` names; empty if it names none on purpose, `None` if unknown."""
    classes = element.attr("class")
    named = None
    if len(element.attrs) > (classes is not None):  # Most elements have only a class; this skips the look-ups.
        named = next((value for name in _LANGUAGE_ATTRIBUTES if (value := element.attr(name))), None)
        if named is None and (settings := element.attr(_SETTINGS)):
            named = _prefixed_name(settings)
        if named is None and element.tag == "pre" and (natural := element.attr("lang")):
            # `lang` is for natural languages; some highlighters misuse it.
            named = natural if ("-" not in natural and len(natural) > 2) or natural in _SHORT_NAMES else None
    if not named:
        if not classes:
            return None
        named = _prefixed_name(classes) if "-" in classes or ":" in classes else None
        named = named or _bare_name(element, classes.split(), names)
    if not named:
        return None
    named = named.strip().lower()
    named = _OTHER_NAMES.get(named, named).removesuffix("-nolint")  # on MDN: not checked
    if named in _NO_LANGUAGE:
        return ""
    return named if _LANGUAGE.fullmatch(named) else None


def _prefixed_name(classes: str) -> str | None:
    """The language in a class name with a prefix such as `language-`."""
    for found in _LANGUAGE_CLASS.finditer(classes):
        name: str = found[1] or found[2]
        if not _ARRANGES.search(name):
            return name
    return None


def _bare_name(element: Element, words: Sequence[str], names: Mapping[str, str]) -> str | None:
    """The language that is a class name by itself, or follows a class of highlighters."""
    for word in words:
        if word in names:
            return names[word]
    if not _KNOWN.isdisjoint(words) and element.tag in _CODE:
        return next(word for word in words if word in _KNOWN)
    if len(words) == 2 and words[0] in _BESIDE_LANGUAGE and words[1] not in _BESIDE_BOTH:
        return words[1]
    return None


_NAMES_LANGUAGE: Final = re.compile(r"(?:^|\s)lang(?:uage)?-")
_CONTROLS: Final = frozenset(("button", "clipboard-copy", "input"))
_OWN_LINES: Final = "span.line, span[style*='display:block'], span[style*='display: block']"
_LEVELS: Final = 4  # of wrappers around the lines
_MANY: Final = 3  # lines; with fewer, numbers need a class or the like to be line numbers
_NOT_COPIED: Final = re.compile(r"select-none|number|lineno|line-no|gutter|\bln\b", re.I)
_LINES: Final = (".ec-line", ".line")  # Expressive Code, Shiki
_ADDED: Final = frozenset(("ins", "add"))
REMOVED: Final = frozenset(("del", "remove"))
"""Classes of deleted lines, which need a sign: without it the code would be wrong."""
CHANGED: Final = _ADDED | REMOVED
_CODE_OF_LINE: Final = ".code"


def split_variants(pre: Element) -> list[Element]:
    """Split a code block with one `code` element a language; returns the additional blocks.

    With several elements in one language, each of them is a line.
    """
    codes: list[Element] = []
    for child in pre:
        if isinstance(child, Element):
            if child.tag == "code":
                codes.append(child)
            elif child.tag not in _CONTROLS:
                return []
        elif isinstance(child, Text) and not child.data.isspace():
            return []
    if len(codes) < 2:
        return []
    names = [code.attr("class") or "" for code in codes]
    if len(set(names)) == len(names) and all(map(_NAMES_LANGUAGE.search, names)):
        attributes = {name: value for name, value in pre.attrs.items() if name != "id"}
        variants = [Element("pre", attributes) for _ in names[1:]]
        pre.insert_after(*variants)
        for block, code in zip((pre, *variants), codes, strict=True):
            block.append(code)
        for rest in list(pre)[:-1]:
            rest.extract()
        return variants
    for code in codes[1:]:
        if isinstance(before := code.previous_sibling, Element) and not before.text.endswith("\n"):
            code.insert_before(Text("\n"))
    return []


def add_line_ends(pre: Element) -> None:
    """Add line ends between lines that are separate elements."""
    for line in pre.select(_OWN_LINES)[1:]:
        if not (isinstance(before := line.previous_sibling, Element) and before.tag == "br"):  # Hexo ends lines with br
            line.insert_before(Text("\n"))


def drop_doubled_line_ends(page: Element) -> bool:
    """Remove the additional line ends that mandoc writes above each indented line of code."""
    for end in page.select("pre br"):
        before, after = end.previous_sibling, end.next_sibling
        if isinstance(after, Text) and (before is None or (isinstance(before, Text) and before.data.endswith("\n"))):
            after.data = after.data.removeprefix("\n")
            end.decompose()
    return False


def drop_unnamed_line_numbers(pre: Element) -> None:
    """Remove line numbers that no class marks."""
    holder = pre
    lines: list[Element] = []
    for _level in range(_LEVELS):
        if any(isinstance(child, Text) and not child.data.isspace() for child in holder):
            return
        lines = [child for child in holder if isinstance(child, Element)]
        if len(lines) != 1:
            break
        holder = lines[0]
    numbers = [line[0] for line in lines if len(line)]
    counted = [one for one in numbers if isinstance(one, Element)]
    if not counted or len(counted) < len(lines):
        return
    first = counted[0].text.strip()
    if not first.isdecimal() or len(first) > 6:
        return
    begin = int(first)
    if any(one.text.strip() != str(number) for number, one in enumerate(counted, begin)):
        return
    if (len(lines) >= _MANY and begin == 1) or all(map(_is_beside, counted)):
        for line, one in zip(lines, counted, strict=True):
            one.decompose()
            if not line.text and line.tag == "div":
                line.append(Text("\n"))  # An empty div would be no line.


def _is_beside(number: Element) -> bool:
    """True if a number is marked as not part of the code, or followed by a div with its line."""
    if isinstance(line := number.next_sibling, Element) and line.tag == "div":
        return True
    return number.attr("aria-hidden") == "true" or _NOT_COPIED.search(number.attr("class") or "") is not None


def add_diff_signs(pre: Element, changes: frozenset[str]) -> bool:
    """Add diff signs that are drawn by a style sheet, if any line has a class in `changes`."""
    for selector in _LINES:
        lines = [(line, frozenset((line.attr("class") or "").split())) for line in pre.select(selector)]
        if any(names & changes for _, names in lines):
            break
    else:
        return False
    for line, names in lines:
        sign = "+" if names & _ADDED else "-" if names & REMOVED else " "
        (line.select_one(_CODE_OF_LINE) or line).insert(0, Text(sign))
    return True


_LINE_NUMBERS: Final = (
    "[class]:is(.linenos, .lineno, .linenumber, .line-number, .gutter, .hljs-ln-numbers, .ln, .linenr, "
    ".source-line-no, .sourceLineNo, span.line-numbers, td.line-numbers)"
)
_UNSELECTABLE: Final = "span[style*=user-select]"  # Hugo's line numbers with styles instead of classes
_MORE_THAN_TEXT: Final = ":not(code)"
_MAYBE_NUMBERED: Final = "[class^=lin], .ln"
_MORE_THAN_COLOUR: Final = (
    ":not(span), [id], [style], [hidden], [aria-hidden], [class*=hidden], [class*='-'], [class*=lin], .ln"
)
_POPUPS: Final = ".twoslash-popup-container"  # the type of a name, shown on hover
_LINES_BESIDE: Final = "td.code > .container > .line"  # SyntaxHighlighter's lines, beside their numbers
_IN_A_WRAPPER: Final = 5  # nodes, at most
_COLOURING: Final = re.compile(r"</?(?:font|span|b|strong|i|em|u|a)(?: [^<>]*)?>")
_BREAK: Final = re.compile(r"<br ?/?>")
_ENTITY: Final = re.compile(r"&#?\w+;")
_LABELS: Final = ("div", "span", "header", "figcaption")
_LABEL_LEVELS: Final = 3
_HEADS_CODE: Final = re.compile(r"code|lang|header|toolbar|title|label", re.I)
_ALSO_CALLED: Final = {
    "javascript": ("js", "mjs", "cjs"), "typescript": ("ts",), "python": ("py", "python3"), "ruby": ("rb",),
    "rust": ("rs",), "shell": ("sh", "bash", "console"), "bash": ("sh", "shell"), "yaml": ("yml",),
    "c#": ("csharp", "cs"), "c++": ("cpp",), "go": ("golang",), "golang": ("go",), "js": ("javascript",),
    "markdown": ("md",), "kotlin": ("kt",), "objective-c": ("objc", "objectivec"), "f#": ("fsharp",),
}  # fmt: skip
_BUTTONS: Final = ("button", "clipboard-copy")


def merge_highlighted_code(listings: Iterable[Element]) -> None:
    """Merge highlighted code into one text. Half the elements of a manual are its coloured pieces."""
    for pre in listings:
        code = pre if len(pre) != 1 else pre.find("code") or pre
        if len(code) < 2 or isinstance(code[0], Comment):  # the position of an id
            continue
        if code.select_one(_MORE_THAN_COLOUR) is None:
            text = code.text
            if not text.lstrip()[:1].isdigit():  # else it may have line numbers
                code.set_text(text)


def convert_code_block(pre: Element, names: Mapping[str, str]) -> None:
    """Convert a code block; `names` are class names of languages."""
    if isinstance(pre.parent, Element) and pre.parent.tag == "pre":
        return  # part of the outer block
    code = pre.find("code")
    if code is not None and len(pre) > 1:
        for variant in split_variants(pre):
            convert_code_block(variant, names)
    if (classes := pre.attr("class")) and "twoslash" in classes:
        pre.remove(_POPUPS)
    text = pre.text
    if pre.select_one(_MORE_THAN_TEXT) is not None:
        if text.lstrip()[:1].isdigit() or pre.select_one(_MAYBE_NUMBERED) is not None:
            _drop_numbers(pre)
        if "\n" not in text:
            add_line_ends(pre)
        for part in list(pre.iter_elements((*_BUTTONS, "details", "li"))):
            if part.tag == "details":
                _unfold(part)
            elif part.tag == "li":
                beside = part.next_sibling
                if not part.text and not (isinstance(beside, Text) and "\n" in beside.data):
                    part.append(Text("\n"))  # a line with a number
            else:
                part.decompose()
    language = language_of(code, names) if code is not None else None
    here: Node | None = pre
    # Many generators name the language on a wrapper a few levels up, which contains little else.
    for _level in range(9):
        if language is not None or not isinstance(here, Element) or (here is not pre and not _wraps_little(here)):
            break
        language = language_of(here, names)
        here = here.parent
    if language:
        _drop_label(pre, language)
    if language == "diff":
        add_diff_signs(pre, CHANGED)
    elif ((classes and "has-diff" in classes) or pre.attr("data-language")) and add_diff_signs(pre, REMOVED):
        language = "diff"  # With added lines only, the code is complete, and its language is more useful.
    for part in (pre,) if code is None else (pre, code):
        if language is not None:
            part.attrs["class"] = f"language-{language}" if language else ""


def _unfold(lines: Element) -> None:
    """Show folded lines of code, without Expressive Code's count of them."""
    summary = lines.find("summary")
    if summary is not None and "ec-section" in (lines.attr("class") or ""):
        summary.decompose()
    lines.tag = "div"


def _drop_label(pre: Element, language: str) -> None:
    """Remove a label above the code that repeats its language."""
    here: Node | None = pre
    for _level in range(_LABEL_LEVELS):
        if not isinstance(here, Element):
            return
        before = here.previous_sibling
        while isinstance(before, Text) and not before.data.strip():
            before = before.previous_sibling
        if before is not None:
            if isinstance(before, Element) and before.tag in _LABELS and _HEADS_CODE.search(before.attr("class") or ""):
                label_text = "".join(before.text.lower().split())
                if language in (label_text, *_ALSO_CALLED.get(label_text, ())) and _is_standalone(before):
                    before.decompose()
            return
        here = here.parent


def _is_standalone(label: Element) -> bool:
    """True if it is neither part of a sentence nor a link target."""
    if label.attr("id") is not None or label.select_one("[id]") is not None:
        return False
    return label.tag != "span" or not any(
        not isinstance(one, Text) or one.data.strip() for one in label.previous_siblings
    )


def _drop_numbers(pre: Element) -> None:
    """Remove line numbers and the layout around them."""
    before = pre.text
    pre.remove(_LINE_NUMBERS)
    for span in pre.select(_UNSELECTABLE):
        if span.text.strip().isdigit():  # else it is a prompt
            span.decompose()
    if (text := pre.text) == before:
        drop_unnamed_line_numbers(pre)
        return
    if isinstance(last := pre[-1] if len(pre) else None, Text) and last.data.isspace():
        last.data = "\n"  # Javadoc has a screenful of empty lines below a source file.
    inner = pre.find("pre")
    if inner is not None and inner.text.strip() == text.strip():  # in a table, beside its line numbers
        code = inner.closest("code")
        (pre if code is None else code).set_text(inner.text)


def _wraps_little(element: Element) -> bool:
    try:
        element[_IN_A_WRAPPER]  # not `len`, which takes as long as there are nodes
    except IndexError:
        return True
    return False


def convert_drawn_code(element: Element) -> None:
    """Convert an element that is drawn as a code block, with an element or a table row for each line."""
    for row in element.select("tr + tr"):
        row.insert(0, Text("\n"))
    lines = element.select(_LINES_BESIDE) or [child for child in element if isinstance(child, Element)]
    texts = [line.text.rstrip("\n") for line in lines] if lines else [element.text]
    if all(text.startswith(" ") for text in texts if text.strip()) and any(map(str.strip, texts)):
        texts = [text[1:] for text in texts]  # a separator between line numbers and code
    text = "\n".join(texts)
    element.clear()
    element.tag = "pre"
    element.append(Text(text.replace("\xa0", " ")))


def convert_terminal(box: Element) -> None:
    """Remove tags in the text of a terminal session, which a script would interpret."""
    for pre in box.iter_elements("pre"):
        code = pre.find("code") or pre
        text, tags = _COLOURING.subn("", code.text)
        if tags:
            code.set_text(_ENTITY.sub(lambda found: unescape(found[0]), _BREAK.sub("\n", text)))


def convert_callouts(box: Element) -> bool:
    """Convert a table with remarks on a listing, number and text, to a numbered list."""
    table = next((child for child in box if isinstance(child, Element) and child.tag == "table"), None)
    if table is None:
        return False
    for row in table.select(":scope > tr, :scope > * > tr"):
        *numbers, remark = row.select(":scope > td") or [row]
        for number in numbers:
            for pin in [node for node in number.descendants if isinstance(node, Comment)]:
                remark.insert(0, pin)
            number.decompose()
        remark.tag = "div"
        row.tag = "li"
    table.strip_tags(":scope > tbody")
    table.tag = "ol"
    return True


def convert_diagram(element: Element) -> bool:
    """Convert the text of a Mermaid diagram to code."""
    text = element.text
    if not text.strip() or element.find("svg") is not None:
        return False
    element.clear()
    even = dedent(text.strip("\n"))
    # If only the first line is indented by the markup, the others keep their indentation.
    element.append(Text((text if even[:1].isspace() else even).strip()))
    element.tag = "pre"
    element.attrs["class"] = "language-mermaid"
    return True


_LONG: Final = 30  # characters; shorter code has no div
_BOXES: Final = ("div", "p", "ul", "ol", "li")  # elements in code that have lines of their own
_LISTS: Final = ("ul", "ol")
_BROKEN: Final = ("br", *_BOXES)
_NOT_READ: Final = ("button",)
_DEEPEST: Final = 20  # levels of lists that are indented
# Control characters mark block edges and indentation, since pages do not use them.
_EDGE: Final = "\0"
_STEP: Final = "\1"
_SET_IN: Final = "\2"
_WRAP: Final = "\3"  # a line end of the source: a blank, but not at the beginning of a line
_EDGES: Final = re.compile(r"[ \x03]?\n?\x00[\x00\x01\x02\x03 ]*")
_STEPS: Final = re.compile(r"(\x01*)\x02")
_WRAPPED: Final = re.compile(r"[ \t]*+\n[ \t\n]*+")
_INDENTED: Final = re.compile(r"(?<=\n)[ \t\x03]++")
_KEEPS_LINES: Final = re.compile(r"white-space\s*:\s*(?:pre|break-spaces)", re.I)
_MORE_THAN_LETTERS: Final = ":not(b, big, br, code, em, font, i, small, span, strong, u, var)"
_ONE_LINE: Final = "a, h1, h2, h3, h4, h5, h6, summary, dt, caption, label, button"
_INLINE_CODE: Final = "code, kbd, samp, tt"
_BREAK_IN_CODE: Final = f":is({_INLINE_CODE}) br"
_LINK_IN_CODE: Final = "code > a[href]:first-child"
_HOLDS_NO_LINK: Final = "pre, a, h1, h2, h3, h4, h5, h6"  # headings may link to themselves
_SEPARATORS: Final = ", \t\n\xa0"
_NEUTRAL: Final = ("span", "font")
_BLOCKS: Final = frozenset(
    (
        "article", "blockquote", "br", "center", "dd", "div", "dl", "figcaption", "figure", "h1", "h2", "h3", "h4",
        "h5", "h6", "hr", "li", "main", "ol", "p", "pre", "section", "table", "td", "th", "ul", "body",
    )
)  # fmt: skip


_Layouts = dict[Element, bool]
"""Tables → true if they are layout; a cache."""


def convert_code_spans(root: Element) -> None:
    """Convert all code outside of code blocks."""
    for link in root.select(_LINK_IN_CODE):
        if isinstance(code := link.parent, Element):
            _move_code_into_links(code)
    # Cheap checks first: a page has dozens, and most are a word or two.
    found = [
        code
        for code in root.iter_elements("code")
        if "\n" in (text := code.text)
        or text[:1] == " " == text[-1:]
        or (len(text) > _LONG and code.find("div") is not None)
    ]
    # Before tables, which would convert these line breaks.
    found += [code for br in root.select(_BREAK_IN_CODE) if (code := br.closest(_INLINE_CODE)) is not None]
    layouts: _Layouts = {}
    for code in dict.fromkeys(found):
        if code.parent is None or code.closest("pre") is not None:
            continue  # part of code that has become a block
        if code.tag == "samp":
            convert_sample_output(code, layouts)
        elif code.tag == "tt":
            convert_teletype(code, layouts)
        elif code.tag == "code":
            _convert_code_span(code, layouts)
        elif code.select_one(_MORE_THAN_LETTERS) is None and code.closest("code") is None:
            code.tag = "code"  # A key has no lines: this is text to type.
            _convert_code_span(code, layouts)


def _move_code_into_links(code: Element) -> bool:
    """Move code inside of the links that it consists of, since a code span cannot contain links."""
    if code.closest(_HOLDS_NO_LINK) is not None:
        return False
    links: list[Element] = []
    for node in code.children:
        if isinstance(node, Element):
            if node.tag != "a" or node.attr("href") is None:
                return False
            links.append(node)
        elif isinstance(node, Text) and node.data.strip(_SEPARATORS):
            return False
    if not links:
        return False
    for link in links:
        link.wrap_children(Element("code"))
    code.tag = "span"
    return True


def convert_sample_output(samp: Element, layouts: _Layouts | None = None) -> None:
    """Convert the output of a program (`samp`) as code."""
    if samp.closest("pre") is None and not _move_code_into_links(samp):
        _convert_code_span(samp, layouts or {})


def convert_teletype(tt: Element, layouts: _Layouts | None = None) -> None:
    """Convert `tt` to code, unless it contains links or blocks."""
    if tt.text.strip() and tt.select_one(_MORE_THAN_LETTERS) is None and tt.closest("pre, code") is None:
        tt.tag = "code"
        _convert_code_span(tt, layouts or {})


def _convert_code_span(code: Element, layouts: _Layouts) -> None:
    """Give code its visible lines."""
    if code.find("pre") is None:
        _convert_span_lines(code, code.text, layouts)
    else:
        _unwrap_block(code, code.text)


def _unwrap_block(code: Element, text: str) -> None:
    """Unwrap a code block inside of code."""
    pre = code.find("pre")
    if pre is not None and pre.text.strip() == text.strip():
        code.tag = "div"


def _convert_span_lines(code: Element, text: str, layouts: _Layouts) -> None:
    keeps = "\n" in text and (style := code.attr("style")) is not None and _KEEPS_LINES.search(style) is not None
    if keeps or code.find("br") is not None or code.find("div") is not None:
        lines = [line.replace("\xa0", " ").rstrip() for line in _text_with_line_ends(code, keeps=keeps).split("\n")]
        filled = [number for number, line in enumerate(lines) if line]
        if not filled:
            code.replace_with(Element("br"))
            return
        if len(lines) > 1:
            first, last = filled[0], filled[-1]
            edges = _Edges(begins_line=first > 0, ends_line=last < len(lines) - 1)
            _replace_span(code, lines[first : last + 1], edges, in_cell=_is_in_cell(code, layouts))
            return
    if "\n" in text or (text[:1] == " " == text[-1:] and text.strip() and code.closest("td, th") is not None):
        # Line ends of the source are blanks, and cells have no outer blanks; a code span would keep them all.
        if text[0].isspace() and code.previous_sibling is not None:
            code.insert_before(Text(" "))
        if text[-1].isspace() and code.next_sibling is not None:
            code.insert_after(Text(" "))
        code.text = " ".join(text.split())


def _text_with_line_ends(code: Element, *, keeps: bool) -> str:
    """Its text with the line ends that its elements make, and with list items indented."""
    for part in list(code.iter_elements(_NOT_READ)):
        part.decompose()
    if not keeps:
        for node in code.descendants:
            if isinstance(node, Text) and "\n" in node.data:
                node.data = _WRAPPED.sub(_WRAP, node.data)
    for part in list(code.iter_elements(_BROKEN)):
        if part.tag == "br":
            part.replace_with(Text("\n"))
            continue
        part.insert_before(Text(_EDGE))
        part.insert_after(Text(_EDGE))
        if part.tag == "li":
            part.insert(0, Text(_STEP * _depth(part, code) + _SET_IN))
        elif part.tag in _LISTS:
            part.insert_after(Text(_EDGE + _STEP * _depth(part, code) + _SET_IN))
    text = _EDGES.sub(_line_end, code.text)
    # At the beginning of a line, only no-break spaces are visible.
    return text if keeps else _INDENTED.sub("", text).replace(_WRAP, " ").strip(" ")


def _line_end(found: re.Match[str]) -> str:
    steps = _STEPS.findall(found[0])
    return "\n" + "\xa0\xa0" * len(steps[-1] if steps else "")


def _depth(item: Element, code: Element) -> int:
    """The number of lists around an item within code."""
    depth = 0
    for around in item.ancestors:
        if around is code or depth == _DEEPEST:
            break
        depth += isinstance(around, Element) and around.tag in _LISTS
    return depth


class _Edges(NamedTuple):
    """Line breaks in code before and after all of its text."""

    begins_line: bool
    ends_line: bool


def _is_in_cell(code: Element, layouts: _Layouts) -> bool:
    """True if code is in a table that is not layout."""
    cell = code.closest("td, th")
    while cell is not None and (table := cell.closest("table")) is not None:
        if table not in layouts:
            layouts[table] = is_layout(table)
        if not layouts[table]:
            return True
        cell = table.closest("td, th")
    return False


def _replace_span(code: Element, lines: Sequence[str], edges: _Edges, *, in_cell: bool) -> None:
    """Convert code with lines: a block if it stands alone, else a span for each line."""
    if code.closest(_ONE_LINE) is not None:
        spans: list[Node] = [code_span(" ".join(" ".join(lines).split()))]
    else:
        if len(lines) > 1 and not in_cell and (boxes := _wrappers_of(code, edges)) is not None:
            _make_block(code, lines, boxes)
            return
        spans = []
        for line in lines:
            if spans:
                spans.append(Element("br"))
            if line:
                spans.append(code_span(line))
    if edges.begins_line and _first_visible(code.previous_siblings) is not None:
        spans.insert(0, Element("br"))
    if edges.ends_line and _first_visible(code.next_siblings) is not None:
        spans.append(Element("br"))
    code.replace_with(*spans)


def _make_block(code: Element, lines: Sequence[str], boxes: Sequence[Element]) -> None:
    code.tag = "pre"
    code.set_text("\n".join(lines))
    for box in boxes:
        box.tag = "div"
    for beside in (_first_visible(code.previous_siblings), _first_visible(code.next_siblings)):
        if isinstance(beside, Element) and beside.tag == "br":
            beside.extract()  # redundant beside a block


def _wrappers_of(code: Element, edges: _Edges) -> list[Element] | None:
    """The inline wrappers of code that stands alone; `None` if it is part of a sentence."""
    begins_line, ends_line = edges
    boxes: list[Element] = []
    here = code
    for _level in range(_DEEPEST):
        before, after = _first_visible(here.previous_siblings), _first_visible(here.next_siblings)
        if not ((begins_line or _is_edge(before)) and (ends_line or _is_edge(after))):
            return None
        begins_line, ends_line = begins_line and before is None, ends_line and after is None
        parent = here.parent
        if not isinstance(parent, Element):
            return None
        if parent.tag in _NEUTRAL or parent.tag == "p":
            boxes.append(parent)
        if parent.tag in _BLOCKS:
            return boxes
        if parent.tag not in _NEUTRAL:
            return None
        here = parent
    return None


def _is_edge(node: Node | None) -> bool:
    """True if a line ends at this node."""
    return node is None or (isinstance(node, Element) and node.tag in _BLOCKS)


def _first_visible(siblings: Iterable[Node]) -> Node | None:
    """The first visible node."""
    for node in siblings:
        if not isinstance(node, Comment) and not (isinstance(node, Text) and not node.data.strip()):
            return node
    return None
