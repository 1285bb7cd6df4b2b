"""What the programs and their commands say of themselves, in help and in the reference."""

from __future__ import annotations

from typing import Final

from sitemirror.cli.options import Command
from sitemirror.cli.parser import MIRROR_SITE, SITEMAP_TO_MARKDOWN, SITEMIRROR

INTRODUCTION: Final = (
    "Copies a whole website to disk, as clean Markdown or as HTML with its assets: politely, resumably, "
    "incrementally.\n\n"
    "One JSON object goes to stdout when a run ends, everything else to stderr. "
    "A run that was stopped goes on where it was when the same command is given again."
)

HELP: Final = {
    Command.LIST: (
        "Finds a site's sitemaps and writes an outline of its URLs.\n\n"
        "The outline goes to DIR/HOST/sitemap-TIME.md, the report to stdout as JSON."
    ),
    Command.MIRROR: (
        "Saves every page in a site's sitemaps as Markdown.\n\n"
        "The tree goes to DIR/HOST/, the report to stdout as JSON. A run goes on where an earlier one stopped."
    ),
    Command.CRAWL: (
        "Follows links from a page and saves what it finds, with what the pages need to look right.\n\n"
        "The tree goes to DIR/HOST/, with mirror-index.json beside it; the report goes to stdout as JSON. "
        "robots.txt is obeyed. A run goes on where an earlier one stopped."
    ),
    Command.CONVERT: (
        "Prints one page as Markdown.\n\n"
        "Nothing is saved. A URL is asked for as a mirror asks for its pages, and its redirects are followed."
    ),
    Command.VERIFY: (
        "Checks a mirror: files, hashes, local links and anchors, every URL accounted for.\n\n"
        "Prints each problem, then a report as JSON on stdout. Changes nothing. Exits with 1 if anything is wrong."
    ),
    Command.WHERE: "Says which file a URL is saved to, or which URL a file came from.",
}

SITEMAP_TO_MARKDOWN_HELP: Final = (
    "Writes an outline of a site's sitemaps, or with --mirror saves every page in them as Markdown.\n\n"
    "The same as `sitemirror list` and `sitemirror mirror`, under the name and options of an older tool."
)

MIRROR_SITE_HELP: Final = (
    "Follows links from a page and saves what it finds.\n\n"
    "The same as `sitemirror crawl`, under the name of an older tool."
)

EXAMPLES: Final = {
    SITEMIRROR: """\
sitemirror list https://docs.example.com/             # which pages are there?
sitemirror mirror https://docs.example.com/           # save them all
sitemirror mirror https://docs.example.com/ --update  # only what changed
sitemirror crawl https://docs.example.com/ -o html    # as HTML, by its links
sitemirror convert https://docs.example.com/install   # one page as Markdown
sitemirror verify output/docs.example.com/            # is it all there?
sitemirror where https://docs.example.com/install     # which file is it?""",
    Command.LIST: """\
sitemirror list https://docs.example.com/
sitemirror list https://docs.example.com/guide/ --format md > outline.md
sitemirror list https://example.com/sitemap.xml --exclude-path '/blog/*'""",
    Command.MIRROR: """\
sitemirror mirror https://docs.example.com/
sitemirror mirror https://example.com/guide/ -o mirrors --max-pages 100
sitemirror mirror https://example.com/ --concurrency 5 --rate-limit 2
sitemirror mirror https://docs.example.com/ --update --on-error retry
sitemirror mirror --sites sites.txt --update""",
    Command.CRAWL: """\
sitemirror crawl https://docs.example.com/ -o offline
sitemirror crawl https://docs.example.com/install -o part --include-path '/guide/*' --link-depth 3
sitemirror crawl https://docs.example.com/ --format markdown --link-depth 1
sitemirror crawl https://docs.example.com/ -o offline --update""",
    Command.CONVERT: """\
sitemirror convert https://docs.example.com/install
sitemirror convert https://docs.example.com/install --content main --no-front-matter > install.md
sitemirror convert https://docs.example.com/install --explain
echo '<h1>Hello</h1><a href="x">there</a>' | sitemirror convert - --url https://example.com/""",
    Command.VERIFY: """\
sitemirror verify output/docs.example.com/
sitemirror verify output --quiet > report.json""",
    Command.WHERE: """\
sitemirror where https://docs.example.com/install
sitemirror where output/docs.example.com/install/index.md""",
    MIRROR_SITE: """\
mirror-site https://docs.example.com/ -o offline --link-depth 2
mirror-site https://docs.example.com/ -o raw --delay-seconds 0.5 --no-post-process""",
    SITEMAP_TO_MARKDOWN: """\
sitemap-to-markdown --url https://docs.example.com/           # the outline
sitemap-to-markdown --url https://docs.example.com/ --mirror  # all pages""",
}
