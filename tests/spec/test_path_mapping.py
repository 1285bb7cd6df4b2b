"""Requirement: URL-to-Filesystem Path Mapping."""

from __future__ import annotations

from hashlib import md5
from pathlib import Path

from sitemirror import mirror
from tests.conftest import RunCli
from tests.site import Site
from tests.spec.mirrored import Everywhere, Mirrored, sitemap_of


async def test_standard_url_path_mapping(site: Site, out: Path, run_cli: RunCli) -> None:
    """Standard URL path mapping: host, then a folder per segment, then index.md; and back from the file to the URL."""
    host = "docs.example.com"
    site.html_page("/api/users/create", "Create", "<h1>Create a user</h1>", host=host)
    site.html_page("/api/users.html", "Users", "<h1>All users</h1>", host=host)
    site.html_page("/", "Home", "<h1>Welcome</h1>", host=host)
    odd = "/Getting%20started/what%3F%20a%3Ab%22%3C%7C"
    site.html_page(odd, "Odd", "<h1>What?</h1>", host=host)
    sitemap_of(site, host, "/", "/api/users/create", "/api/users.html", odd)

    report = await mirror(f"http://{host}/", output=out, rate_limit=0, resolver=Everywhere(site))

    assert report.successful == 4
    mirrored = Mirrored(out / host)
    named = {"api/users/create/index.md", "api/users/index.md", "index.md"}
    assert mirrored.pages == {*named, "Getting_started/what__a_b___/index.md"}
    assert "# Create a user" in mirrored.text("api/users/create/index.md")
    file = out / host / "api" / "users" / "create" / "index.md"
    assert run_cli("where", file).stdout == f"http://{host}/api/users/create\n"
    said = run_cli("where", f"https://{host}/api/users/create").stdout
    assert said == str(Path("output") / host / "api" / "users" / "create" / "index.md") + "\n"


async def test_query_string_handling(site: Site, out: Path) -> None:
    """Query string handling: 8 digits of the query's MD5 tell searches apart, and none overwrites another."""
    host = "example.com"
    queries = ["q=test&page=2", "q=test&page=3", "page=2&q=test"]
    for query in queries:
        site.html_page(f"/search?{query}", query, f"<h1>Results for {query.replace('&', '&amp;')}</h1>", host=host)
    site.html_page("/search", "Search", "<h1>Search form</h1>", host=host)
    sitemap_of(site, host, "/search", *(f"/search?{query}" for query in queries))

    await mirror(f"http://{host}/", output=out, rate_limit=0, resolver=Everywhere(site))

    mirrored = Mirrored(out / host)
    names = {query: f"search__q_{md5(query.encode()).hexdigest()[:8]}.md" for query in queries}
    assert names["q=test&page=2"] == "search__q_93b5eb01.md"
    assert mirrored.pages == {"search/index.md", *names.values()}
    for query, name in names.items():
        assert f"Results for {query}" in mirrored.text(name)


async def test_fragment_stripping(site: Site, out: Path) -> None:
    """Fragment stripping: a page with anchors is one page, asked for once and without the fragment."""
    host = "example.com"
    site.html_page("/docs", "Docs", "<h1 id='installation'>Docs</h1>", host=host)
    sitemap_of(site, host, "/docs#installation", "/docs#usage", "/docs#")

    report = await mirror(f"http://{host}/", output=out, rate_limit=0, resolver=Everywhere(site))

    mirrored = Mirrored(out / host)
    assert mirrored.pages == {"docs/index.md"}
    assert [page["url"] for page in mirrored.manifest["pages"]] == [f"http://{host}/docs"]
    assert report.duplicates == 2
    assert site.count("/docs") == 1
    assert not any("#" in path for path in site.paths())


async def test_filename_length_enforcement(site: Site, out: Path) -> None:
    """Filename length enforcement: long names are cut and marked with their hash, and stay apart."""
    host = "example.com"
    common = "a" * 240
    long = [common + "-first", common + "-second"]
    just_fits = "b" * 197
    accented = "%C4%8D" * 130  # č: 130 characters, 260 bytes
    segments = [*long, just_fits, accented]
    for segment in segments:
        site.html_page(f"/docs/{segment}", "Long", f"<h1>Ends with {segment[-12:]}</h1>", host=host)
    sitemap_of(site, host, *(f"/docs/{segment}" for segment in segments))

    report = await mirror(f"http://{host}/", output=out, rate_limit=0, resolver=Everywhere(site))

    assert report.successful == 4
    mirrored = Mirrored(out / host)
    names = {path.removeprefix("docs/") for path in mirrored.pages}
    assert f"{just_fits}/index.md" in names
    for segment in [*long, accented]:
        [name] = [name for name in names if name.endswith(f"_{md5(segment.encode()).hexdigest()[:8]}.md")]
        assert len(name) <= 200
        assert len(name.encode()) <= 240
        assert f"Ends with {segment[-12:]}" in mirrored.text(f"docs/{name}")
    cut = [name for name in names if name.startswith("aaa")]
    assert [len(name) for name in cut] == [200, 200]
