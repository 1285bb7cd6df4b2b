"""The language of a code block, which pages name in one of many ways."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from turbohtml import Element

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
# Class names that mean a language without a word beside them, on code alone: elsewhere some are words like any other.
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
# What code is wrapped in by names that begin like those: `highlight-wrapper`, `lang-switcher`.
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
}  # GitHub's and SyntaxHighlighter's
_SHORT_NAMES: Final = frozenset(("c", "r", "js", "ts", "go", "py", "rb", "rs", "cs", "sh", "kt", "hs", "md"))


def language_of(element: Element, names: Mapping[str, str]) -> str | None:
    """The language that `element` names; empty if it says that there is none, `None` if it says nothing."""
    classes = element.attr("class")
    named = None
    if len(element.attrs) > (classes is not None):  # Most have nothing but a class; looking for each name takes longer.
        named = next((value for name in _LANGUAGE_ATTRIBUTES if (value := element.attr(name))), None)
        if named is None and (settings := element.attr(_SETTINGS)):
            named = _prefixed_name(settings)
        if named is None and element.tag == "pre" and (spoken := element.attr("lang")):
            # `lang` is for what people speak; some renderers misuse it.
            named = spoken if ("-" not in spoken and len(spoken) > 2) or spoken in _SHORT_NAMES else None
    if not named:
        if not classes:
            return None
        named = _prefixed_name(classes) if "-" in classes or ":" in classes else None
        named = named or _bare_name(element, classes.split(), names)
    if not named:
        return None
    named = named.strip().lower()
    named = _OTHER_NAMES.get(named, named).removesuffix("-nolint")  # MDN's, of code that is not checked
    if named in _NO_LANGUAGE:
        return ""
    return named if _LANGUAGE.fullmatch(named) else None


def _prefixed_name(classes: str) -> str | None:
    """The language that a class name ends with, after a word that says so."""
    for found in _LANGUAGE_CLASS.finditer(classes):
        name: str = found[1] or found[2]
        if not _ARRANGES.search(name):
            return name
    return None


def _bare_name(element: Element, words: Sequence[str], names: Mapping[str, str]) -> str | None:
    """The language that is a class name of its own, or stands beside one that says what the element is."""
    for word in words:
        if word in names:
            return names[word]
    if not _KNOWN.isdisjoint(words) and element.tag in _CODE:
        return next(word for word in words if word in _KNOWN)
    if len(words) == 2 and words[0] in _BESIDE_LANGUAGE and words[1] not in _BESIDE_BOTH:
        return words[1]
    return None
