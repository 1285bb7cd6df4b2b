"""Thousands of paths made to break out of a folder, served by a site and mirrored: every file is inside the tree."""

from __future__ import annotations

import os
from html import escape
from pathlib import Path
from urllib.parse import quote

import pytest

from tests.conftest import RunCli
from tests.site import Exchange, Site
from tests.site.answers import page_answer
from tests.spec.mirrored import FAST, Mirrored

ESCAPES = """
    ../../../../etc/passwd ..%2f..%2f..%2fetc%2fpasswd %2e%2e/%2e%2e/x ..\\..\\x ..%5c..%5cx ....//....//x ..;/..;/x
    %252e%252e%252fx /%2e%2e%2f%2e%2e%2fabs //host/share \\\\host\\share C:\\x C:%5cx %00/../x x%00.md ..%c0%af..%c0%afx
    ..%ef%bc%8fx %e2%80%ae/..%2f con aux.txt nul. . .. ... %20 a%20/..%20/b ~/.ssh/id ~root $HOME `id` |id
    _manifest.json _state.sqlite3 _failed/../_processed.txt .git/config .htaccess mirror-index.json
    sitemap-20260101-000000.md
"""


async def _says_its_path(exchange: Exchange) -> None:
    if exchange.seen.path in ("/sitemap.xml", "/robots.txt"):
        await exchange.send(exchange.answer)
    else:
        await exchange.send(page_answer(f"<h1>a page</h1><p>{escape(exchange.seen.path)}</p>", {}))


def _mirror(site: Site, out: Path, run_cli: RunCli, paths: list[str]) -> Mirrored:
    rows = "".join(f"<url><loc>{site.url}/{escape(path)}</loc></url>" for path in paths)
    site.page("/sitemap.xml", f"<urlset>{rows}</urlset>", type="application/xml")
    site.fault("*", _says_its_path)
    run_cli("mirror", site.url, *FAST, "--output", out, "--quiet", "--concurrency", 8, timeout=170)
    return Mirrored.of(site, out)


def _all_inside(mirrored: Mirrored, out: Path, around: Path) -> None:
    manifest = mirrored.manifest
    root = mirrored.folder.resolve(strict=True)
    paths = [page["path"] for page in manifest["pages"]]
    assert len(set(paths)) == len(paths)
    for page in manifest["pages"]:
        file = mirrored.folder / page["path"]
        assert file.resolve(strict=True).is_relative_to(root)
        assert "a page" in file.read_text(encoding="utf-8")
    # Nothing else has come into being: not beside the tree, not in it.
    assert [folder.name for folder in out.iterdir()] == [mirrored.folder.name]
    assert {entry.name for entry in around.iterdir()} == {out.name}
    for folder, folders, files in os.walk(out):
        assert not any((Path(folder) / name).is_symlink() for name in (*folders, *files))
    names = {file.relative_to(mirrored.folder).as_posix() for file in mirrored.folder.rglob("*") if file.is_file()}
    assert set(paths) <= names
    assert all(name.startswith("_") and not name.startswith("__") for name in names - set(paths))


def test_no_path_leads_out(site: Site, tmp_path: Path, run_cli: RunCli) -> None:
    """Dots, slashes, drives, devices and the tool's own names, plain and encoded once more: each a file inside."""
    out = tmp_path / "around" / "out"
    out.parent.mkdir()
    paths = [*ESCAPES.split(), *(quote(path, safe="") for path in ESCAPES.split())]
    mirrored = _mirror(site, out, run_cli, paths)
    assert mirrored.manifest["successful"] > 40
    _all_inside(mirrored, out, out.parent)


@pytest.mark.vectors
@pytest.mark.timeout(200)
def test_vectors_of_paths(site: Site, tmp_path: Path, run_cli: RunCli, vectors: Path) -> None:
    """Every eleventh of 22,424 payloads in a real run; tests/store/test_vectors.py maps all of them."""
    lines = (vectors / "paths" / "payloads.txt").read_text("utf-8", "replace").split("\n")
    out = tmp_path / "around" / "out"
    out.parent.mkdir()
    mirrored = _mirror(site, out, run_cli, [quote(line, safe="/%.;:\\") for line in lines[::11] if line])
    manifest = mirrored.manifest
    assert manifest["successful"] > 1500
    assert manifest["failures"] == []
    _all_inside(mirrored, out, out.parent)
