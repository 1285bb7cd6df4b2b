"""Many sites at once: each is a run of its own, with fair shares of common resources.

report = await sitemirror.mirror_sites(["https://a.example/", {"url": "https://b.example/", "concurrency": 4}])
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from sitemirror.api import Parts, finish, settings_of, show_options, start_of
from sitemirror.errors import UsageError, wrong_type
from sitemirror.events import Listener
from sitemirror.publish.report import SitesReport
from sitemirror.run.run import run_copy
from sitemirror.settings import Options, Settings
from sitemirror.sites.run import COMMON, Site, SitesRun

if TYPE_CHECKING:
    from aiohttp.abc import AbstractResolver

    from sitemirror.fetch.pace import Clock

__all__ = [
    "COMMON",
    "Site",
    "SitesRun",
    "crawl_sites",
    "crawl_sites_sync",
    "mirror_sites",
    "mirror_sites_sync",
    "update_mirrors",
    "update_mirrors_sync",
    "update_sites",
]

Sites = Iterable[str | Mapping[str, Any] | Site]
"""URLs, mappings with `url` and options of that site, or `Site` objects."""


@show_options
def mirror_sites(
    sites: Sites,
    *,
    settings: Settings | None = None,
    on_event: Listener | None = None,
    resolver: AbstractResolver | None = None,
    clock: Clock | None = None,
    **options: Unpack[Options],
) -> SitesRun:
    """Mirror many sites at once, each as `mirror` does. A site's own options precede `options`.

    A site that fails does not end the others: its error is in the report, and nothing is raised.
    """
    return _run("mirror", sites, settings, on_event, Parts(clock, resolver), options)


@show_options
def crawl_sites(
    sites: Sites,
    *,
    settings: Settings | None = None,
    on_event: Listener | None = None,
    resolver: AbstractResolver | None = None,
    clock: Clock | None = None,
    **options: Unpack[Options],
) -> SitesRun:
    """Crawl many sites at once, each as `crawl` does. Arguments as for `mirror_sites`."""
    return _run("crawl", sites, settings, on_event, Parts(clock, resolver), options)


@show_options
def update_mirrors(
    folders: Iterable[str | os.PathLike[str]],
    *,
    settings: Settings | None = None,
    on_event: Listener | None = None,
    resolver: AbstractResolver | None = None,
    clock: Clock | None = None,
    **options: Unpack[Options],
) -> SitesRun:
    """Update the mirrors in `folders` with the start URLs and options that they remember.

    `options` replace those of the mirrors. Passwords, headers and cookies are not stored: give them again.
    """
    if isinstance(folders, str | bytes | os.PathLike) or not isinstance(folders, Iterable):
        raise wrong_type("folders", folders, "a list of folders", hint='give it as ["output/docs.example.com"]')
    from sitemirror.sites.remembered import find_mirrors, site_of

    common = settings_of(settings, options)
    given = options.keys()
    sites = [site_of(folder, common, given).site for folder in find_mirrors(map(Path, folders))]
    return update_sites(sites, common, on_event, Parts(clock, resolver))


def update_sites(sites: list[Site], settings: Settings, listener: Listener | None, parts: Parts) -> SitesRun:
    """Make the run of `update_mirrors` over mirrors that are found already."""
    common = settings.with_changes(update=not settings.re_download_all)
    return SitesRun("update", run_copy, _distinct(sites), common, listener, parts)


@show_options
def mirror_sites_sync(
    sites: Sites,
    *,
    settings: Settings | None = None,
    on_event: Listener | None = None,
    resolver: AbstractResolver | None = None,
    clock: Clock | None = None,
    **options: Unpack[Options],
) -> SitesReport:
    """Run `mirror_sites` to its end, in a program without an event loop."""
    return finish(
        lambda: mirror_sites(sites, settings=settings, on_event=on_event, resolver=resolver, clock=clock, **options)
    )


@show_options
def crawl_sites_sync(
    sites: Sites,
    *,
    settings: Settings | None = None,
    on_event: Listener | None = None,
    resolver: AbstractResolver | None = None,
    clock: Clock | None = None,
    **options: Unpack[Options],
) -> SitesReport:
    """Run `crawl_sites` to its end, in a program without an event loop."""
    return finish(
        lambda: crawl_sites(sites, settings=settings, on_event=on_event, resolver=resolver, clock=clock, **options)
    )


@show_options
def update_mirrors_sync(
    folders: Iterable[str | os.PathLike[str]],
    *,
    settings: Settings | None = None,
    on_event: Listener | None = None,
    resolver: AbstractResolver | None = None,
    clock: Clock | None = None,
    **options: Unpack[Options],
) -> SitesReport:
    """Run `update_mirrors` to its end, in a program without an event loop."""
    return finish(
        lambda: update_mirrors(folders, settings=settings, on_event=on_event, resolver=resolver, clock=clock, **options)
    )


def _run(
    command: str,
    sites: Sites,
    settings: Settings | None,
    listener: Listener | None,
    parts: Parts,
    options: Mapping[str, Any],
) -> SitesRun:
    common = settings_of(settings, options)
    if isinstance(sites, str):
        raise UsageError("give a list of sites, not one", hint="for one site use `mirror`")
    if isinstance(sites, bytes) or not isinstance(sites, Iterable):
        raise wrong_type("sites", sites, "a list of sites", hint="for one site use `mirror`")
    return SitesRun(command, run_copy, _distinct(_site(site, common) for site in sites), common, listener, parts)


def _site(site: str | Mapping[str, Any] | Site, common: Settings) -> Site:
    if isinstance(site, Site):
        return Site(start_of(site.url), settings_of(site.settings, {}), site.command)
    if isinstance(site, str):
        return Site(start_of(site), common)
    if not isinstance(site, Mapping):
        expected = "a URL, or a mapping with its url"
        raise wrong_type("a site", site, expected, hint="give it as {'url': 'https://example.com/', …}")
    own = dict(site)
    url = own.pop("url", None)
    if not isinstance(url, str):
        raise UsageError("a site has no url", hint="give it as {'url': 'https://example.com/', …}")
    for name in own.keys() & COMMON:
        raise UsageError(f"{url}: {name} applies to all sites", hint="give it once, beside the sites")
    try:
        return Site(start_of(url), settings_of(common, own))
    except UsageError as error:
        raise UsageError(f"{url}: {error.message}", hint=error.hint) from None


def _distinct(sites: Iterable[Site]) -> list[Site]:
    """Return each site once. Raises `UsageError` for one site with different options in one place."""
    found: dict[tuple[str, str], Site] = {}
    for site in sites:
        first = found.setdefault((site.url, str(site.settings.output)), site)
        if first.settings != site.settings:
            raise UsageError(
                f"{site.url} is listed twice with different options",
                hint="keep one of them, or give each an output of its own",
            )
    if not found:
        raise UsageError("no site to mirror", hint="list at least one URL")
    return list(found.values())
