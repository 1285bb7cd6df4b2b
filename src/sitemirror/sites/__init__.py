"""Many sites at once: each is a run of its own, and what they share is shared fairly.

report = await sitemirror.mirror_sites(["https://a.example/", {"url": "https://b.example/", "concurrency": 4}])
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from sitemirror.api import Parts, finish, settings_of, start_of
from sitemirror.errors import UsageError, wrong_type
from sitemirror.events import Listener
from sitemirror.publish.report import SitesReport
from sitemirror.run.run import run_copy
from sitemirror.settings import Settings
from sitemirror.sites.run import COMMON, Site, SitesRun

if TYPE_CHECKING:
    from aiohttp.abc import AbstractResolver

    from sitemirror.fetch.pace import Clock

__all__ = ["COMMON", "Site", "SitesRun", "crawl_sites", "crawl_sites_sync", "mirror_sites", "mirror_sites_sync"]

Sites = Iterable[str | Mapping[str, Any] | Site]
"""URLs; or mappings with `url` and that site's own options; or both of them judged already."""


def mirror_sites(
    sites: Sites,
    *,
    settings: Settings | None = None,
    on_event: Listener | None = None,
    resolver: AbstractResolver | None = None,
    clock: Clock | None = None,
    **options: Any,
) -> SitesRun:
    """Mirrors many sites at once, each as `mirror` does. `options` count for all of them, a site's own count more.

    A site that fails does not end the others: it is in the report, and nothing is raised for it.
    """
    return _run("mirror", sites, settings, on_event, Parts(clock, resolver), options)


def crawl_sites(
    sites: Sites,
    *,
    settings: Settings | None = None,
    on_event: Listener | None = None,
    resolver: AbstractResolver | None = None,
    clock: Clock | None = None,
    **options: Any,
) -> SitesRun:
    """Crawls many sites at once, each as `crawl` does. Arguments as for `mirror_sites`."""
    return _run("crawl", sites, settings, on_event, Parts(clock, resolver), options)


def mirror_sites_sync(sites: Sites, **arguments: Any) -> SitesReport:
    """`mirror_sites` for programs without an event loop; returns when it is done."""
    return finish(lambda: mirror_sites(sites, **arguments))


def crawl_sites_sync(sites: Sites, **arguments: Any) -> SitesReport:
    """`crawl_sites` for programs without an event loop; returns when it is done."""
    return finish(lambda: crawl_sites(sites, **arguments))


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
        raise UsageError("give a list of sites, not one", hint="for one site there is `mirror`")
    if isinstance(sites, bytes) or not isinstance(sites, Iterable):
        raise wrong_type("sites", sites, "a list of sites", hint="for one site there is `mirror`")
    job = partial(run_copy, command=command)
    return SitesRun(command, job, _distinct(_site(site, common) for site in sites), common, listener, parts)


def _site(site: str | Mapping[str, Any] | Site, common: Settings) -> Site:
    if isinstance(site, Site):
        return Site(start_of(site.url), settings_of(site.settings, {}))
    if isinstance(site, str):
        return Site(start_of(site), common)
    if not isinstance(site, Mapping):
        wanted = "a URL, or a mapping with its url"
        raise wrong_type("a site", site, wanted, hint="give it as {'url': 'https://example.com/', …}")
    own = dict(site)
    url = own.pop("url", None)
    if not isinstance(url, str):
        raise UsageError("a site has no url", hint="give it as {'url': 'https://example.com/', …}")
    for name in own.keys() & COMMON:
        raise UsageError(f"{url}: {name} counts for all sites", hint="give it once, beside the sites")
    try:
        return Site(start_of(url), settings_of(common, own))
    except UsageError as error:
        raise UsageError(f"{url}: {error.message}", hint=error.hint) from None


def _distinct(sites: Iterable[Site]) -> list[Site]:
    """Each site once. Raises `UsageError` when one is to be taken in two ways to the same place."""
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
