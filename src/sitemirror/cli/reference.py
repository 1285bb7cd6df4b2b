"""Writes the command reference in `docs/` from the code, so that the two cannot drift apart.

python -m sitemirror.cli.reference > docs/reference.md
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence

from sitemirror import __version__
from sitemirror.cli.help import EXAMPLES, HELP, SITEMAP_TO_MARKDOWN_HELP
from sitemirror.cli.options import (
    ARGUMENTS,
    MORE_ARGUMENTS,
    Command,
    Option,
    Panel,
    default_text,
    is_flag,
    is_repeatable,
    options_of,
)
from sitemirror.cli.parser import SITEMAP_TO_MARKDOWN

_USAGE = {
    Command.LIST: "sitemirror list [OPTIONS] URL",
    Command.MIRROR: "sitemirror mirror [OPTIONS] URL\nsitemirror mirror [OPTIONS] --sites FILE",
    Command.CRAWL: "sitemirror crawl [OPTIONS] URL\nsitemirror crawl [OPTIONS] --sites FILE",
    Command.CONVERT: "sitemirror convert [OPTIONS] [--url URL] [--explain] FILE|URL|-",
    Command.VERIFY: "sitemirror verify [OPTIONS] DIR",
    Command.WHERE: "sitemirror where [OPTIONS] URL|FILE",
    Command.SEARCH: "sitemirror search [--limit N] [--json] QUERY [DIR …]",
    Command.EXPORT: "sitemirror export [--format FORMAT] [--sections] [--since DATE] [--output PATH] DIR …",
    Command.MCP: "sitemirror mcp [--http PORT] [DIR …]",
    Command.AGENTS: "sitemirror agents [--write FILE] [--mcp CLIENT] [--remove] [--yes] [DIR …]",
}

_HEAD = """# Command reference

Made from the code by `python -m sitemirror.cli.reference`; do not edit by hand.

`URL` may be a site, a part of a site (`https://example.com/docs/`: only what is under it is taken) or a sitemap.
`list`, `mirror`, `crawl` and `verify` print one JSON object to stdout when they end, also when they fail or are
interrupted; all else goes to stderr. Every option in the tables can also stand in the environment or in
`sitemirror.toml`: see [configuration](configuration.md).

| exit code | meaning |
| --- | --- |
| 0 | done; `status` is `ok`, or `partial` when something is missing or old: [errors](errors.md) |
| 1 | the run failed or was aborted, `verify` found a problem; `error` and `hint` say why and what to do |
| 2 | wrong usage; nothing on stdout |
| 129, 130, 143 | interrupted by SIGHUP, by Ctrl+C, by SIGTERM; the same command goes on where it stopped |

`mirror` and `crawl` take `--sites FILE` in place of a URL: [many sites at once](sites.md).
Every command also takes `--config FILE` and `-h`, `--help`; `sitemirror --version` prints the version.
"""

_DOOR = """## `sitemap-to-markdown`

{help}

```
sitemap-to-markdown --url URL [--mirror] [OPTIONS]
sitemap-to-markdown --sites FILE --mirror [OPTIONS]
```

`--mirror` saves the pages as `sitemirror mirror` does, `--list-only` (the default) writes the outline as
`sitemirror list` does. The options are those of the two commands.

{examples}
"""


def reference() -> str:
    """The whole page."""
    sections = [_HEAD, *map(_command, Command)]
    sections.append(_DOOR.format(help=SITEMAP_TO_MARKDOWN_HELP, examples=_examples(EXAMPLES[SITEMAP_TO_MARKDOWN])))
    return "\n".join(sections)


def _command(command: Command) -> str:
    tables = [table for panel in Panel if (table := _panel(panel, options_of(command)))]
    return (
        "\n\n".join(
            [
                f"## `sitemirror {command}`",
                HELP[command],
                f"```\n{_USAGE[command]}\n```",
                _examples(EXAMPLES[command], "" if command is Command.MCP else "sh"),
                _arguments(command),
                *tables,
            ]
        )
        + "\n"
    )


def _examples(text: str, language: str = "sh") -> str:
    """Format examples. Those without a language are not run by the tests: a server would not end."""
    return f"```{language}\n{text}\n```"


def _arguments(command: Command) -> str:
    rows = [ARGUMENTS[command], *MORE_ARGUMENTS.get(command, ())]
    lines = (f"| {_cell(f'`{name}`')} | {_cell(meaning)} |" for name, meaning in rows)
    return "\n".join(["| argument | meaning |", "| --- | --- |", *lines])


def _panel(panel: Panel, options: Sequence[Option]) -> str:
    rows = [_row(option) for option in options if option.panel is panel]
    if not rows:
        return ""
    return "\n".join([f"### {panel}", "", "| option | default | meaning |", "| --- | --- | --- |", *rows])


def _row(option: Option) -> str:
    value = f" {option.placeholder}" if option.placeholder else ""
    names = ", ".join(f"`{name}{value}`" for name in _spelled(option))
    default = _default(option)
    meaning = " ".join(filter(None, [option.help, _bounds(option)]))
    return f"| {_cell(names)} | {_cell(default)} | {_cell(meaning)} |"


def _spelled(option: Option) -> Iterable[str]:
    return (part for name in option.names for part in name.split("/"))


def _default(option: Option) -> str:
    if is_flag(option.field):
        if option.kind.default is None:
            return "–"
        yes, _, no = option.names[0].partition("/")
        if option.kind.default:
            return f"`{yes}`"
        return f"`{no}`" if no else "off"
    if is_repeatable(option.field) or not default_text(option.field):
        return "–"
    return f"`{default_text(option.field).replace(__version__, 'VERSION')}`"


def _bounds(option: Option) -> str:
    bounds = option.kind.bounds
    if bounds is None:
        return ""
    if bounds.le is not None:
        return f"({bounds.ge} to {bounds.le})"
    return f"(more than {bounds.gt})" if bounds.gt is not None else f"({bounds.ge} or more)"


def _cell(text: str) -> str:
    plain = text.replace("|", "\\|")
    return plain if "`" in text else plain.replace("<", "&lt;").replace("*", "\\*")


if __name__ == "__main__":
    sys.stdout.write(reference())
