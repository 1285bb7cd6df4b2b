"""What the documentation says in passing is true: options, variables, files, fields, messages and names exist."""

from __future__ import annotations

import inspect
import re
import tomllib
from dataclasses import fields
from pathlib import Path

import pytest

import sitemirror
from sitemirror import errors, events
from sitemirror.cli.config import PREFIX, variable
from sitemirror.cli.options import MORE_ARGUMENTS, OPTIONS, opposites
from sitemirror.publish.manifest import PageRow
from sitemirror.run import crawl_loop
from sitemirror.settings import Settings, setting_types
from sitemirror.store import paths
from tests.conftest import RunCli
from tests.docs.blocks import PROSE, ROOT, blocks, prose

SPELLED = {part for option in OPTIONS for name in option.names for part in name.split("/")}
OTHERS = {"--config", "--help-all", "--sites", "--help", "--version", "--url", "--mirror", "--list-only"}
OTHERS |= {name.split()[0] for rows in MORE_ARGUMENTS.values() for name, _ in rows}
# Of programs that the pages mention besides ours.
FOREIGN = {"--kills", "--nginx", "--seed", "--steps", "--trace"}


@pytest.mark.parametrize("file", PROSE, ids=lambda file: str(file.relative_to(ROOT)))
def test_options_in_prose_exist(file: Path) -> None:
    """Every --option that a sentence or a table names is one."""
    named = set(re.findall(r"(?<![\w-])--[a-z][a-z-]*\b", prose(file)))
    assert named - SPELLED - OTHERS - FOREIGN == set()


@pytest.mark.parametrize("file", PROSE, ids=lambda file: str(file.relative_to(ROOT)))
def test_variables_exist(file: Path) -> None:
    """Every SITEMIRROR_… variable is read."""
    read_elsewhere = {PREFIX + name for name in ("CONFIG", "FAILPOINT", "VECTORS")}  # the last by the tests
    known = {variable(name) for name in (*setting_types(), *opposites())} | read_elsewhere
    text = file.read_text(encoding="utf-8")
    named = {name for name in re.findall(r"SITEMIRROR_[A-Z_]+", text) if not name.endswith("_")}
    assert named <= known


@pytest.mark.parametrize("file", PROSE, ids=lambda file: str(file.relative_to(ROOT)))
def test_files_named_in_prose_exist(file: Path) -> None:
    """A module or script that a page names by its path is there."""
    named = re.findall(r"`((?:[\w.-]+/)+[\w-]+\.(?:py|toml)|scripts/[\w-]+|tests/[\w/]+)`", prose(file))
    places = (ROOT, ROOT / "src" / "sitemirror", file.parent)
    assert [name for name in named if not any((place / name).exists() for place in places)] == []


def test_the_map_has_every_module() -> None:
    """docs/architecture.md names every module of the packages, and no other."""
    package, named = "", set[Path]()
    table = prose(ROOT / "docs" / "architecture.md")
    packages = "run|verification|store|publish|convert(?:/[a-z]+)?|fetch|frontier|sitemaps|links|cli|workers|sites"
    packages += "|reading|agents|mcp"
    for first, modules in re.findall(rf"(?m)^\| ({packages}|) ?\| [^|]+ \| ([a-z_, ]+) \|$", table):
        package = first or package
        named |= {ROOT / "src" / "sitemirror" / package / f"{module}.py" for module in modules.split(", ")}
    source = ROOT / "src" / "sitemirror"
    there = {path for path in source.glob("*/**/*.py") if path.name != "__init__.py"}
    assert named == there


def test_the_table_of_paths_is_the_map() -> None:
    """Each row of the table in docs/paths.md is what the program does with that URL."""
    rows = re.findall(r"(?m)^\| `(https://\S+)` \| `(\S+)` \|$", prose(ROOT / "docs" / "paths.md"))
    assert len(rows) > 10
    assert {url: paths.page_path(url) for url, _ in rows} == dict(rows)


def test_defaults_in_prose_are_the_defaults() -> None:
    """Defaults in the README and in the page on large sites are those of the settings."""
    large = prose(ROOT / "docs" / "large-sites.md")
    assert f"`--max-pages` is {Settings().max_pages:,} unless" in large
    assert f"`--min-free-mb` ({Settings().min_free_mb})" in large
    assert Settings().rate_limit == Settings().concurrency == 1
    readme = prose(ROOT / "README.md")
    assert "one request a second to each host" in readme
    assert f"stops after {Settings().max_pages:,} new pages (`--max-pages`)" in readme
    assert f"larger than {Settings().max_file_size:g} MB (`--max-file-size`)" in readme


def test_how_old_the_progress_can_be_is_said() -> None:
    """Whoever watches a run can tell from docs/files.md how often the file is rewritten."""
    assert crawl_loop.PROGRESS_INTERVAL == 10
    assert "every ten seconds" in prose(ROOT / "docs" / "files.md")


def test_the_tree_of_errors_is_the_tree() -> None:
    """docs/errors.md draws every class of sitemirror.errors under its parent."""
    (tree,) = [block.text for block in blocks(ROOT / "docs" / "errors.md") if "SitemirrorError" in block.text]
    drawn: dict[str, str] = {}
    above: list[tuple[int, str]] = []
    for line in tree.splitlines():
        found = re.match(r"([├└│─ ]*)(\w+)", line)
        assert found is not None
        above = [(depth, name) for depth, name in above if depth < len(found[1])]
        drawn[found[2]] = above[-1][1] if above else "Exception"
        above.append((len(found[1]), found[2]))
    classes = {cls for cls in vars(errors).values() if inspect.isclass(cls) and issubclass(cls, Exception)}
    assert drawn == {cls.__name__: cls.__bases__[0].__name__ for cls in classes}


def test_messages_in_the_table_are_in_the_code() -> None:
    """docs/errors.md quotes what the program really says."""
    source = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "src").rglob("*.py"))
    rows = re.findall(r"(?m)^\| `([^`]+)` \| [^|]+ \| [^|]+ \|$", prose(ROOT / "docs" / "errors.md"))
    assert len(rows) > 10
    for message in rows:
        # Capital words stand for what differs from case to case.
        for part in re.split(r"\(process N\)|: …|\b[A-Z]+\b", message):
            assert part.strip(" :") in source, message


def test_the_generators_are_listed() -> None:
    """docs/adapters.md names every generator that has a file, but for the two files that are about none."""
    text = (ROOT / "docs" / "adapters.md").read_text(encoding="utf-8")
    files = (ROOT / "src" / "sitemirror" / "convert" / "adapters").glob("*.toml")
    names = {tomllib.loads(file.read_text(encoding="utf-8"))["name"].partition(",")[0] for file in files}
    assert {name for name in names - {"common", "math"} if not re.search(rf"\b{name}\b", text)} == set()


def test_public_names_are_there_to_be_completed() -> None:
    """A prompt that completes names knows those that nothing has loaded yet, and each of them is there."""
    assert set(dir(sitemirror)) == set(sitemirror.__all__)
    assert all(hasattr(sitemirror, name) for name in dir(sitemirror))


def test_the_library_page_names_everything() -> None:
    """docs/library.md has every public name and every event, and no other."""
    text = (ROOT / "docs" / "library.md").read_text(encoding="utf-8")
    public = set(sitemirror.__all__) - {"__version__"}
    assert {name for name in public if name not in text} == set()
    assert set(re.findall(r"`(\w+Report|Page|Run)`", text)) <= public
    setting_types = {
        name for name, value in vars(events).items() if inspect.isclass(value) and value.__module__ == events.__name__
    }
    sentence = re.search(r"events\.py\)\): (.*?)\.", text, re.S)
    assert sentence is not None
    assert set(re.findall(r"`(\w+)`", sentence[1])) == setting_types


def test_the_fields_of_a_page_are_described() -> None:
    """docs/files.md names every field of a page in the manifest."""
    text = (ROOT / "docs" / "files.md").read_text(encoding="utf-8")
    names = [field.name for field in fields(PageRow)]
    assert [name for name in names if f"`{name}`" not in text and f"`{name}[]`" not in text] == []


def test_configuration_errors_read_as_shown(run_cli: RunCli, tmp_path: Path) -> None:
    """The mistake that docs/configuration.md shows is answered with the lines it shows."""
    (tmp_path / "sitemirror.toml").write_text("rate-limt = 2\n", encoding="utf-8")
    done = run_cli("mirror", "https://docs.example.com/", cwd=tmp_path)
    (shown,) = [block.text for block in blocks(ROOT / "docs" / "configuration.md") if "rate-limt" in block.text]
    assert (done.returncode, done.stderr) == (2, shown)


def test_changelog_has_this_version() -> None:
    """CHANGELOG.md has a section for the version that the package names."""
    assert f"## {sitemirror.__version__}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
