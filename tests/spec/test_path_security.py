"""Requirement: Security Path Validation."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.conftest import RunHere
from tests.site import Site
from tests.spec.mirrored import FAST, Mirrored

symlinks = pytest.mark.skipif(os.name == "nt", reason="making a symlink needs a privilege on Windows")


@symlinks
def test_symlink_escape_prevention(site: Site, out: Path, tmp_path: Path, run_here: RunHere) -> None:
    """Symlink escape prevention: links planted in the tree lead no byte outside it."""
    outside = tmp_path / "outside"
    outside.mkdir()
    secret = outside / "secret.txt"
    secret.write_text("untouched", encoding="utf-8")
    mirrored = Mirrored.of(site, out)
    (mirrored.folder / "page").mkdir(parents=True)
    (mirrored.folder / "docs").symlink_to(outside, target_is_directory=True)
    (mirrored.folder / "page" / "index.md").symlink_to(secret)
    for path in ("/docs/deep/evil", "/page", "/honest"):
        site.html_page(path, path, f"<h1>{path}</h1>")
    site.sitemap()

    done = run_here("mirror", site.url, *FAST, "--output", out)

    assert [path.name for path in outside.iterdir()] == ["secret.txt"]
    assert secret.read_text(encoding="utf-8") == "untouched"
    assert done.returncode == 1
    assert done.json["error"] == f"{mirrored.folder.name}/docs is a symlink in the output folder"
    assert "Traceback" not in done.stderr

    # Without the link to a folder all is saved; the one in a page's place gives way to the page.
    (mirrored.folder / "docs").unlink()
    assert run_here("mirror", site.url, *FAST, "--output", out).json["successful"] == 3
    assert mirrored.pages == {"docs/deep/evil/index.md", "page/index.md", "honest/index.md"}
    assert not (mirrored.folder / "page" / "index.md").is_symlink()
    assert secret.read_text(encoding="utf-8") == "untouched"


@symlinks
@pytest.mark.parametrize("name", ["_processed.txt", "_manifest.json", "_failed.log", "_state.sqlite3", "_failed"])
def test_symlink_escape_prevention_for_own_files(
    site: Site, out: Path, tmp_path: Path, run_here: RunHere, name: str
) -> None:
    """Symlink escape prevention: the tool's own files are not written through a link either."""
    outside = tmp_path / "outside"
    outside.mkdir()
    target = outside / "target"
    if name == "_failed":
        target.mkdir()
    else:
        target.touch()
    mirrored = Mirrored.of(site, out)
    mirrored.folder.mkdir(parents=True)
    (mirrored.folder / name).symlink_to(target)
    site.fill(1)
    site.sitemap(urls=["/page/0001", "/missing"])

    done = run_here("mirror", site.url, *FAST, "--output", out)

    assert [path.name for path in outside.iterdir()] == ["target"]
    if target.is_dir():
        assert list(target.iterdir()) == []
    else:
        assert target.read_bytes() == b""
    if name == "_manifest.json":  # which is replaced as a whole
        assert (done.returncode, done.json["successful"]) == (0, 1)
        assert mirrored.manifest["successful"] == 1
    else:
        assert done.returncode == 1
        assert done.json["error"] == f"{mirrored.folder.name}/{name} is a symlink in the output folder"
        (mirrored.folder / name).unlink()
        assert run_here("mirror", site.url, *FAST, "--output", out).json["successful"] == 1
    assert mirrored.pages == {"page/0001/index.md"}


@symlinks
def test_symlink_escape_prevention_for_the_host_folder(
    site: Site, out: Path, tmp_path: Path, run_here: RunHere
) -> None:
    """Symlink escape prevention: a host's folder that is a link is refused, the output folder itself may be one."""
    outside = tmp_path / "outside"
    outside.mkdir()
    mirrored = Mirrored.of(site, out)
    out.mkdir()
    mirrored.folder.symlink_to(outside, target_is_directory=True)
    site.fill(1)
    site.sitemap()

    done = run_here("mirror", site.url, *FAST, "--output", out)

    assert done.returncode == 1
    assert "symlink" in done.json["error"]
    assert list(outside.iterdir()) == []
    assert site.count("/page/0001") == 0

    (tmp_path / "elsewhere").symlink_to(outside, target_is_directory=True)
    assert run_here("mirror", site.url, *FAST, "--output", tmp_path / "elsewhere").json["successful"] == 1
    assert Mirrored.of(site, outside).pages == {"page/0001/index.md"}


def test_parent_directory_traversal(site: Site, out: Path, tmp_path: Path, run_here: RunHere) -> None:
    """Parent directory traversal: however the dots are spelt, every page is saved, and inside the tree."""
    on_the_wire = {
        "/../../../../tmp/evil-1": "/tmp/evil-1",
        "/docs/%2e%2e/%2E%2E/%2e./evil-2": "/evil-2",
        "/docs/..%2f..%2f..%2fevil-3": "/docs/..%2f..%2f..%2fevil-3",
        "/docs/..%5c..%5cevil-4": "/docs/..%5c..%5cevil-4",
        "/docs/%252e%252e/evil-5": "/docs/%252e%252e/evil-5",
        "/docs/....//evil-6": "/docs/....//evil-6",
        "/docs\\..\\..\\evil-7": "/evil-7",
        "/%2fetc%2fevil-8": "/%2fetc%2fevil-8",
        "/docs/%00/../evil-9": "/docs/evil-9",
        "/C:%5cevil-10": "/C:%5cevil-10",
        "/_state.sqlite3/../_manifest.json": "/_manifest.json",
    }
    for number, path in enumerate(on_the_wire.values(), 1):
        site.html_page(path, f"Evil {number}", f"<h1>page number {number}</h1>")
    # As they stand: the test site itself would tidy them up.
    rows = "".join(f"<url><loc>{site.url}{path}</loc></url>" for path in on_the_wire)
    site.page("/sitemap.xml", f"<urlset>{rows}</urlset>", type="application/xml")
    around = set(tmp_path.rglob("*"))

    done = run_here("mirror", site.url, *FAST, "--output", out)

    assert {seen.path for seen in site.requests if seen.status == 200} >= set(on_the_wire.values())
    assert done.json["successful"] == len(on_the_wire), done.stderr
    mirrored = Mirrored.of(site, out)
    new = {path for path in tmp_path.rglob("*") if path not in around and path != out}
    assert all(path.resolve().is_relative_to(out.resolve()) for path in new)
    assert [folder.name for folder in out.iterdir()] == [mirrored.folder.name]
    assert not list(Path("/tmp").glob("evil-1*"))
    entries = mirrored.manifest["pages"]  # which is the tool's own file still
    assert len({entry["path"] for entry in entries}) == len(on_the_wire)
    for entry in entries:
        file = (mirrored.folder / entry["path"]).resolve(strict=True)
        assert file.is_relative_to(mirrored.folder.resolve(strict=True))
        assert ".." not in Path(entry["path"]).parts
        assert f"# page number {entry['title'].removeprefix('Evil ')}\n" in file.read_text(encoding="utf-8")
    assert len({entry["title"] for entry in entries}) == len(on_the_wire)
