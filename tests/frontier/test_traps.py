"""Endless sites are cut, large ones are not."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections.abc import Callable, Iterable
from itertools import permutations, product

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from sitemirror.frontier.traps import FULL_STEP, Limits, ParamRules, Trail, Traps, strip_session_and_tracking
from sitemirror.reasons import Cause, Reason
from sitemirror.urls import InvalidUrl, normalize

SITE = "https://example.com"
REPEATS = Cause(Reason.TRAP_REPEATS, "3")
TOKEN = "5e1f0a9b3c7d2e485e1f0a9b3c7d2e48"


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/docs/api/v1.2/users/create.html?page=2",
        "/" + "/".join(f"level{n}" for n in range(32)),
        "/" + "/".join(f"level{n}" for n in range(32)) + "/",
        "/a/a/a",
        "/en/guide/en/api/en/x",
        "/tiles/1/12/1/7/1/3/1/9/1",
        "/2024/01/02/2024-01-02-news",
        "/objects/ab/cd/ab/ef/ab/12/ab",
        "/" + "x" * 1900,
    ],
)
def test_real_sites_pass(path: str) -> None:
    """Deep, long and recurring paths of the kind that people make are let through."""
    assert Traps().reason(SITE + path, chain=200 * FULL_STEP) is None


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("/" + "x" * 2000, Cause(Reason.TRAP_LONG_URL, "2000")),
        ("/" + "/".join(f"level{n}" for n in range(33)), Cause(Reason.TRAP_DEPTH, "32")),
        ("/" * 40, Cause(Reason.TRAP_DEPTH, "32")),
        ("/docs/docs/docs/docs/", REPEATS),
        ("/a/b/a/b/a/b/a/b", REPEATS),
        ("/1/1/1/1", REPEATS),
        ("/x/1/2/3/1/2/3/1/2/3/1/2/3/y", REPEATS),
        ("/news/more/old/news/old/more/news/more/more/x", REPEATS),
    ],
)
def test_growing_urls_are_cut(path: str, reason: Cause) -> None:
    """Each way of growing has its limit, and the reason names it."""
    assert Traps().reason(SITE + path, chain=0) == reason


def crawl(traps: Traps, start: str, *references: str) -> int:
    """How many pages a crawler gets from a site where every page has these references; `{next}` is always new."""
    seen = {start}
    queue = [(start, [start], 0)]
    for url, way, chain in queue:
        assert len(seen) < 5_000, "the trap has no end"
        for reference in references:
            found = strip_session_and_tracking(normalize(reference.replace("{next}", str(len(seen))), url))
            length = traps.chain_length(Trail(way), chain, found)
            if found not in seen and not traps.reason(found, chain=length):
                seen.add(found)
                traps.accept(found)
                queue.append((found, [found, *way[:15]], length))
    return len(seen)


def test_an_endless_calendar_ends() -> None:
    """From month to month by path: cut after 200 steps."""
    assert crawl(Traps(), SITE + "/cal/2031/05", "/cal/2031/{next}") == 201


def test_a_calendar_in_the_query_ends() -> None:
    """Whichever limit comes first."""
    assert crawl(Traps(), SITE + "/cal?m=0", "/cal?m={next}") == 201
    assert crawl(Traps(Limits(max_chain=0, max_queries=500)), SITE + "/cal", "/cal?m={next}") == 501


def test_ever_deeper_paths_end() -> None:
    """A page that is served for every path, and links relatively to itself and its neighbours."""
    assert crawl(Traps(), SITE + "/", "docs/") == 4
    assert crawl(Traps(), SITE + "/", "docs/", "news/") < 100
    assert crawl(Traps(), SITE + "/", "d{next}/") == 33


def accepted(traps: Traps, queries: Iterable[str], path: str = "/list") -> int:
    """How many of the queries are let through."""
    count = 0
    for query in queries:
        if not traps.reason(f"{SITE}{path}?{query}", chain=0):
            traps.accept(f"{SITE}{path}?{query}")
            count += 1
    return count


COMBINED = Cause(Reason.TRAP_COMBINATIONS)


def test_filters_end() -> None:
    """Twelve filters with two values each: 500 combinations and one query for each value, of 4,096."""
    traps = Traps()
    filters = ["&".join(f"f{bit}={n >> bit & 1}" for bit in range(12)) for n in range(4_096)]
    assert accepted(traps, filters) == pytest.approx(500 + 24, abs=5)
    assert traps.reason(f"{SITE}/list?{filters[-1]}", chain=0) == COMBINED
    assert traps.reason(SITE + "/list", chain=0) is None
    assert traps.reason(SITE + "/list?page=7", chain=0) is None  # a value that is new
    assert traps.reason(SITE + "/other?f1=1&f2=1", chain=0) is None
    assert traps.reason("https://www.example.com/list?f1=1&f2=1", chain=0) is None


@pytest.mark.parametrize(
    "joined",
    ["&".join, lambda chosen: "on=" + ",".join(chosen), lambda chosen: "on=" + "+".join(chosen)],
    ids=["parameters", "a list", "words"],
)
def test_filters_that_are_put_on_one_by_one_end(joined: Callable[[Iterable[str]], str]) -> None:
    """Any subset of twelve switches, as parameters of their own or as a list in one."""
    subsets = (joined(f"s{bit}" for bit in range(12) if n >> bit & 1) for n in range(1, 4_096))
    assert accepted(Traps(), subsets) < 540


def test_orders_end() -> None:
    """The same four filters in the order they were clicked in: four of 24, and of all that has three of them."""
    names = ("colour=red", "size=m", "brand=x", "sort=up")
    traps = Traps()
    assert accepted(traps, map("&".join, permutations(names))) == 4
    assert traps.reason(f"{SITE}/list?" + "&".join(reversed(names)), chain=0) == Cause(Reason.TRAP_ORDERS, "4")
    assert accepted(traps, map("&".join, permutations(names, 2))) == 12  # two have two orders only
    assert accepted(traps, (f"a={n}&b={n}" if n % 2 else f"b={n}&a={n}" for n in range(1_000))) == 1_000


def test_filters_with_a_way_back_end() -> None:
    """A parameter that repeats the whole query does not make each of them something new."""
    queries = ["&".join(f"f{bit}={n >> bit & 1}" for bit in range(12)) for n in range(4_096)]
    assert accepted(Traps(), (f"{query}&back=%2Flist%3F{n}" for n, query in enumerate(queries))) < 540
    assert accepted(Traps(), (f"back=/list?p={n}" for n in range(4_096)), "/login") < 540


def test_pages_of_filters_end() -> None:
    """Of a list of 100 pages under 64 filters, as many combinations as 20 to a page, of 6,400."""
    queries = (
        f"page={page}&" + "&".join(f"f{bit}={n >> bit & 1}" for bit in range(6))
        for n in range(64)
        for page in range(100)
    )
    assert accepted(Traps(), queries) == pytest.approx(2_000 + 112, abs=5)


def test_a_forum_is_read_whole() -> None:
    """8,000 topics, a tenth of them several pages long, under the names and with the ways in that forums give them."""
    topics = [f"f={t % 30}&t={t}" for t in range(8_000)]
    pages = [f"f={t % 30}&t={t}&start={page * 10}" for t in range(0, 8_000, 10) for page in range(1, 2 + t % 9)]
    posts = [f"p={p}" for p in range(0, 16_000, 7)]
    others = ["view=unread", "search_id=active", "f=2&view=all", "mode=faq"]
    queries = [*topics, *pages, *posts, *others]
    assert accepted(Traps(), queries, "/viewtopic.php") == len(queries)
    random.Random(1).shuffle(queries)
    assert accepted(Traps(), queries, "/viewtopic.php") == len(queries)


def test_a_wiki_is_read_whole() -> None:
    """1,500 articles, each with its history, its source and a few old versions."""
    titles = [f"title=The_{word}_of_{n % 71}+and+{n % 13}" for n, word in enumerate(f"w{n}" for n in range(1_500))]
    actions = [f"{title}&action={action}" for title in titles for action in ("history", "edit", "info", "raw")]
    versions = [f"{title}&oldid={n * 3 + old}" for n, title in enumerate(titles) for old in range(3)]
    assert accepted(Traps(), [*titles, *actions, *versions], "/index.php") == 1_500 * 8


def test_an_endless_id_ends() -> None:
    """A new token in every link is no archive."""
    assert accepted(Traps(Limits(max_queries=3_000)), (f"token={n:x}" for n in range(10_000))) == 3_000
    assert Limits().max_queries == 100_000


def test_session_ids_do_not_multiply_pages() -> None:
    """A site that puts a new session into every link has as many pages as it has."""
    page = f"/page?PHPSESSID={TOKEN}{{next}}"
    assert crawl(Traps(), SITE + "/", page, "/b;jsessionid={next}", "/c?x=1&sid=" + TOKEN + "{next}") == 4


def test_large_flat_sites_are_not_cut() -> None:
    """An index that names 5,000 numbered pages, each linking back and to a neighbour, is read whole."""
    traps = Traps()
    index = SITE + "/items/"
    for n in range(5_000):
        url = f"{SITE}/items/{n}.html"
        chain = traps.chain_length(Trail([index]), 0, url)
        assert (chain, traps.reason(url, chain=chain)) == (0, None)
        traps.accept(url)


def test_a_limit_of_zero_is_none() -> None:
    """0 = no limit, for each of them."""
    traps = Traps(
        Limits(max_url=0, max_depth=0, max_repeats=0, max_combinations=0, max_orders=0, max_queries=0, max_chain=0)
    )
    path, orders = "/a" * 3_000, list(map("&".join, permutations("abcdef")))
    assert accepted(traps, orders, path) == len(orders) == 720
    assert traps.reason(SITE + path + "?a", chain=10_000) is None


@pytest.mark.parametrize(
    ("url", "bare"),
    [
        (f"/p?PHPSESSID={TOKEN}", "/p"),
        ("/p?phpsessid=1&x=2", "/p?x=2"),
        ("/p?a=1&PHPSESSID=x&b=2", "/p?a=1&b=2"),
        ("/p?a=1&amp;PHPSESSID=x", "/p?a=1"),
        ("/p;jsessionid=0A1B.node1?x=1", "/p?x=1"),
        ("/a;JSESSIONID=1/b;jsessionid=2;v=3", "/a/b;v=3"),
        ("/p?jsessionid=1", "/p"),
        ("/p?ASPSESSIONIDQQABCD=X", "/p"),
        ("/p?ASP.NET_SessionId=X", "/p"),
        ("/p?CFID=12&CFTOKEN=34&id=5", "/p?id=5"),
        ("/shop?osCsid=x&zenid=y&XTCsid=z", "/shop"),
        (f"/p?sid={TOKEN}&t=1", "/p?t=1"),
        ("/p?sessionid=Zm9vYmFyMTIzYmF6", "/p"),
        ("/p?session_id=550e8400-e29b-41d4-a716-446655440000", "/p"),
        (f"/f?s={TOKEN}&t=1", "/f?t=1"),
        (f"/p;sid={TOKEN}", "/p"),
        ("/(S(lit3py55t21z5v55vlm25s55))/p.aspx", "/p.aspx"),
        ("/x/(A(aB_1-)F(cd)S(ef))/p.aspx", "/x/p.aspx"),
        ("/a/b/..;jsessionid=1/c", "/a/c"),
        ("/(S(x));jsessionid=1/c", "/c"),
    ],
)
def test_session_id_is_removed(url: str, bare: str) -> None:
    """In the query, in the path, in any case; the rest of the URL is unchanged."""
    assert strip_session_and_tracking(SITE + url) == SITE + bare


@pytest.mark.parametrize(
    "url",
    [
        "/",
        "/story?sid=12",
        "/talks?session=keynote-2024-opening-part-2",
        "/talks?sessionid=4711",
        "/talks?session_id=1234567890123456",
        "/?s=python+release",
        "/?s=a-long-search-phrase-of-2024",
        "/?s=averylongword1234567890",
        "/p?",
        "/p?&&a=1&",
        "/sessions/1?class=2",
        "/p?x=PHPSESSID",
        "/p?myphpsessid=1",
        "/p;v=1/q",
        "/(x)/y",
        "/wiki/Foo_(S)/",
    ],
)
def test_what_is_no_session_id_stays(url: str) -> None:
    """Stories, conference sessions and searches have names like those of sessions, but not their values."""
    assert strip_session_and_tracking(SITE + url) == SITE + url


@pytest.mark.parametrize(
    ("url", "bare"),
    [
        ("/p?utm_source=a&utm_medium=b&id=5", "/p?id=5"),
        ("/p?gclid=x", "/p"),
        ("/p?a=1&fbclid=x&b=2", "/p?a=1&b=2"),
        ("/p?UTM_Campaign=x&amp;utm_term=y", "/p"),
        ("/p?msclkid=x&mc_cid=y&mc_eid=z&_hsenc=1&mkt_tok=2&igshid=3&yclid=4&gbraid=5&_gl=6", "/p"),
        ("/p?utm=1", "/p?utm=1"),
        ("/p?source=utm_source", "/p?source=utm_source"),
        ("/utm_source/p?id=fbclid", "/utm_source/p?id=fbclid"),
    ],
)
def test_tracking_parameters_are_removed(url: str, bare: str) -> None:
    """By their names, in any case; values and paths do not matter."""
    assert strip_session_and_tracking(SITE + url) == SITE + bare


@pytest.mark.parametrize(
    ("strip", "keep", "bare"),
    [
        (("print",), (), "/p?sort=a&a%20b=1"),
        (("s*", "p*"), (), "/p?a%20b=1"),
        (("a b",), (), "/p?sort=a&print=1"),
        (("*",), ("sort",), "/p?sort=a"),
        ((), ("utm_*",), "/p?sort=a&utm_x=1&print=1&a%20b=1"),
        (("nothing",), ("nothing",), "/p?sort=a&print=1&a%20b=1"),
    ],
)
def test_rules_for_parameters(strip: tuple[str, ...], keep: tuple[str, ...], bare: str) -> None:
    """Globs for decoded names; what is kept counts before what is stripped."""
    assert (
        strip_session_and_tracking(f"{SITE}/p?sort=a&utm_x=1&print=1&a%20b=1", ParamRules(strip, keep)) == SITE + bare
    )


PATHS = st.text("abS(;=/.?&1%", max_size=30)
SESSIONS = st.sampled_from([";jsessionid=1", f"?sid={TOKEN}", "&PHPSESSID=", "(S(x))", "/..", "/.", "/", "&", "?a=1"])


@given(st.lists(PATHS | SESSIONS, max_size=6).map("".join))
def test_a_url_without_session_is_final(tail: str) -> None:
    """It is normalised, on the same origin, never longer, and has no session left to take out."""
    try:
        url = normalize(SITE + "/" + tail)
    except InvalidUrl:
        assume(False)
    bare = strip_session_and_tracking(url)
    assert normalize(bare) == bare
    assert bare.startswith(SITE + "/")
    assert len(bare) <= len(url)
    assert strip_session_and_tracking(bare) == bare


@given(st.text(max_size=60), st.text(max_size=60), st.integers(0, 3000))
def test_no_text_raises(one: str, other: str, chain: int) -> None:
    """Not even what is no URL at all."""
    traps = Traps()
    traps.accept(one)
    reason = traps.reason(other, chain=chain)
    assert reason is not None if chain > 200 * FULL_STEP else reason in (None, REPEATS)
    assert traps.chain_length(Trail([one]), chain, other) in (0, chain + FULL_STEP)
    strip_session_and_tracking(one)


QUERIES = st.lists(
    st.builds("https://example.com/{}?a={}&b={}".format, st.sampled_from("xyz"), st.integers(0, 5), st.integers(0, 5)),
    max_size=60,
    unique=True,
)


@given(QUERIES.flatmap(lambda urls: st.tuples(st.just(urls), st.permutations(urls))))
@settings(max_examples=30, deadline=None)
def test_the_order_of_acceptance_does_not_matter(orders: tuple[list[str], list[str]]) -> None:
    """A resumed run that is fed the accepted URLs in any order judges as the first one would have."""
    limits = Limits(max_combinations=5)
    first, again = Traps(limits), Traps(limits)
    for traps, order in zip((first, again), orders, strict=True):
        for url in order:
            traps.accept(url)
    for path, a, b in product("xyz", range(6), range(6)):
        url = f"https://example.com/{path}?b={b}&a={a}&c"
        assert first.reason(url, chain=0) == again.reason(url, chain=0)


def test_any_number_of_queries_takes_the_same_memory() -> None:
    """A hostile site cannot fill the memory with paths or values, nor use up the limit of another path."""
    traps = Traps()
    before = sum(map(len, traps._queries._rows)), len(traps._queries._bits)
    for n in range(20_000):
        traps.accept(f"{SITE}/p{n}?x={n}")
    assert (sum(map(len, traps._queries._rows)), len(traps._queries._bits)) == before == (4 * 131_072, 4 * 1024 * 1024)
    assert accepted(traps, (f"f{n % 40}&g{n % 50}" for n in range(200)), "/q") == 200


def test_judgements_do_not_depend_on_the_process() -> None:
    """Where a path is counted is the same in every process, however Python's own hashes are seeded."""
    code = "from sitemirror.frontier.traps import _hashes; print(_hashes('https://example.com/x'))"
    answers = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(answers) == 1
