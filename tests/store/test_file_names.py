"""Segments become file names, and `fold` says which names are equal."""

from __future__ import annotations

import sys
from unicodedata import normalize

import pytest

from sitemirror.store.paths import digest, fold, keep_free, name_of, split_extension, with_ending


@pytest.mark.parametrize(
    ("segment", "name"),
    [
        ("plain-name_1.2", "plain-name_1.2"),
        ("two%20words", "two_words"),
        ("a%2Fb%5Cc", "a_b_c"),
        ("a%2525b", "a%25b"),  # decoded once, not twice
        ("%D0%BF%D1%80%D0%B8", "при"),
        ("caf%65%CC%81", "café"),
        ("%FFx%C3", "%FFx%C3"),
        ("%ED%A0%80", "%ED%A0%80"),  # a lone surrogate
        ("%3C%3E%3A%22%7C%3F%2A", "_______"),
        ("a%00b%1Bc%7F%C2%85", "a_b_c__"),
        ("%E2%80%AEtxt.exe", "_txt.exe"),
        ("zero%E2%80%8Bwidth", "zero_width"),
        ("%EF%BF%BE%F0%9F%BF%BF", "__"),
        (".well-known", ".well-known"),
        ("...", "___"),
        ("mr..", "mr__"),
        ("mr.%20", "mr._"),
        ("", "_"),
        ("con", "con_"),
        ("aux.txt", "aux_.txt"),
        ("Com7.tar.gz", "Com7_.tar.gz"),
        ("lpt%C2%B2", "lpt²_"),
        ("CONIN$", "CONIN$_"),
        ("console", "console"),
        ("com10", "com10"),
        ("con%20", "con_"),
        (".git", ".git_"),
        ("GIT~1", "GIT~1_"),
        (".gitignore", ".gitignore"),
        ("a;v=1~2", "a;v=1~2"),
        ("❤%EF%B8%8F", "❤\ufe0f"),
    ],
)
def test_segment_becomes_a_portable_name(segment: str, name: str) -> None:
    """Each kind of character that some system refuses is replaced, and nothing else."""
    assert name_of(segment) == name


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("_manifest.json", "__manifest.json"),
        ("__x", "___x"),
        ("Mirror-Index.JSON", "_Mirror-Index.JSON"),
        ("sitemap-20260103-200000.md", "_sitemap-20260103-200000.md"),
        ("\ufe0f_state.sqlite3", "_\ufe0f_state.sqlite3"),
        ("sitemap.xml", "sitemap.xml"),
        ("mirror-index.html", "mirror-index.html"),
        ("docs", "docs"),
    ],
)
def test_names_do_not_collide_with_our_own_files(name: str, kept: str) -> None:
    """A name that would, on whichever file system, gets one more underscore."""
    assert keep_free(name) == kept


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("A/b", "a/B"),
        ("straße", "STRASSE"),
        ("ẞ", "ss"),
        ("é", "e\u0301"),
        ("Å", "\u212b"),
        ("ﬁn", "FIN"),
        ("ς", "Σ"),
        ("ı", "I"),
        ("ᾼ", "ᾳ"),
        ("\u0345\u0301", "\u0301\u0399"),
        ("❤\ufe0f", "❤"),
        ("ǅ", "ǆ"),
    ],
)
def test_names_that_some_file_system_merges_fold_to_one(one: str, other: str) -> None:
    """Case, full case folding, composition and invisible characters do not separate files everywhere."""
    assert fold(one) == fold(other)


@pytest.mark.parametrize(("one", "other"), [("a", "b"), ("é", "e"), ("a/b", "a_b"), ("İ", "I"), ("a.", "a")])
def test_names_that_every_file_system_separates_stay_different(one: str, other: str) -> None:
    """Folding does not go further than file systems do."""
    assert fold(one) != fold(other)


def test_folding_is_stable_for_every_character() -> None:
    """Folding again changes nothing, nor do case and normal form before it."""
    for code in range(sys.maxunicode + 1):
        if 0xD800 <= code < 0xE000:
            continue
        char = chr(code)
        if char.isascii() or (not char.isalpha() and normalize("NFD", char) == char and char.upper() == char):
            continue
        folded = fold(char)
        assert fold(folded) == folded, hex(code)
        assert fold(char.upper()) == fold(char.lower()) == folded or char in "İ", hex(code)
        assert fold(normalize("NFC", char)) == fold(normalize("NFD", char)) == folded, hex(code)


def test_hashes_continue_after_the_md5() -> None:
    """The first 32 digits are the md5; URLs made to share it still differ further on."""
    assert digest("q=test&page=2") == "93b5eb01"
    assert digest("x", 32) == "9dd4e461268c8034f5c8564e155c67a6"
    assert digest("x", 96).startswith(digest("x", 32))
    assert len(digest("x", 96)) == 96


@pytest.mark.parametrize("stem", ["a" * 300, "ж" * 300, "😀" * 300, "a" + "😀" * 300])
def test_cutting_respects_characters_and_both_limits(stem: str) -> None:
    """A long stem is cut as little as the limits of 200 characters and 240 bytes require."""
    name = with_ending(stem, "_12345678.md")
    kept = name.removesuffix("_12345678.md")
    assert stem.startswith(kept)
    assert len(name) <= 200
    assert len(name.encode()) <= 240
    longer = stem[: len(kept) + 1] + "_12345678.md"
    assert len(longer) > 200 or len(longer.encode()) > 240


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("logo.png", ("logo", ".png")),
        ("a.tar.gz", ("a.tar", ".gz")),
        ("README", ("README", "")),
        (".htaccess", (".htaccess", "")),
        ("v1.long sentence", ("v1.long sentence", "")),
        ("a.ж", ("a.ж", "")),
    ],
)
def test_only_short_alphanumeric_endings_are_extensions(name: str, parts: tuple[str, str]) -> None:
    """Hashes go before an extension, so it has to be certain."""
    assert split_extension(name) == parts
