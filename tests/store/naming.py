"""What a path in a mirror has to be, said independently of the code that makes it, and URLs to try it on."""

from __future__ import annotations

import re
import unicodedata
from urllib.parse import quote

from hypothesis import assume
from hypothesis import strategies as st

from sitemirror.urls import InvalidUrl, normalize

SITE = "https://example.com"

_DEVICES = {"con", "prn", "aux", "nul", "conin$", "conout$"} | {
    f"{name}{digit}" for name in ("com", "lpt") for digit in "123456789¹²³"
}
_OWN_FILES = re.compile(r"_(?!_|mirror-index|sitemap-\d)|mirror-index\.json|sitemap-\d{8}-\d{6}\.md", re.I)


def objections(path: str) -> list[str]:
    """What some common file system, or the tool itself, has against `path`. Empty for a good path."""
    found = []
    if len(path.encode()) > 1000:
        found.append("path too long")
    # Variation selectors do not count where case does not.
    if _OWN_FILES.match(re.sub("[\ufe00-\ufe0f]", "", path.split("/")[0])):
        found.append("in the place of the tool's own files")
    for name in path.split("/"):
        if name in ("", ".", ".."):
            found.append(f"not a name: {name!r}")
        if len(name) > 200 or len(name.encode()) > 240:
            found.append("name too long")
        if name.endswith((".", " ")):
            found.append(f"Windows cuts {name!r}")
        if name.split(".")[0].casefold() in _DEVICES:
            found.append(f"a device: {name!r}")
        if unicodedata.normalize("NFC", name) != name:
            found.append(f"not NFC: {name!r}")
        if bad := {c for c in name if c in '<>:"/\\|?*' or c.isspace() or unicodedata.category(c) in ("Cc", "Cs")}:
            found.append(f"refused characters: {bad!r}")
    return found


def url_for(path: str) -> str:
    """A URL path as a sitemap might write it, made absolute."""
    return normalize(SITE + "/" + path.removeprefix("/"))


_OWN_NAMES = st.sampled_from(
    ["_manifest.json", "_lock", "mirror-index.json", "sitemap-20260103-200000.md", "a__q_0cc175b9.md", "x.tmp", ".git"]
)
_PAGE_NAMES = st.sampled_from(
    ["index.html", "index.md", "index", "a", "A", "a.html", "a.md", "ß", "ss", "é", "e\u0301"]
)
_ODD_NAMES = st.sampled_from(
    [
        "",
        ".",
        "..",
        "...",
        "con",
        "NUL.txt",
        "com¹",
        "CONIN$",
        "İ",
        "ı",
        "\ufe0f_manifest.json",
        "\u202e",
        "a b",
        "a ",
        "a.",
    ]
)
_LONG_NAMES = st.sampled_from(
    ["a" * 180, "a" * 197, "a" * 198, "a" * 201, "ж" * 119, "ж" * 121, "😀" * 60, "😀" * 61, "e" * 300]
)
_NAMES = st.one_of(
    _OWN_NAMES, _PAGE_NAMES, _ODD_NAMES, _LONG_NAMES, st.text(max_size=8), st.text("aAbB._-/%é", max_size=4)
)


@st.composite
def urls(draw: st.DrawFn) -> str:
    """Normalised URLs of one host, mild and nasty."""
    spelled = []
    for name in draw(st.lists(_NAMES, max_size=9)):
        data = name.encode("utf-8", "surrogatepass")
        spelled.append(draw(st.sampled_from([quote(data, safe=""), quote(data, safe="/:;=@"), quote(data[:-1], "")])))
    query = draw(st.sampled_from(["", "", "?", "?a", "?A", "?q=1&p=2"]))
    try:
        return normalize(f"{SITE}/{'/'.join(spelled)}{query}")
    except InvalidUrl:
        assume(False)
        raise AssertionError from None
