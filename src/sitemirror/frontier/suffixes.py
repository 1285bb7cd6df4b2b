"""The public suffix list: which part of a host's name anybody can register names under.

The list is the one that comes with tldextract. It is read from there without importing tldextract, which would bring a
second HTTP client along, to download newer lists with: 12 MB and a third of a second that a mirror has no use for.
"""

from __future__ import annotations

from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Final

import ada_url

_LIST: Final = ".tld_set_snapshot"


def suffix_length(labels: list[str]) -> int:
    """How many of a host's last labels are a public suffix, private registries' included; 0 for an unlisted one."""
    rules = _rules()
    for at in range(len(labels)):
        name, parent = ".".join(labels[at:]), ".".join(labels[at + 1 :])
        if f"!{name}" in rules:
            return len(labels) - at - 1
        if name in rules or (parent and f"*.{parent}" in rules):
            return len(labels) - at
    return 0


@lru_cache(maxsize=1)
def _rules() -> frozenset[str]:
    lines = _bundled() or _from_library()
    return frozenset(line if line.isascii() else _ascii(line) for line in lines)


def _bundled() -> list[str]:
    """The rules in tldextract's file, as they stand there."""
    spec = find_spec("tldextract")
    folders = spec.submodule_search_locations if spec is not None else None
    for folder in folders or ():
        path = Path(folder) / _LIST
        if path.is_file():
            lines = path.read_text(encoding="utf-8").split("\n")
            return [line.split()[0] for line in lines if line.strip() and not line.startswith("//")]
    return []


def _from_library() -> list[str]:
    """The same through tldextract itself, should it ever keep the list elsewhere."""
    import tldextract

    # No suffix_list_urls: the list comes with the package, nothing is downloaded.
    return list(tldextract.TLDExtract(cache_dir=None, suffix_list_urls=(), include_psl_private_domains=True).tlds)


def _ascii(rule: str) -> str:
    """A rule as hosts are spelled here: in ASCII."""
    mark = rule[: len(rule) - len(rule.lstrip("!*."))]
    encoded: str = ada_url.idna_to_ascii(rule[len(mark) :]).decode()
    return mark + encoded
