"""`sitemirror update`: mirrors are updated with the start URL and the options that they remember."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

import sitemirror
from sitemirror.errors import UsageError
from sitemirror.settings import COMMAND_LINE_ONLY, OF_ONE_RUN, REMEMBERED, SECRETS, Settings, setting_types
from tests.conftest import RunHere
from tests.site import Site

PASSWORD = "horse-battery"


def manifest(folder: Path) -> dict[str, object]:
    found: dict[str, object] = json.loads((folder / "_manifest.json").read_text(encoding="utf-8"))
    return found


def home(site: Site, out: Path) -> Path:
    return out / site.url.removeprefix("http://").replace(":", "_")


def test_every_setting_is_remembered_or_not() -> None:
    """Nobody can forget to decide it: put a new setting into one of these sets in settings.py."""
    sets = (REMEMBERED, SECRETS, OF_ONE_RUN)
    assert sorted(name for each in sets for name in each) == sorted(setting_types())
    assert COMMAND_LINE_ONLY < OF_ONE_RUN


def test_manifest_names_options_but_no_secrets() -> None:
    """Only what is not the default; of credentials the bare fact."""
    settings = Settings(
        rate_limit=0, include_path=("/a*",), basic_auth=f"me:{PASSWORD}", header=(f"X: {PASSWORD}",), quiet=True
    )
    assert settings.to_remember() == {"rate_limit": 0, "include_path": ["/a*"], "basic_auth": None, "header": None}


def test_update_uses_start_url_and_options(site: Site, out: Path, run_here: RunHere) -> None:
    """A section, its globs and its front matter stay as they were chosen; only new and changed pages are fetched."""
    for path in ("/guide/", "/guide/a", "/guide/old", "/blog"):
        site.html_page(path, path, f"<p>{path}</p>", etag=f'"{path}"')
    site.sitemap()
    options = ("--rate-limit", 0, "--exclude-path", "*/old", "--no-front-matter", "--output", out)
    assert run_here("mirror", f"{site.url}/guide/", *options).returncode == 0
    folder = home(site, out)
    assert manifest(folder)["command"] == "mirror"
    assert manifest(folder)["options"] == {"rate_limit": 0, "exclude_path": ["*/old"], "front_matter": False}

    site.html_page("/guide/a", "/guide/a", "<p>changed</p>", etag='"new"')
    site.html_page("/guide/b", "/guide/b", "<p>new</p>")
    site.sitemap()
    done = run_here("update", folder, env={"SITEMIRROR_EXCLUDE_PATH": "*", "SITEMIRROR_OUTPUT": "elsewhere"})
    assert (done.returncode, done.json["url"]) == (0, f"{site.url}/guide/")
    assert (done.json["new"], done.json["changed"], done.json["successful"]) == (1, 1, 3)
    assert (folder / "guide" / "a" / "index.md").read_text(encoding="utf-8") == "changed\n"
    assert not (folder / "guide" / "old").exists()
    assert "3 pages: 1 new, 1 changed, 1 unchanged" in done.stderr
    assert manifest(folder)["options"] == {"rate_limit": 0, "exclude_path": ["*/old"], "front_matter": False}


def test_update_of_a_crawl_follows_links(site: Site, out: Path, run_here: RunHere) -> None:
    """The command is remembered as well."""
    site.html_page("/", "Home", '<a href="/a">a</a>')
    site.html_page("/a", "A", "<p>a</p>")
    run_here("crawl", site.url, "--rate-limit", 0, "--link-depth", 1, "--output", out)
    site.html_page("/a", "A", "<p>changed</p>")
    done = run_here("update", home(site, out))
    assert (done.json["command"], done.json["status"], done.json["changed"]) == ("crawl", "ok", 1)


def test_update_of_a_folder_is_of_every_mirror_in_it(site: Site, out: Path, run_here: RunHere) -> None:
    """Mirrors and crawls together, each with its own options; one report for all."""
    site.html_page("/", "Home", "<p>home</p>")
    site.sitemap()
    with Site() as other:
        other.html_page("/", "Other", "<p>other</p>")
        run_here("mirror", site.url, "--rate-limit", 0, "--output", out)
        run_here("crawl", other.url, "--rate-limit", 0, "--output", out / "deeper")
        site.html_page("/new", "New", "<p>new</p>")
        site.sitemap()
        other.html_page("/", "Other", "<p>changed</p>")
        done = run_here("update", out)
    assert (done.returncode, done.json["command"], done.json["total_sites"]) == (0, "update", 2)
    assert {each["command"]: (each["new"], each["changed"]) for each in done.json["sites"]} == {
        "mirror": (1, 0),
        "crawl": (0, 1),
    }


def test_an_option_replaces_the_remembered_one(site: Site, out: Path, run_here: RunHere) -> None:
    """For this run and the next; --re-download-all fetches what did not change."""
    site.html_page("/", "Home", "<p>home</p>", etag='"1"')
    site.sitemap()
    run_here("mirror", site.url, "--rate-limit", 0, "--timeout", 9, "--output", out)
    seen = len(site.requests_for("/"))
    done = run_here("update", home(site, out), "--timeout", 8, "--re-download-all")
    assert done.returncode == 0
    assert manifest(home(site, out))["options"] == {"rate_limit": 0, "timeout": 8}
    assert all("if-none-match" not in {name.lower() for name in each.headers} for each in site.requests_for("/")[seen:])


def test_secrets_have_to_be_given_again(site: Site, out: Path, run_here: RunHere) -> None:
    """They are in no file, and a note says which are missing."""
    site.html_page("/", "Home", "<p>home</p>")
    site.sitemap()
    run_here("mirror", site.url, "--rate-limit", 0, "--basic-auth", f"me:{PASSWORD}", "--output", out)
    folder = home(site, out)
    for file in folder.rglob("*"):
        assert not file.is_file() or PASSWORD.encode() not in file.read_bytes()
    assert f"note: {folder} was made with --basic-auth, not stored" in run_here("update", folder).stderr
    assert "not stored" not in run_here("update", folder, "--basic-auth", "me:x").stderr


def test_folder_without_a_mirror_is_named(out: Path, run_here: RunHere) -> None:
    """One line and a hint, nothing on stdout."""
    out.mkdir()
    for folder, message in (
        (out, f"{out} is not a mirror: it has no _manifest.json"),
        (out / "no", f"no such folder: {out}/no"),
    ):
        done = run_here("update", folder)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.startswith(f"sitemirror: error: {message}")
        assert "hint: give the folder of a mirror" in done.stderr


def test_renamed_mirror_is_not_updated_elsewhere(site: Site, out: Path, run_here: RunHere) -> None:
    """A run would make a second mirror beside it."""
    site.html_page("/", "Home", "<p>home</p>")
    site.sitemap()
    run_here("mirror", site.url, "--rate-limit", 0, "--output", out)
    folder = home(site, out)
    shutil.move(folder, out / "renamed")
    done = run_here("update", out / "renamed")
    assert done.returncode == 2
    assert f"is the mirror of {folder.name} under another name\nhint: rename it to {folder.name}" in done.stderr


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "is not JSON"),
        ('{"version": "2.0.0", "source_url": "https://a.example/", "pages": []}', "does not remember how it was made"),
        (
            '{"source_url": "https://a.example/", "command": "mirror", "options": {"concurrency": 0}, "pages": []}',
            "concurrency must be 1 or more, got 0",
        ),
        (
            '{"source_url": "ftp://a", "command": "mirror", "options": {}, "pages": []}',
            "not a URL that can be mirrored",
        ),
    ],
)
def test_unusable_manifest_is_named(out: Path, run_here: RunHere, content: str, message: str) -> None:
    """Whatever wrote it."""
    (out / "a.example").mkdir(parents=True)
    (out / "a.example" / "_manifest.json").write_text(content, encoding="utf-8")
    done = run_here("update", out / "a.example")
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
    assert "\nhint: " in done.stderr


def test_the_library_updates_mirrors(site: Site, out: Path) -> None:
    """`update_mirrors` takes folders and options that replace the mirrors' own."""
    site.html_page("/", "Home", "<p>home</p>", etag='"1"')
    site.sitemap()
    sitemirror.mirror_sync(site.url, rate_limit=0, output=out)
    site.html_page("/", "Home", "<p>changed</p>", etag='"2"')
    report = sitemirror.update_mirrors_sync([out], timeout=5)
    assert (report.command, report.changed) == ("update", 1)
    with pytest.raises(UsageError, match="folders must be a list"):
        sitemirror.update_mirrors_sync(str(out))
