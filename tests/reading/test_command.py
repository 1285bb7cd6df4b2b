"""`sitemirror search` as a person or a program calls it, over a mirror that a run has made."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

import sitemirror
from sitemirror.publish.file_names import SEARCH_INDEX
from tests.conftest import RunHere
from tests.reading.conftest import Published
from tests.site import Site

FIELDS = {
    "title",
    "headings",
    "url",
    "path",
    "lines",
    "tokens",
    "snippet",
    "score",
    "site",
    "fetched_at",
    "id",
    "anchor",
}


@pytest.fixture
def docs(mirror: Published) -> Published:
    mirror.have(
        {"a": "# Alpha\n\n## Rate limits\n\nThe rate limit is one.\n", "b": "# Beta\n\n- `--retries N`\n\n  Tries.\n"}
    )
    return mirror


def test_json_for_programs(docs: Published, run_here: RunHere) -> None:
    """Piped, one JSON object with the results; what is in `path` can be opened, and `lines` are its section."""
    done = run_here("search", "rate limit")
    assert done.returncode == 0
    assert set(done.json) == {"query", "results", "total", "elapsed_sec"}
    [result] = done.json["results"]
    assert set(result) == FIELDS
    assert result["headings"] == ["Alpha", "Rate limits"]
    assert result["path"] == "output/docs.example/a/index.md"
    lines = docs.file("a").read_text("utf-8").splitlines()
    assert lines[result["lines"][0] - 1] == "## Rate limits"
    assert done.stderr == ""


def test_option_as_query(docs: Published, run_here: RunHere) -> None:
    """What begins with a dash is a query after two of them."""
    done = run_here("search", "--limit", 1, "--", "--retries", docs.folder)
    assert [result["title"] for result in done.json["results"]] == ["Beta"]


def test_nothing_found(docs: Published, run_here: RunHere) -> None:
    """Exit code 1 and the nearest titles."""
    done = run_here("search", "alphab", "--json")
    assert done.returncode == 1
    assert done.json["results"] == []
    assert done.json["suggestions"][0] == "Alpha"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("search",), "missing argument 'QUERY'"),
        (("search", ""), "the query is empty"),
        (("search", "rate", "limit"), 'put a query of several words in quotes: "rate limit"'),
        (("search", "x", "--limit", "many"), "--limit must be a whole number"),
        (("search", "x", "--limit", "0"), "1 or more"),
        (("search", "x", "empty"), "no mirror in empty"),
    ],
)
def test_wrong_usage(docs: Published, run_here: RunHere, arguments: tuple[str, ...], said: str) -> None:
    """Exit code 2, and what to do."""
    (docs.folder.parent.parent / "empty").mkdir()
    done = run_here(*arguments)
    assert done.returncode == 2
    assert done.stdout == ""
    assert said in done.stderr


@pytest.mark.skipif(os.name != "posix", reason="needs a terminal")
def test_terminal(docs: Published, tmp_path: Path) -> None:
    """On a terminal: titles, file and line, URL, snippet with the words marked; nothing of a page can drive it."""
    docs.have({"a": "# Alpha \x1b]0;evil\x07\n\n## Rate limits\n\nThe rate limit \u202e is one.\n", "b": "# Beta\n"})
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "sitemirror", "search", "rate limit"]
    environment = {key: value for key, value in os.environ.items() if key != "NO_COLOR"}
    done = subprocess.run(command, cwd=tmp_path, stdout=theirs, stderr=subprocess.PIPE, env=environment, check=False)
    os.close(theirs)
    shown = os.read(ours, 100_000).decode()
    os.close(ours)
    assert done.returncode == 0
    assert "› Rate limits" in shown
    assert "output/docs.example/a/index.md:8" in shown
    assert "https://docs.example/a" in shown
    assert "\x1b[1;33mrate\x1b[0m" in shown
    assert "\x1b]" not in shown
    assert "\u202e" not in shown


def test_search_follows_an_update(site: Site, out: Path) -> None:
    """After `--update` of a site that changed one page, the new text is found and the old one is not."""
    site.page("/a", "<title>A</title><main><h1>A</h1><p>Aardvarks dig.</p></main>")
    site.page("/b", "<title>B</title><main><h1>B</h1><p>Badgers dig.</p></main>", etag='"1"')
    site.sitemap()
    sitemirror.mirror_sync(site.url, output=out, rate_limit=0)
    assert [result.title for result in sitemirror.search("badgers", out).results] == ["B"]
    site.page("/b", "<title>B</title><main><h1>B</h1><p>Bears sleep.</p></main>", etag='"2"')
    sitemirror.mirror_sync(site.url, output=out, update=True, rate_limit=0)
    assert sitemirror.search("badgers", out).results == ()
    assert [result.title for result in sitemirror.search("bears", str(out)).results] == ["B"]
    assert sitemirror.verify(out).problems == ()
    assert len(list(out.glob(f"*/{SEARCH_INDEX}"))) == 1
    assert {section.headings for section in sitemirror.sections(out)} == {("A",), ("B",)}


def test_result_is_plain_data(docs: Published, run_here: RunHere) -> None:
    """The library and the command give the same results."""
    found = sitemirror.search("rate limit", docs.folder)
    printed = json.loads(run_here("search", "rate limit", docs.folder).stdout)
    assert [result.id for result in found.results] == [result["id"] for result in printed["results"]]
