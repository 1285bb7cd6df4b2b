"""The types of the library, as an editor, `help()` and mypy see them."""

from __future__ import annotations

import inspect
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import pytest

import sitemirror
from sitemirror.settings import COMMAND_LINE_ONLY, Options, SettingType, setting_types

ROOT = Path(__file__).parents[2]
FUNCTIONS = (
    sitemirror.mirror,
    sitemirror.mirror_sync,
    sitemirror.crawl,
    sitemirror.crawl_sync,
    sitemirror.list_site,
    sitemirror.list_site_sync,
    sitemirror.mirror_sites,
    sitemirror.mirror_sites_sync,
    sitemirror.crawl_sites,
    sitemirror.crawl_sites_sync,
    sitemirror.update_mirrors,
    sitemirror.update_mirrors_sync,
    sitemirror.convert_url,
    sitemirror.convert_url_sync,
    sitemirror.where,
    sitemirror.pages,
)


def expected(kind: SettingType) -> set[Any]:
    """The members of the union that an option of this kind has."""
    members: set[Any] = {kind.type}
    if kind.choices:
        members = {kind.type, *kind.choices}
    elif kind.type is Path:
        members = {str, os.PathLike[str]}
    elif kind.type is tuple:
        members = {Sequence[str]}
    return members | ({type(None)} if kind.optional else set())


def members(annotation: Any) -> set[Any]:
    if get_origin(annotation) in (Union, UnionType):
        return {each for part in get_args(annotation) for each in members(part)}
    return set(get_args(annotation)) if get_origin(annotation) is Literal else {annotation}


def test_options_are_the_settings() -> None:
    """A setting that is added, renamed or changed has to change in `Options`, too."""
    found = {name: members(annotation) for name, annotation in get_type_hints(Options).items()}
    assert found == {name: expected(kind) for name, kind in setting_types().items() if name not in COMMAND_LINE_ONLY}


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_functions_take_these_options(function: Any) -> None:
    """None of them takes anything."""
    assert function.__annotations__["options"] == "Unpack[Options]"
    shown = inspect.signature(function).parameters
    for name in Options.__annotations__:
        assert shown[name].default == setting_types()[name].default
        assert shown[name].annotation


def test_help_shows_options() -> None:
    """`help(sitemirror.mirror)` lists the names with their types and defaults."""
    command = [sys.executable, "-c", "import sitemirror; help(sitemirror.mirror)"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    for name in Options.__annotations__:
        assert f"{name}: " in done.stdout
    assert "rate_limit: float = 1.0" in done.stdout


SNIPPET = """
import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
import sitemirror

report: sitemirror.MirrorReport = sitemirror.mirror_sync("https://a.example/", rate_limit=3, output=Path("x"))
other: sitemirror.MirrorReport = asyncio.run(sitemirror.crawl("https://a.example/", format="markdown"))
listed: sitemirror.ListReport = asyncio.run(sitemirror.list_site("https://a.example/"))
sites: sitemirror.SitesReport = sitemirror.mirror_sites_sync(["https://a.example/"], include_path=("/a",))
page: sitemirror.Page = sitemirror.convert_url_sync("https://a.example/", content="main")
pages: AsyncIterator[sitemirror.MirroredPage] = sitemirror.pages("https://a.example/", discover="links")
"""

WRONG = (
    ('mirror_sync("https://a.example/", ratelimit=3)', 'Unexpected keyword argument "ratelimit"'),
    ('crawl("https://a.example/", format="pdf")', 'Argument "format" to "crawl" has incompatible type'),
    ('list_site_sync("https://a.example/", concurrency="many")', 'Argument "concurrency" to "list_site_sync"'),
    ("mirror_sites([], depth=1)", 'Unexpected keyword argument "depth"'),
    ('convert_url_sync("https://a.example/", fulltext=True)', 'Unexpected keyword argument "fulltext"'),
    ('pages("https://a.example/", on_error="panic")', 'Argument "on_error" to "pages"'),
)


def test_mypy_accepts_right_calls_and_refuses_wrong_ones(tmp_path: Path) -> None:
    """A misspelt option is found before the program runs."""
    lines = [f"sitemirror.{call}" for call, _ in WRONG]
    file = tmp_path / "snippet.py"
    file.write_text(SNIPPET + "\n".join(lines) + "\n", encoding="utf-8")
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file=", f"--cache-dir={tmp_path}", str(file)]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, env={**os.environ, "MYPYPATH": str(ROOT / "src")}
    )
    first = SNIPPET.count("\n") + 1
    errors = [line for line in done.stdout.splitlines() if ": error: " in line]
    assert len(errors) == len(WRONG), done.stdout
    for number, (line, (_, message)) in enumerate(zip(errors, WRONG, strict=True), first):
        assert f"snippet.py:{number}: error: {message}" in line
