"""Paths and names that others collected to break programs like this one."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from sitemirror.store.files import Tree
from sitemirror.store.paths import asset_path, collision_path, fold, folders_above, page_path
from sitemirror.urls import InvalidUrl, normalize
from tests.store.naming import SITE, objections
from tests.store.placed import Placed

pytestmark = pytest.mark.vectors


def _lines(file: Path) -> list[Any]:
    return [json.loads(line) for line in file.read_text("utf-8").split("\n") if line.strip()]


def _urls(texts: list[str]) -> set[str]:
    """Each text as a path, both as it stands and percent-encoded."""
    found = set()
    for text in texts:
        for spelled in (text, quote(text, safe="")):
            try:
                found.add(normalize(f"{SITE}/{spelled}"))
            except InvalidUrl:
                continue
    return found


def _settled(urls: set[str]) -> dict[str, str]:
    with tempfile.TemporaryDirectory() as folder:
        placed = Placed(Path(folder), writes=False)
        for url in sorted(urls, reverse=True):
            placed.save(url, page_path(url))
        placed.settle()
        settled = placed.paths
    assert set(settled) == urls
    files = {fold(path) for path in settled.values()}
    assert len(files) == len(urls)
    assert not files & {folder for path in files for folder in folders_above(path)}
    return settled


def test_attack_payloads_map_inside_the_tree(vectors: Path) -> None:
    """Thousands of traversal and injection strings as URL paths: each a valid file of its own."""
    payloads = (vectors / "paths" / "payloads.txt").read_text("utf-8", "replace").split("\n")
    urls = _urls(payloads)
    assert len(urls) > 20_000
    settled = _settled(urls)
    assert [problem for path in settled.values() for problem in objections(path)] == []
    assert [problem for url in sorted(urls)[::5] for problem in objections(asset_path(url))] == []


def test_odd_segments_can_be_written(vectors: Path, out: Path) -> None:
    """Names collected from other projects' tests, as real files."""
    urls = _urls(_lines(vectors / "names" / "segments.jsonl"))
    settled = _settled(urls)
    tree = Tree(out, min_free_mb=0)
    tree.prepare()
    for url, path in settled.items():
        assert objections(path) == []
        tree.write(path, url.encode())
    assert all(tree.read(path) == url.encode() for url, path in settled.items())
    assert sum(1 for file in out.rglob("*") if file.is_file()) == len(urls)


def test_case_pairs_collide(vectors: Path) -> None:
    """Unicode's case folding pairs are recognised as collisions, and both pages are saved."""
    for pair in _lines(vectors / "names" / "casefold_pairs.jsonl"):
        one, other = (normalize(SITE + pair[side]) for side in "ab")
        assert fold(page_path(one)) == fold(page_path(other)), pair
        assert len(_settled({one, other})) == 2


def test_composed_and_decomposed_spellings_collide(vectors: Path) -> None:
    """NFC and NFD of a name map to one path; both URLs keep a file."""
    for pair in _lines(vectors / "names" / "nfc_nfd_pairs.jsonl"):
        one, other = (normalize(SITE + pair[side]) for side in ("nfc", "nfd"))
        assert fold(page_path(one)) == fold(page_path(other)), pair
        assert len(_settled({one, other})) == len({one, other})


def test_queries_that_share_a_hash_are_both_saved(vectors: Path) -> None:
    """The first in order keeps the short name, the other gets the hash of its URL."""
    for pair in _lines(vectors / "names" / "md5_8_query_collisions.jsonl"):
        first, second = sorted(f"{SITE}/c?{pair[side]}" for side in "ab")
        name = f"c__q_{pair['md5_8']}.md"
        assert _settled({first, second}) == {first: name, second: collision_path(name, second)}
