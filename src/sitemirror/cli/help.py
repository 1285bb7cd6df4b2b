"""The help of each program and command, drawn as wide as the terminal."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from textwrap import wrap
from typing import Final, TextIO

from sitemirror.cli.config import DEFAULT_FILE
from sitemirror.cli.options import (
    ARGUMENTS,
    BASIC,
    CONFIG_ROW,
    HELP_ALL_ROW,
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
from sitemirror.cli.parser import COMPLETION, HELP, MIRROR_SITE, SHELLS, SITEMAP_TO_MARKDOWN, SITEMIRROR
from sitemirror.cli.streams import shows_colour

INTRODUCTION: Final = (
    "Copies a website to disk, as clean Markdown or as HTML with its assets: rate-limited, resumable, "
    "incremental.\n\n"
    "If a run is interrupted, run the same command again to resume it. In a pipe or a file, stdout is one JSON "
    "object; messages go to stderr."
)

TEXTS: Final = {
    Command.LIST: (
        "Finds a site's sitemaps and writes an outline of its URLs.\n\n"
        "The outline is saved as DIR/HOST/sitemap-TIME.md."
    ),
    Command.MIRROR: (
        "Saves every page in a site's sitemaps as Markdown.\n\n"
        "Pages are saved to DIR/HOST/. Run the same command again to resume an interrupted run."
    ),
    Command.CRAWL: (
        "Follows links from a page and saves pages with their images, stylesheets and scripts.\n\n"
        "Pages and mirror-index.json are saved to DIR/HOST/. robots.txt is obeyed. Run the same command again to "
        "resume an interrupted run."
    ),
    Command.UPDATE: (
        "Updates mirrors with the start URL and the options that they were made with.\n\n"
        "Like mirror or crawl with --update, for every mirror in the given folders. Options given here replace those "
        "of the mirrors. Passwords, headers and cookies are not stored: give them again."
    ),
    Command.CONVERT: ("Prints one page as Markdown.\n\nNothing is saved. Redirects of a URL are followed."),
    Command.VERIFY: (
        "Checks a mirror: files, hashes, local links and anchors, every URL accounted for.\n\n"
        "Prints each problem and changes nothing. Exits with 1 if it finds any."
    ),
    Command.WHERE: "Prints the file of a URL, or the URL of a file.",
    Command.SEARCH: (
        "Searches mirrors: ranked sections with file, lines and an excerpt.\n\n"
        "Any text is a query; text in double quotes is a phrase. A query that begins with a dash goes after --. The "
        "first search makes the index, _search.sqlite3 in each mirror; each search updates it."
    ),
    Command.EXPORT: (
        "Exports the text of mirrors for pipelines, as pages or as sections.\n\n"
        "Ids stay the same from one export to the next. --since exports what changed and what was removed. "
        "md packs all pages into files of at most --max-tokens. Exits with 1 if the file of a page is not readable."
    ),
    Command.AGENTS: (
        "Tells coding agents about mirrors.\n\n"
        "Prints an index of at most 8 KB that names every folder; --write puts it into a file that agents read by "
        "themselves. With --mcp, a client starts `sitemirror mcp` by itself. --remove undoes both."
    ),
    Command.MCP: (
        "Serves mirrors to agents over the Model Context Protocol, read-only.\n\n"
        "A client starts it and talks to it over stdin and stdout; `sitemirror agents --mcp` adds it to a client's "
        "configuration. Needs the extra: pip install 'sitemirror[mcp]'."
    ),
}

SITEMAP_TO_MARKDOWN_HELP: Final = (
    "Writes an outline of a site's sitemaps; with --mirror, saves every page in them as Markdown.\n\n"
    "The same as `sitemirror list` and `sitemirror mirror`, under the name and options of an older tool."
)

MIRROR_SITE_HELP: Final = (
    "Follows links from a page and saves pages with their images, stylesheets and scripts.\n\n"
    "The same as `sitemirror crawl`, under the name of an older tool."
)

EXAMPLES: Final = {
    SITEMIRROR: """\
sitemirror list https://docs.example.com/            # list the pages
sitemirror mirror https://docs.example.com/          # save them as Markdown
sitemirror update output/docs.example.com/           # fetch new and changed pages
sitemirror crawl https://docs.example.com/ -o html   # save HTML for offline reading
sitemirror convert https://docs.example.com/install  # print one page as Markdown
sitemirror verify output/docs.example.com/           # check files and links
sitemirror where https://docs.example.com/install    # print the file of a page
sitemirror search "rate limit"                       # find sections in mirrors
sitemirror export output/ -o pages.jsonl             # export pages for pipelines
sitemirror agents output/ --write AGENTS.md          # tell coding agents about mirrors
sitemirror mcp output/                               # serve mirrors to agents""",
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
    Command.UPDATE: """\
sitemirror update output/docs.example.com/
sitemirror update output/ --concurrency 4""",
    Command.CONVERT: """\
sitemirror convert https://docs.example.com/install
sitemirror convert https://docs.example.com/install --content main --no-front-matter > install.md
sitemirror convert https://docs.example.com/install --explain
echo '<h1>Hello</h1>' | sitemirror convert --no-front-matter
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
"""Columns of the widest text: longer lines are hard to read."""

_MARGIN: Final = 30
"""Columns for names; longer ones have a line of their own."""

_FEW: Final = 20
"""Options of a command that `--help` shows all of."""

Paint = Callable[[str], str]


@dataclass(frozen=True, slots=True)
class HelpPage:
    """Content of the help of a program or a command."""

    usage: str
    text: str
    sections: Sequence[tuple[str, Sequence[Row]]]
    examples: str


def help_of(path: str, stream: TextIO, *, all_options: bool = False) -> str:
    """Return the help of `path`, such as `sitemirror mirror`, drawn for `stream`."""
    colour = shows_colour(stream)
    heading: Paint = (lambda text: f"\x1b[1m{text}\x1b[0m") if colour else str
    name: Paint = (lambda text: f"\x1b[36m{text}\x1b[0m") if colour else str
    return "\n".join(_drawn(_page(path, all_options), min(_columns(stream), WIDEST), heading, name)) + "\n"


def _page(path: str, all_options: bool) -> HelpPage:
    program, _, command = path.partition(" ")
    if command:
        return _with_argument(path, TEXTS[Command(command)], Command(command), [], all_options)
    if program == MIRROR_SITE:
        return _with_argument(path, MIRROR_SITE_HELP, Command.CRAWL, [VERSION_ROW], all_options)
    if program == SITEMAP_TO_MARKDOWN:
        url, meaning = ARGUMENTS[Command.MIRROR]
        either = ("--mirror / --list-only", "Save the pages, or only write the outline. [default: --list-only]")
        options = options_of(Command.LIST, Command.MIRROR)
        file, many = SITES_ROW
        what = [(f"--url {url}", meaning), (file, f"With --mirror: {many[0].lower()}{many[1:]}"), either]
        usage = f"{path} --url {url} | {file} [OPTIONS]"
        sections = [("Action", what), *_sections(options, [VERSION_ROW], all_options)]
        return HelpPage(usage, SITEMAP_TO_MARKDOWN_HELP, sections, EXAMPLES[path])
    commands = [(command.value, TEXTS[command].partition("\n")[0]) for command in Command]
    commands += [
        (f"{COMPLETION} {'|'.join(SHELLS)}", "Prints a script that completes commands and options in your shell."),
        (f"{HELP} [COMMAND]", "Shows the help of a command."),
    ]
    sections = [("Commands", commands), ("Options", [VERSION_ROW, HELP_ROW])]
    return HelpPage(f"{path} COMMAND [OPTIONS] ...", INTRODUCTION, sections, EXAMPLES[path])


def _with_argument(path: str, text: str, command: Command, more: Sequence[Row], all_options: bool) -> HelpPage:
    argument = ARGUMENTS[command]
    key = path if path in EXAMPLES else command
    rows = [argument, *MORE_ARGUMENTS.get(command, ())]
    usage = f"{path} [OPTIONS] {argument[0]}"
    if SITES_ROW in rows:
        usage += f" | {SITES_ROW[0]}"
    sections = [("Arguments", rows), *_sections(options_of(command), more, all_options)]
    return HelpPage(usage, text, sections, EXAMPLES[key])


def _sections(options: Sequence[Option], more: Sequence[Row], all_options: bool) -> Iterator[tuple[str, Sequence[Row]]]:
    if not all_options and len(options) > _FEW:
        basic = [option for option in options if option.field in BASIC]
        yield "Common options", [(_names(option), _meaning(option)) for option in basic]
        name, meaning = HELP_ALL_ROW
        number = len(options) - len(basic)
        yield "Help", [*more, HELP_ROW, (name, f"{meaning.removesuffix('.')} ({number} more).")]
        return
    for panel in Panel:
        rows = [(_names(option), _meaning(option)) for option in options if option.panel is panel]
        if rows:
            yield panel, rows
    name, meaning = CONFIG_ROW
    yield "Other", [(name, f"{meaning} [default: {DEFAULT_FILE} in the working directory]"), *more, HELP_ROW]


def _names(option: Option) -> str:
    """Join the spellings of an option, short ones first, and its placeholder."""
    names = sorted((name.replace("/", " / ") for name in option.names), key=len)
    return f"{', '.join(names)} {option.placeholder}".rstrip()


def _meaning(option: Option) -> str:
    default = default_text(option.field)
    if is_flag(option.field):
        yes, _, no = option.names[0].partition("/")
        default = {"True": yes, "False": no}.get(default, "")
    return f"{option.help} [default: {default}]" if default else option.help


def _drawn(page: HelpPage, columns: int, heading: Paint, name: Paint) -> Iterator[str]:
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
    if columns.isdecimal() and int(columns):  # Else it is ignored, as other programs do.
        return int(columns)
    try:
        return os.get_terminal_size(stream.fileno()).columns or 80
    except (OSError, ValueError):  # Not a terminal, or not a file.
        return 80
