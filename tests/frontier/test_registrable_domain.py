"""Registrable domains, by the public suffix list."""

from __future__ import annotations

import subprocess
import sys

import pytest

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


def test_no_http_client_is_loaded() -> None:
    """Looking a domain up loads the bundled list alone, and importing the scope not even that."""
    code = (
        "import sys; from sitemirror.frontier.scope import registrable_domain;"
        "print('publicsuffixlist' in sys.modules); registrable_domain('docs.example.com');"
        "print('publicsuffixlist' in sys.modules, *{'aiohttp', 'requests', 'urllib3'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["False", "True"]
