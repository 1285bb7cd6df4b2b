"""Placeholder files for URLs without a page, under the listed URL everywhere."""

from __future__ import annotations

import json
from collections.abc import Callable
from hashlib import md5
from pathlib import Path
from typing import Any

import pytest

from sitemirror import verify
from sitemirror.publish.report import ProblemKind, RunStatus
from tests.conftest import Finished, RunHere
from tests.run.conftest import Copy, Mirror
from tests.site import Site, faults


def placeholder(url: str) -> str:
    """As `docs/files.md` tells people to find it."""
    return md5(url.encode(), usedforsecurity=False).hexdigest()[:16] + ".md"


def mirrored(site: Site, out: Path, run_here: RunHere, *options: str) -> tuple[Finished, Any, Path]:
    done = run_here("mirror", site.url, "--rate-limit", 0, "--max-retries", 0, "--output", out, *options)
    folder = Path(done.json["output_dir"])
    return done, json.loads((folder / "_manifest.json").read_text()), folder


def logged(folder: Path) -> list[str]:
    return [line.split("\t")[1] for line in (folder / "_failed.log").read_text().splitlines()]


def names_in(folder: Path) -> set[str]:
    return {file.name for file in folder.glob("*.md")}


def test_failure_behind_redirects_is_reported_under_the_listed_url(site: Site, out: Path, run_here: RunHere) -> None:
    """Manifest, log, placeholders, stderr and report name the same URLs, with their redirect targets."""
    site.html_page("/a", "A", "<h1>A</h1>")
    for path in ("/one", "/two"):
        site.redirect(path, "/hop")
    site.redirect("/hop", "/nowhere")
    site.redirect("/file", "/x.zip")
    site.page("/x.zip", b"PK", type="application/zip")
    site.sitemap(urls=["/a", "/one", "/two", "/file", "/missing"])

    done, manifest, folder = mirrored(site, out, run_here)

    failed = [site.url + path for path in ("/missing", "/one", "/two")]
    assert [row["url"] for row in manifest["failures"]] == failed
    assert sorted(logged(folder)) == failed
    assert names_in(folder / "_failed") == set(map(placeholder, failed))
    assert names_in(folder / "_skipped") == {placeholder(site.url + "/file")}
    assert (done.json["failed"], done.json["skipped"]) == (3, 1)
    told = [line for line in done.stderr.splitlines() if line.startswith("failed: ")]
    assert f"failed: {site.url}/one (HTTP 404; redirected to {site.url}/nowhere)" in told
    assert not any(line.startswith(f"failed: {site.url}/nowhere") for line in told)
    text = (folder / "_failed" / placeholder(failed[1])).read_text()
    assert f"Redirected to: [{site.url}/nowhere](" in text
    assert f"Redirected to: [{site.url}/x.zip](" in (folder / "_skipped" / placeholder(site.url + "/file")).read_text()


@pytest.mark.parametrize(
    ("ways", "told"),
    [
        ({"/one": "/b", "/b": "/c", "/c": "/b"}, ("/one",)),
        ({"/one": "/b", "/b": "/one"}, ("/one",)),
        ({"/one": "/two", "/two": "/c", "/c": "/one"}, ("/one", "/two")),
        ({"/one": "/b", "/two": "/c", "/b": "/c", "/c": "/b"}, ("/one", "/two")),
    ],
)
@pytest.mark.parametrize("concurrency", ["1", "3"])
def test_redirect_loop_is_reported_under_the_listed_url(
    site: Site, out: Path, run_here: RunHere, ways: dict[str, str], told: tuple[str, ...], concurrency: str
) -> None:
    """The other hops of the loop are no failures; a second run reports the same and restores a deleted placeholder."""
    site.html_page("/a", "A", "<h1>A</h1>")
    for here, there in ways.items():
        site.redirect(here, there)
    listed = sorted(site.url + path for path in told)
    site.sitemap(urls=["/a", *listed])

    for _ in range(2):
        done, manifest, folder = mirrored(site, out, run_here, "--concurrency", concurrency)

        assert (done.json["failed"], done.json["total_pages"]) == (len(told), len(told) + 1)
        assert [row["url"] for row in manifest["failures"]] == listed
        assert set(logged(folder)) == set(listed)
        assert names_in(folder / "_failed") == set(map(placeholder, listed))
        lines = [line for line in done.stderr.splitlines() if line.startswith("failed: ")]
        assert sorted(lines) == [f"failed: {url} (redirect loop)" for url in listed]

    assert verify(out).status is RunStatus.OK
    (folder / "_failed" / placeholder(listed[0])).unlink()
    assert verify(out).problems[0].kind is ProblemKind.MISSING


def test_placeholder_is_removed_when_the_redirect_leads_to_a_page(site: Site, out: Path, run_here: RunHere) -> None:
    """The next run retries the failure, and no file reports it any more."""
    site.html_page("/end", "End", "<h1>End</h1>")
    for path in ("/one", "/two"):
        site.redirect(path, "/end")
    site.sitemap(urls=["/one", "/two"])
    site.fault("/end", faults.status(500))
    _, _, folder = mirrored(site, out, run_here)
    assert len(names_in(folder / "_failed")) == 2
    site.heal("/end")

    done, manifest, folder = mirrored(site, out, run_here)

    assert (done.json["failed"], done.json["successful"]) == (0, 1)
    assert manifest["pages"][0]["aliases"] == [site.url + "/one", site.url + "/two"]
    assert names_in(folder / "_failed") == set()


def test_placeholder_is_removed_when_the_redirect_changes(site: Site, out: Path, run_here: RunHere) -> None:
    """The failure of a former redirect target is no failure of the listed URL."""
    site.html_page("/a", "A", "<h1>A</h1>")
    site.redirect("/one", "/nowhere")
    site.sitemap(urls=["/a", "/one"])
    _, _, folder = mirrored(site, out, run_here)
    assert len(names_in(folder / "_failed")) == 1
    site.redirect("/one", "/a")

    _, manifest, folder = mirrored(site, out, run_here, "--re-download-all")

    assert manifest["pages"][0]["aliases"] == [site.url + "/one"]
    assert names_in(folder / "_failed") == {placeholder(row["url"]) for row in manifest["failures"]}
    assert placeholder(site.url + "/one") not in names_in(folder / "_failed")


def test_on_error_abort_names_the_listed_url(site: Site, out: Path, run_here: RunHere) -> None:
    """The error of `--on-error abort` names a URL that the manifest has."""
    site.redirect("/one", "/nowhere")
    site.sitemap(urls=["/one"])
    done, _, _ = mirrored(site, out, run_here, "--on-error", "abort")
    assert done.json["error"] == f"{site.url}/one failed: HTTP 404"
    assert done.returncode == 1


def test_redirect_to_a_disallowed_url_has_a_placeholder(site: Site, out: Path, run_here: RunHere) -> None:
    """The listed URL was requested and gave no page, so its placeholder has the reason."""
    site.html_page("/a", "A", "<h1>A</h1>")
    site.html_page("/private/x", "X", "<h1>X</h1>")
    site.redirect("/one", "/private/x")
    site.robots("User-agent: *\nDisallow: /private/\n")
    site.sitemap(urls=["/a", "/one"])
    done, manifest, folder = mirrored(site, out, run_here, "--respect-robots", "--verbose")
    assert [row["url"] for row in manifest["skips"]] == [site.url + "/one"]
    assert names_in(folder / "_skipped") == {placeholder(site.url + "/one")}
    assert f"skipped: {site.url}/one (" in done.stderr


def test_failure_found_by_redirect_and_link_has_two_placeholders(site: Site, out: Path, run_here: RunHere) -> None:
    """A page that failed behind a redirect and is linked later has a placeholder under both URLs."""
    site.html_page("/", "Home", '<a href="/moved">m</a><a href="/file">f</a><a href="/b">b</a>')
    site.html_page("/b", "B", '<a href="/missing">m</a><a href="/x.zip">z</a>')
    site.redirect("/moved", "/missing")
    site.redirect("/file", "/x.zip")
    site.page("/x.zip", b"PK", type="application/zip")

    done = run_here("crawl", site.url, "--rate-limit", 0, "--format", "markdown", "--output", out)

    folder = Path(done.json["output_dir"])
    assert names_in(folder / "_failed") == {placeholder(site.url + path) for path in ("/moved", "/missing")}
    assert names_in(folder / "_skipped") == {placeholder(site.url + path) for path in ("/file", "/x.zip")}
    assert verify(folder).problems == ()


def test_skipped_file_that_becomes_a_page_loses_its_placeholder(site: Site, out: Path, run_here: RunHere) -> None:
    """Also where the skipped response had no size."""
    site.html_page("/a", "A", "<h1>A</h1>")
    site.page("/b", b"PK" * 9000, type="application/zip")
    site.fault("/b", faults.chunked())
    site.sitemap(urls=["/a", "/b"])
    _, manifest, folder = mirrored(site, out, run_here)
    assert (len(manifest["skips"]), len(names_in(folder / "_skipped"))) == (1, 1)
    site.heal("/b")
    site.html_page("/b", "B", "<h1>B</h1>")
    _, manifest, folder = mirrored(site, out, run_here, "--update")
    assert (len(manifest["pages"]), len(names_in(folder / "_skipped"))) == (2, 0)


def test_placeholder_stays_when_only_the_former_target_is_a_page(site: Site, out: Path, run_here: RunHere) -> None:
    """/a redirected to /b, and both failed. Now /b is a page, but /a no longer redirects there."""
    site.html_page("/ok", "Ok", "<h1>Ok</h1>")
    site.redirect("/a", "/b")
    site.page("/b", b"PK", type="application/zip")
    site.sitemap(urls=["/ok", "/a"])
    mirrored(site, out, run_here)
    site.page("/a", b"PK", type="application/zip")
    site.html_page("/b", "B", "<h1>B</h1>")
    _, manifest, folder = mirrored(site, out, run_here, "--update")
    assert [row["url"] for row in manifest["skips"]] == [f"{site.url}/a"]
    assert names_in(folder / "_skipped") == {placeholder(f"{site.url}/a")}
    assert verify(out).status is RunStatus.OK


def _redirected_to_nothing(site: Site) -> None:
    site.redirect("/b", "/nowhere")


def _failed(site: Site) -> None:
    site.fault("/b", faults.status(500))


def _no_page(site: Site) -> None:
    site.page("/b", b"PK", type="application/zip")


@pytest.mark.parametrize("then", ["page", "failure", "redirect", "not listed", "out of scope"])
@pytest.mark.parametrize("state", ["kept", "lost"])
@pytest.mark.parametrize("first", [_redirected_to_nothing, _failed, _no_page])
async def test_placeholder_is_removed_with_its_reason(
    site: Site, run: Mirror, copy: Copy, first: Callable[[Site], None], state: str, then: str
) -> None:
    """Whatever the URL becomes, and whether or not the state still has it."""
    site.html_page("/a", "A", "<h1>A</h1>")
    site.html_page("/b", "B", "<h1>B</h1>")
    site.sitemap(urls=["/a", "/b"])
    first(site)
    await run()
    folder = copy.folder
    assert names_in(folder / "_failed") | names_in(folder / "_skipped") == {placeholder(f"{site.url}/b")}
    note = folder / "_failed/mine.md"
    note.parent.mkdir(exist_ok=True)
    note.write_text("somebody's own")
    if state == "lost":
        (folder / "_state.sqlite3").unlink()
    site.heal("/b")
    site.html_page("/b", "B", "<h1>B</h1>")
    if then == "failure":
        site.remove("/b")
    elif then == "redirect":
        site.redirect("/b", "/a")
    elif then == "not listed":
        site.sitemap(urls=["/a"])

    await run(update=True, exclude_path=["/b"] if then == "out of scope" else [])

    failed = {f"{site.url}/b"} if then == "failure" else set()
    assert {row["url"] for row in copy.manifest["failures"]} == failed
    assert names_in(folder / "_failed") == {"mine.md", *map(placeholder, failed)}
    assert names_in(folder / "_skipped") <= {placeholder(row["url"]) for row in copy.manifest["skips"]}
