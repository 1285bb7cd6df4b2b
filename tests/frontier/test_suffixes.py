"""Whose name a host is: the public suffix list, read without the library that brings it."""

from __future__ import annotations

import subprocess
import sys

import pytest
import tldextract

from sitemirror.frontier import suffixes
from sitemirror.frontier.scope import registrable_domain


@pytest.mark.parametrize(
    ("host", "domain"),
    [
        ("example.com", "example.com"),
        ("docs.example.com", "example.com"),
        ("a.b.example.co.uk", "example.co.uk"),
        ("alice.github.io", "alice.github.io"),  # a private registry's suffix counts
        ("x.alice.github.io", "alice.github.io"),
        ("x.b.c.kobe.jp", "b.c.kobe.jp"),  # *.kobe.jp
        ("x.city.kobe.jp", "city.kobe.jp"),  # !city.kobe.jp
        ("x.www.ck", "www.ck"),
        ("xn--85x722f.xn--55qx5d.cn", "xn--85x722f.xn--55qx5d.cn"),  # 食狮.公司.cn
        ("x.xn--85x722f.xn--55qx5d.cn", "xn--85x722f.xn--55qx5d.cn"),
        ("wiki.intranet.corp", "intranet.corp"),  # no such top level
        ("co.uk", "co.uk"),
        ("localhost", "localhost"),
        ("docs.localhost", "docs.localhost"),
        ("example.com.", "example.com"),
        ("127.0.0.1", "127.0.0.1"),
        ("[::1]", "[::1]"),
    ],
)
def test_the_domain_that_somebody_registered(host: str, domain: str) -> None:
    """Wildcards, exceptions, private registries and names in other scripts."""
    assert registrable_domain(host) == domain


def test_the_list_is_the_library_s() -> None:
    """Every rule that tldextract knows is known here, and no other."""
    library = tldextract.TLDExtract(cache_dir=None, suffix_list_urls=(), include_psl_private_domains=True)
    assert set(suffixes._bundled()) == set(library.tlds)


def test_no_second_http_client_is_loaded() -> None:
    """Looking a domain up imports neither tldextract nor requests."""
    code = (
        "import sys; from sitemirror.frontier.scope import registrable_domain; registrable_domain('docs.example.com');"
        "print(*{'tldextract', 'requests'} & set(sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "\n"
