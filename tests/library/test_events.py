"""Events that say what an update changed."""

from __future__ import annotations

from pathlib import Path

import sitemirror
from sitemirror.events import Event, PageGone, PageSaved
from tests.conftest import RunHere
from tests.site import Site


def changes(events: list[Event]) -> dict[str, str]:
    """The path of each URL's event, with the kind of change."""
    found: dict[str, str] = {}
    for event in events:
        match event:
            case PageSaved(changed=True, new=True):
                found[event.url] = "new"
            case PageSaved(changed=True):
                found[event.url] = "changed"
            case PageGone():
                found[event.url] = f"gone {event.path}"
    return found


def site_of_three(site: Site) -> None:
    for path in ("/a", "/b", "/c"):
        site.html_page(path, path, f"<p>{path}</p>")
    site.sitemap()


def change(site: Site) -> None:
    site.html_page("/b", "/b", "<p>changed</p>")
    site.html_page("/d", "/d", "<p>new</p>")
    site.remove("/c")
    site.sitemap()


def test_new_changed_and_gone_pages_are_events(site: Site, out: Path) -> None:
    """A search index can be updated from them alone."""
    site_of_three(site)
    events: list[Event] = []
    sitemirror.mirror_sync(site.url, rate_limit=0, output=out, on_event=events.append)
    assert changes(events) == {f"{site.url}{path}": "new" for path in ("/a", "/b", "/c")}

    change(site)
    events.clear()
    sitemirror.mirror_sync(
        site.url, rate_limit=0, output=out, update=True, re_download_all=True, on_event=events.append
    )
    assert changes(events) == {
        f"{site.url}/b": "changed",
        f"{site.url}/c": f"gone {site.url.removeprefix('http://').replace(':', '_')}/c/index.md",
        f"{site.url}/d": "new",
    }


def test_verbose_names_what_changed(site: Site, out: Path, run_here: RunHere) -> None:
    """A line for each page, with -v alone."""
    site_of_three(site)
    arguments = ("mirror", site.url, "--rate-limit", 0, "--output", out)
    run_here(*arguments)
    change(site)
    done = run_here(*arguments, "--re-download-all", "-v")
    lines = done.stderr.splitlines()
    assert {f"new: {site.url}/d", f"changed: {site.url}/b", f"gone: {site.url}/c"} <= set(lines)
    assert f"changed: {site.url}/a" not in lines
