"""List and mirror a site without asyncio, with a callback for events."""

import sys
from pathlib import Path

import sitemirror
from sitemirror.events import Event, PageSkipped, Warned


def tell(event: Event) -> None:
    """Handle an event. A slow callback slows down the run."""
    if isinstance(event, Warned):
        print("note:", event.message)
    elif isinstance(event, PageSkipped):
        print("skipped:", event.url, event.reason)


def main(url: str) -> None:
    """The `_sync` functions return at the end of the run."""
    listed = sitemirror.list_site_sync(url, output="mirrors", rate_limit=4)
    print(listed.total_urls, "URLs, outline in", listed.outline)

    settings = sitemirror.Settings(output=Path("mirrors"), rate_limit=4, include_path=("/reference/*",), update=True)
    report = sitemirror.mirror_sync(url, settings=settings, on_event=tell)
    print(report.successful, "pages, manifest in", report.manifest)


if __name__ == "__main__":
    main(sys.argv[1])
