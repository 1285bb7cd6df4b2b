"""The help of each program and command: its texts, drawn as wide as the terminal is."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from textwrap import wrap
from typing import Final, TextIO

from sitemirror.cli.config import DEFAULT_FILE
from sitemirror.cli.options import (
    ARGUMENTS,
    CONFIG_ROW,
    HELP_ROW,
    MORE_ARGUMENTS,
    SITES_ROW,
    VERSION_ROW,
    Command,
    Option,
    Panel,
    Row,
    default_text,
    is_flag,
    options_of,
)
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
    Command.SEARCH: (
        "Searches mirrors: ranked sections with file, lines and a piece of the text.\n\n"
        "Any text is a query; what is in double quotes is looked for as it is. A query that begins with a dash comes "
        "after --. The index, _search.sqlite3 in each mirror, is made by the first search and kept current by each one."
    ),
    Command.EXPORT: (
        "Exports the text of mirrors for pipelines, as pages or as sections.\n\n"
        "Ids stay the same from one export to the next. --since gives what changed, with what was removed. "
        "md packs all pages into files of at most --max-tokens. Exits with 1 if a page's file could not be read."
    ),
    Command.MCP: (
        "Serves mirrors to agents over the Model Context Protocol, read-only.\n\n"
        "A client starts it and talks to it over stdin and stdout; `sitemirror agents --mcp` puts it into a client's "
        "configuration. Needs the extra: pip install 'sitemirror[mcp]'."
    ),
    Command.AGENTS: (
        "Tells coding agents about mirrors.\n\n"
        "Prints an index of at most 8 KB that names every folder; with --write it goes into a file that agents read by "
        "themselves. With --mcp, a client starts `sitemirror mcp` by itself. Both can be taken out again."
    ),
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
sitemirror where https://docs.example.com/install     # which file is it?
sitemirror search "rate limit"                        # where does it say so?
sitemirror export output/ -o pages.jsonl               # for pipelines
sitemirror mcp output/                                # serve them to agents
sitemirror agents output/ --write AGENTS.md           # tell agents about it""",
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
    Command.SEARCH: """\
sitemirror search "rate limit"
sitemirror search json.loads output/docs.example.com/ --limit 3
sitemirror search --json -- --retries | jq -r '.results[].path'""",
    Command.EXPORT: """\
sitemirror export output/docs.example.com/ -o pages.jsonl
sitemirror export output/docs.example.com/ --sections --since 2026-01-31 > changed.jsonl
sitemirror export output/docs.example.com/ --format md --max-tokens 50000 -o packed""",
    Command.MCP: """\
sitemirror mcp output/docs.example.com/
sitemirror mcp output mirrors --http 8123""",
    Command.AGENTS: """\
sitemirror agents output/docs.example.com/
sitemirror agents --write AGENTS.md
sitemirror agents --mcp claude --yes
sitemirror agents --remove --write AGENTS.md --mcp claude --yes""",
    MIRROR_SITE: """\
mirror-site https://docs.example.com/ -o offline --link-depth 2
mirror-site https://docs.example.com/ -o raw --delay-seconds 0.5 --no-post-process""",
    SITEMAP_TO_MARKDOWN: """\
sitemap-to-markdown --url https://docs.example.com/           # the outline
sitemap-to-markdown --url https://docs.example.com/ --mirror  # all pages""",
}


WIDEST: Final = 100
"""Columns: longer lines are hard to read."""

_MARGIN: Final = 30
"""Columns for names; longer ones have a line of their own."""

Paint = Callable[[str], str]


@dataclass(frozen=True, slots=True)
class Page:
    """The help of a program or a command."""

    usage: str
    text: str
    sections: Sequence[tuple[str, Sequence[Row]]]
    examples: str


def help_of(path: str, stream: TextIO) -> str:
    """The help of what is called `path` (`sitemirror`, `sitemirror mirror` …), as `stream` can show it."""
    colour = _shows_colour(stream)
    heading: Paint = (lambda text: f"\x1b[1m{text}\x1b[0m") if colour else str
    name: Paint = (lambda text: f"\x1b[36m{text}\x1b[0m") if colour else str
    return "\n".join(_drawn(_page(path), min(_columns(stream), WIDEST), heading, name)) + "\n"


def _page(path: str) -> Page:
    program, _, command = path.partition(" ")
    if command:
        return _with_argument(path, HELP[Command(command)], Command(command), [])
    if program == MIRROR_SITE:
        return _with_argument(path, MIRROR_SITE_HELP, Command.CRAWL, [VERSION_ROW])
    if program == SITEMAP_TO_MARKDOWN:
        url, meaning = ARGUMENTS[Command.MIRROR]
        either = ("--mirror / --list-only", "Save the pages, or only write the outline. [default: --list-only]")
        options = options_of(Command.LIST, Command.MIRROR)
        file, many = SITES_ROW
        what = [(f"--url {url}", meaning), (file, f"With --mirror: {many[0].lower()}{many[1:]}"), either]
        usage = f"{path} --url {url} | {file} [OPTIONS]"
        sections = [("What to do", what), *_sections(options, [VERSION_ROW])]
        return Page(usage, SITEMAP_TO_MARKDOWN_HELP, sections, EXAMPLES[path])
    commands = [(command.value, HELP[command].partition("\n")[0]) for command in Command]
    sections = [("Commands", commands), ("Options", [VERSION_ROW, HELP_ROW])]
    return Page(f"{path} COMMAND [OPTIONS] ...", INTRODUCTION, sections, EXAMPLES[path])


def _with_argument(path: str, text: str, command: Command, more: Sequence[Row]) -> Page:
    argument = ARGUMENTS[command]
    key = path if path in EXAMPLES else command
    rows = [argument, *MORE_ARGUMENTS.get(command, ())]
    usage = f"{path} [OPTIONS] {argument[0]}"
    if SITES_ROW in rows:
        usage += f" | {SITES_ROW[0]}"
    sections = [("Arguments", rows), *_sections(options_of(command), more)]
    return Page(usage, text, sections, EXAMPLES[key])


def _sections(options: Sequence[Option], more: Sequence[Row]) -> Iterator[tuple[str, Sequence[Row]]]:
    for panel in Panel:
        rows = [(_names(option), _meaning(option)) for option in options if option.panel is panel]
        if rows:
            yield panel, rows
    name, meaning = CONFIG_ROW
    yield "Other", [(name, f"{meaning} [default: {DEFAULT_FILE} here, if there is one]"), *more, HELP_ROW]


def _names(option: Option) -> str:
    """Short ones first, as they are mostly written; the value once."""
    names = sorted((name.replace("/", " / ") for name in option.names), key=len)
    return f"{', '.join(names)} {option.placeholder}".rstrip()


def _meaning(option: Option) -> str:
    default = default_text(option.field)
    if is_flag(option.field):
        yes, _, no = option.names[0].partition("/")
        default = {"True": yes, "False": no}.get(default, "")
    return f"{option.help} [default: {default}]" if default else option.help


def _drawn(page: Page, columns: int, heading: Paint, name: Paint) -> Iterator[str]:
    yield f"{heading('Usage:')} {page.usage}"
    for paragraph in page.text.split("\n\n"):
        yield ""
        yield from _wrapped(paragraph, columns)
    margin = min(_MARGIN, max(len(each) for _, rows in page.sections for each, _ in rows) + 4)
    for title, rows in page.sections:
        yield ""
        yield heading(f"{title}:")
        for each, meaning in rows:
            lines = _wrapped(meaning, max(columns - margin, 20))
            if len(each) + 4 > margin:
                yield f"  {name(each)}"
            else:
                yield f"  {name(each)}{' ' * (margin - len(each) - 2)}{lines.pop(0)}"
            yield from (" " * margin + line for line in lines)
    yield ""
    yield heading("Examples:")
    yield from (f"  {line}" for line in page.examples.splitlines())


def _wrapped(text: str, columns: int) -> list[str]:
    return wrap(text, columns, break_long_words=False, break_on_hyphens=False)


def _columns(stream: TextIO) -> int:
    columns = os.environ.get("COLUMNS", "")
    if columns.isdecimal() and int(columns):  # else it says nothing, as for other programs
        return int(columns)
    try:
        return os.get_terminal_size(stream.fileno()).columns or 80
    except (OSError, ValueError):  # not a terminal, or no file at all
        return 80


def _shows_colour(stream: TextIO) -> bool:
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb" or not stream.isatty():
        return False
    return sys.platform != "win32" or "WT_SESSION" in os.environ  # older consoles show the codes
