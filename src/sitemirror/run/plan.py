"""The plan of a command: source of URLs, formats, robots.txt. Source and format are independent."""

from __future__ import annotations

from dataclasses import dataclass

from sitemirror.errors import UsageError
from sitemirror.settings import Format, Settings, UrlSource


@dataclass(frozen=True, slots=True)
class Plan:
    """One command with its defaults resolved."""

    command: str  # mirror or crawl
    source: UrlSource  # sitemap or links
    may_follow_links: bool  # if no sitemap is found
    own_host_only: bool  # else the registrable domain
    markdown: bool
    html: bool
    index: bool
    respect_robots: bool

    @property
    def follows_links(self) -> bool:
        return self.source is UrlSource.LINKS

    @property
    def format(self) -> str:
        """Value of --format for what is written."""
        return "both" if self.markdown and self.html else "html" if self.html else "markdown"

    @property
    def one_folder(self) -> bool:
        """True if files of other hosts are in the run's own folder, so that it can be moved whole."""
        return self.html or self.index

    @property
    def mode(self) -> str:
        """Name of the plan in the state: only the same one resumes an unfinished run."""
        return f"{self.source.value}:{self.format}"


def plan_for(command: str, settings: Settings, found: UrlSource | None = None) -> Plan:
    """Resolve the settings with the command's defaults; `auto` becomes `found`, or sitemaps.

    Links that nobody asked to follow stay on the start host: subdomains can be any number of other sites.
    """
    crawls = command == "crawl"
    format = settings.format or (Format.HTML if crawls else Format.MARKDOWN)
    if format not in (Format.MARKDOWN, Format.HTML, Format.BOTH):
        raise UsageError(f"--format {format.value} is for list", hint="choose markdown, html or both")
    source = settings.discover or (UrlSource.LINKS if crawls else UrlSource.AUTO)
    is_auto = source is UrlSource.AUTO
    if is_auto:
        source = found or UrlSource.SITEMAP
    by_links = source is UrlSource.LINKS
    html = format in (Format.HTML, Format.BOTH)
    return Plan(
        command=command,
        source=source,
        may_follow_links=is_auto and found is None,
        own_host_only=crawls or (is_auto and by_links and settings.domain_lock),
        markdown=format in (Format.MARKDOWN, Format.BOTH),
        html=html,
        index=settings.index or crawls,
        # The owner publishes a sitemap for crawlers; a link is no invitation.
        respect_robots=crawls or by_links if settings.respect_robots is None else settings.respect_robots,
    )
