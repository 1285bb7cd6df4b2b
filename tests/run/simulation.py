"""A site, a mirror of it and its runs, without network or disk: the real `decide`, queue, journal and ending.

The site's answers are fixed for each run. Chance decides the order in which they come, how many are under way, when
writes are flushed, and where a run is interrupted or killed. What comes of it must not depend on chance.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from random import Random
from typing import Final, NamedTuple

from sitemirror.reasons import Reason
from sitemirror.run.decide import Answer, FileAction, Holding, LinkAction, Observation, Policy, decide, holding
from sitemirror.store import ending, journal, queue
from sitemirror.store.bulk_insert import BulkInsert, Listed
from sitemirror.store.path_allocation import html_beside, is_free, mark_published
from sitemirror.store.paths import collision_path, page_path, path_key
from sitemirror.store.tables import SCHEMA, ChangeKind, Due, FileKind, Place, UrlState
from sitemirror.store.url_record import FileRecord, RowChange, UrlRecord, apply_change, forget_files, load_record

START: Final = "https://x.org/"
URLS: Final = (
    START,
    "https://x.org/a",
    "https://x.org/a/",
    "https://x.org/a.html",
    "https://x.org/A",
    "https://x.org/b",
    "https://x.org/b/",
    "https://x.org/c?q=1",
    "http://x.org/b",
)
_REFUSALS: Final = {
    "404": Answer.NOT_FOUND,
    "410": Answer.REMOVED,
    "403": Answer.DENIED,
    "500": Answer.UNAVAILABLE,
    "type": Answer.WRONG_TYPE,
    "out": Answer.MOVED_OUT,
    "robots": Answer.EXCLUDED,
}
_REASONS: Final = dict(
    zip(
        _REFUSALS,
        (
            Reason.HTTP_STATUS,
            Reason.NOT_HTML,
            Reason.STILL_BUSY,
            Reason.TIMED_OUT,
            Reason.WRONG_TYPE,
            Reason.REDIRECT_OFF_DOMAIN,
            Reason.ROBOTS,
        ),
        strict=True,
    )
)


PASSES: Final = len(URLS)
"""After which failures count: a retried page may link to another one that fails at first."""


class Reply(NamedTuple):
    """What the site has at a URL: `text` and its name, a redirect and its target, or a refusal.

    `flaky` is a text that comes with the second request of a run that retries, and else not at all.
    """

    kind: str
    value: str = ""


class Run(NamedTuple):
    """A run, and the site as it is then."""

    kind: str  # list, html (a sitemap run that saves requisites), crawl
    renews: bool
    replaces_all: bool
    retries: bool
    replies: dict[str, Reply]
    listed: frozenset[str]
    deleted: frozenset[str]  # URLs whose files somebody deletes before


class Site(NamedTuple):
    """A few runs over a site that changes between them. A text links to the same URLs wherever it stands."""

    runs: tuple[Run, ...]
    links: dict[str, tuple[tuple[str, bool], ...]]
    canonicals: dict[str, str | None]
    has_validators: frozenset[str]
    both_formats: bool  # each page has two files


def random_site(chance: Random, runs: int = 3) -> Site:
    """A small site with much trouble."""
    pool = chance.sample(URLS[1:], chance.randint(3, 7))
    known = [START, *pool]

    def reply() -> Reply:
        kind = chance.choices(("text", "301", "302", "flaky", *_REFUSALS), (10, 5, 2, 2, 1, 1, 1, 2, 1, 1, 1))[0]
        if kind in ("text", "flaky"):
            return Reply(kind, chance.choice("uvwxyz"[: chance.randint(1, 6)]))
        return Reply(kind, chance.choice(known) if kind in ("301", "302") else "")

    letters = "uvwxyz"
    links = {
        letter: tuple((url, chance.random() < 0.3) for url in chance.sample(known, chance.randint(0, 3)))
        for letter in letters
    }
    kinds = chance.choice((("list",), ("html",), ("crawl",), ("list", "crawl"), ("html", "crawl")))
    made = []
    replies = {url: reply() for url in known}
    for number in range(runs):
        if number:
            replies = replies | {url: reply() for url in chance.sample(known, chance.randint(0, len(known)))}
        kind = chance.choice(kinds)
        if kind == "crawl" and chance.random() < 0.8:
            replies = replies | {START: Reply("text", chance.choice(letters))}
        made.append(
            Run(
                kind=kind,
                renews=number > 0 and chance.random() < 0.8,
                replaces_all=chance.random() < 0.1,
                retries=chance.random() < 0.4,
                replies=replies,
                listed=frozenset(chance.sample(known, chance.randint(1, len(known)))),
                deleted=frozenset(chance.sample(known, chance.choice((0, 0, 1, 2)))),
            )
        )
    return Site(
        tuple(made),
        links,
        {letter: chance.choice((None, None, chance.choice(known))) for letter in letters},
        frozenset(chance.sample(known, chance.randint(0, len(known)))),
        both_formats=chance.random() < 0.3,
    )


class Killed(Exception):
    """The process ends here."""


class Request(NamedTuple):
    id: int
    url: str
    conditional: bool


@dataclass
class Files:
    """A tree of files in memory. `kill` ends the process before an operation."""

    content: dict[str, bytes] = field(default_factory=dict)
    fuse: int | None = None

    def _burn(self) -> None:
        if self.fuse is not None:
            self.fuse -= 1
            if self.fuse < 0:
                self.fuse = None
                raise Killed

    def digest(self, path: str) -> bytes | None:
        found = self.content.get(path)
        return None if found is None else sha256(found).digest()

    def exists(self, path: str) -> bool:
        return path in self.content

    def write(self, path: str, data: bytes) -> None:
        self._burn()
        self.content[path] = data

    def rename(self, old: str, new: str) -> None:
        self._burn()
        self.content[new] = self.content.pop(old)

    def remove(self, path: str) -> None:
        self._burn()
        self.content.pop(path, None)


class Mirror:
    """A mirror on which runs are played."""

    def __init__(self, site: Site, chance: Random, *, interruptions: bool) -> None:
        self.site = site
        self.chance = chance
        self.interruptions = interruptions
        self.files = Files()
        self.db = sqlite3.connect(":memory:", isolation_level=None)
        self.db.executescript(SCHEMA)
        self.db.execute("INSERT INTO start (id, url) VALUES (1, ?)", (START,))
        self.number = 0
        self.run: Run = site.runs[0]
        self.steps = 0
        self._tries_again = False  # what fails for the moment is asked once more in this run
        self._asked: Counter[tuple[int, str]] = Counter()
        self._pending: list[tuple[RowChange, bytes, tuple[tuple[str, bool], ...]]] = []

    # --- runs --------------------------------------------------------------------------------------------------

    def play(self, number: int) -> None:
        """One run to its end, however often it is interrupted."""
        self.number, self.run = number, self.site.runs[number - 1]
        self._delete_files()
        self.db.execute(
            "INSERT INTO run (id, start_id, uuid, mode, scope, started_at, phase) VALUES (?, 1, '', ?, '', ?, 0)",
            (number, self.run.kind, self.now),
        )
        while True:
            if self.interruptions and self.chance.random() < 0.3:
                self.files.fuse = self.chance.randint(0, 6)
            try:
                if self._go_on():
                    return
            except Killed:
                if self.db.in_transaction:
                    self.db.execute("ROLLBACK")
            self.files.fuse = None
            self._pending.clear()
            if self.chance.random() < 0.2:  # and killed again while it recovers
                self.files.fuse = 0
                try:
                    journal.recover(self.db, self.files)
                except Killed:
                    if self.db.in_transaction:
                        self.db.execute("ROLLBACK")
                self.files.fuse = None
            journal.recover(self.db, self.files)
            ending.resolve_aliases(self.db)

    def _go_on(self) -> bool:
        """The run from where it is. False if it was interrupted."""
        phase = self.db.execute("SELECT phase FROM run WHERE id = ?", (self.number,)).fetchone()[0]
        if phase < 2:
            self._begin(phase)
            if not self._visit_all():
                return False
            self.db.execute("BEGIN")
            if self.run.kind == "crawl":
                queue.drop_unreached(self.db, self.rules)
            ending.decide_end(self.db, self._end())
            self.db.execute("UPDATE run SET phase = 2 WHERE id = ?", (self.number,))
            self._maybe_killed(0.05)
            self.db.execute("COMMIT")
            self._maybe_killed(0.05)
        journal.execute(self.db, self.files)
        self._maybe_killed(0.05)
        self.db.execute("BEGIN")
        mark_published(self.db)
        self.db.execute("UPDATE run SET finished_at = ? WHERE id = ?", (self.now, self.number))
        self.db.execute("COMMIT")
        return True

    def _begin(self, phase: int) -> None:
        self.db.execute("BEGIN")
        if phase == 0:
            queue.fill_queue(self.db, self.rules)
            if not self.run.renews:
                forget_files(self.db, self._lost())
            if self.run.kind != "crawl":
                listed = [Listed(url) for url in self._shuffled(sorted(self.run.listed))]
                BulkInsert(self.db, self.rules).add(1, listed)
                queue.drop_unlisted(self.db, self.rules)
        else:
            queue.resume_queue(self.db, self.rules)
        if self.run.kind == "crawl":
            queue.link_url(self.db, self.rules, START, 0, None)
        self.db.execute("UPDATE run SET phase = 1 WHERE id = ?", (self.number,))
        self.db.execute("COMMIT")

    def _visit_all(self) -> bool:
        """Visits what is due, in any order, and then what failed. False if somebody interrupts it."""
        for left in range(PASSES if self.run.retries else 0, -1, -1):
            self._tries_again = left > 0
            if not self._visit_due():
                return False
            if not queue.due_again(self.db):
                break
        return True

    def _visit_due(self) -> bool:
        under_way: dict[int, Request] = {}
        while True:
            self.steps += 1
            assert self.steps < 2_000, "the run does not end"
            if self.interruptions and self.chance.random() < 0.02:
                if self.chance.random() < 0.5:
                    return False
                raise Killed
            busy = under_way.keys() | {change.id for change, *_ in self._pending}
            due = self.db.execute(f"SELECT id FROM url WHERE queue = {Due.NOW} ORDER BY id")
            waiting = [id for (id,) in due.fetchall() if id not in busy]
            choices = ["start"] * bool(waiting and len(under_way) < 3) + ["end"] * bool(under_way)
            choices += ["flush"] * bool(self._pending)
            if not choices:
                return True
            match self.chance.choice(choices):
                case "start":
                    id = self.chance.choice(waiting)
                    under_way[id] = self._ask(id)
                case "end":
                    self._receive(under_way.pop(self.chance.choice([*under_way])))
                case "flush":
                    self._flush()

    # --- one URL -----------------------------------------------------------------------------------------------

    def _ask(self, id: int) -> Request:
        record = self._record(id)
        whole = self.run.kind == "crawl" and not record.links_known
        conditional = record.has_validators and holding(record) is not Holding.NOTHING and not whole
        return Request(id, record.url, conditional)

    def _receive(self, request: Request) -> None:
        reply = self.run.replies[request.url]
        record = self._record(request.id)
        copies = self.copies()
        self.db.execute("BEGIN")
        seen = self._observe(request, record, reply)
        decision = decide(record, seen, self.policy)
        columns = {
            name: getattr(decision, name)
            for name in (
                "state",
                "queue",
                "reason",
                "detail",
                "target_id",
                "since",
                "misses",
                "gone_since",
                "gone_cause",
            )
        }
        columns |= {"transient": int(decision.transient), "checked_run": self.number}
        change = RowChange(
            id=record.id,
            run=self.number,
            url=columns,
            event=decision.event,
            frees_duplicates=decision.frees_duplicates,
            clears_links=decision.links is LinkAction.CLEAR,
        )
        links = self.site.links[reply.value] if decision.links is LinkAction.REPLACE else ()
        if decision.file is not FileAction.LEAVE:
            validators = request.url in self.site.has_validators
            page: dict[str, object] = {"fetched_at": self.now}
            if decision.links is LinkAction.REPLACE:
                page |= {
                    "text_hash": _text_hash(reply.value).hex(),
                    "etag": "e" if validators else None,
                    "canonical": self.site.canonicals[reply.value],
                    "links_known": int(self._reads_links),
                }
            change = change._replace(page=page)
        if decision.event is ChangeKind.ADDED and record.path is not None and record.state != UrlState.ALIAS:
            change = change._replace(event=ChangeKind.CHANGED)  # Its file was deleted, or written by half.
        is_touched = decision.file is FileAction.TOUCH and decision.links is LinkAction.REPLACE
        if decision.file is FileAction.WRITE or (is_touched and self._lacks_file(record)):
            self.db.execute("COMMIT")
            self._pending.append((change, f"{request.url}\n{reply.value}".encode(), links))
            return
        if decision.links is LinkAction.REPLACE:
            self._replace_links(record, links)
        apply_change(self.db, change)
        queue.name_links_of(self.db, self.rules, record.id)
        if decision.checks_page and decision.target_id is not None:
            queue.check_page(self.db, self.rules, decision.target_id)
        self.db.execute("COMMIT")
        assert copies <= self.copies(), "an answer took a copy away"
        if len(self._pending) >= 3:
            self._flush()

    def _lacks_file(self, record: UrlRecord) -> bool:
        rows = self.db.execute("SELECT path FROM file WHERE url_id = ?", (record.id,)).fetchall()
        return not all(self.files.exists(path) for (path,) in rows)

    def _observe(self, request: Request, record: UrlRecord, reply: Reply) -> Observation:
        self._asked[self.number, request.url] += 1
        match reply.kind:
            case "flaky" if not self.run.retries or self._asked[self.number, request.url] == 1:
                return Observation(Answer.UNAVAILABLE, Reason.TIMED_OUT)
            case "text" | "flaky":
                digest = _text_hash(reply.value)
                if request.conditional and digest == self._asked_about(request):
                    return Observation(Answer.NOT_MODIFIED)
                same = record.text_hash == digest
                if holding(record) is Holding.DUPLICATE and record.target_id is not None:
                    same = same and load_record(self.db, record.target_id).shares_text(digest)
                return Observation(Answer.SAME_TEXT if same else Answer.NEW_TEXT)
            case "301" | "302":
                if reply.value == record.url:
                    return Observation(Answer.DENIED, Reason.REDIRECT_LOOP)
                target = queue.redirect_to(self.db, self.rules, reply.value, record.depth, record.id)
                if reply.kind == "302" and not self.run.replaces_all:
                    return Observation(Answer.MOVED_TEMPORARILY, Reason.MOVED_TEMPORARILY, None, target)
                return Observation(Answer.MOVED, Reason.MOVED, None, target)
            case refusal:
                return Observation(_REFUSALS[refusal], _REASONS[refusal])

    def _asked_about(self, request: Request) -> bytes | None:
        """The text that the validators of a request stand for."""
        return load_record(self.db, request.id).text_hash

    def _replace_links(self, record: UrlRecord, links: tuple[tuple[str, bool], ...]) -> None:
        self.db.execute("DELETE FROM link WHERE src_id = ?", (record.id,))
        for url, requisite in links:
            if self.run.kind == "crawl" or (self._reads_links and requisite):
                depth = (record.depth or 0) + (not requisite)
                target = queue.link_url(self.db, self.rules, url, depth, record.id)
                self.db.execute("INSERT OR IGNORE INTO link VALUES (?, ?, 0, ?)", (record.id, target, requisite))

    def _flush(self) -> None:
        """Writes pages as the journal wants it: links and intents, files, rows."""
        copies = self.copies()
        self.db.execute("BEGIN")
        changes = []
        promised: set[bytes] = set()
        for change, data, links in self._pending:
            record = self._record(change.id)
            self._replace_links(record, links)
            preferred = "x.org/" + page_path(record.url)
            hashed = collision_path(preferred, record.url)
            path = record.path or next(
                path
                for path in (preferred, hashed)
                if is_free(self.db, path, record.id) and path_key(path) not in promised
            )
            promised.update((path_key(path), path_key(preferred)))
            names = [(FileKind.MARKDOWN, path, preferred)]
            if self.site.both_formats:
                names.append((FileKind.HTML, html_beside(path), html_beside(preferred)))
            files = [
                FileRecord(
                    kind,
                    name,
                    meant,
                    path_key(meant).hex(),
                    size=len(data),
                    sha256=sha256(data).hexdigest(),
                )
                for kind, name, meant in names
            ]
            change = change._replace(files=tuple(files))
            journal.announce_write(self.db, change)
            changes.append(change)
        self.db.execute("COMMIT")
        self._maybe_killed(0.05)
        for change, (_, data, _) in zip(changes, self._pending, strict=True):
            for file in change.files:
                self.files.write(file.path, data)
        self._maybe_killed(0.05)
        self.db.execute("BEGIN")
        journal.finish_writes(self.db, changes)
        self.db.execute("COMMIT")
        self._pending.clear()
        assert copies <= self.copies(), "a write took a copy away"

    # --- the mirror --------------------------------------------------------------------------------------------

    @property
    def now(self) -> str:
        return f"2026-01-{self.number:02}T00:00:00Z"

    @property
    def rules(self) -> queue.RunRules:
        return queue.RunRules(self.number, 1, self.run.kind == "crawl", self.run.renews)

    @property
    def policy(self) -> Policy:
        return Policy(self.number, self.now, retries=self._tries_again, replaces_all=self.run.replaces_all)

    @property
    def _reads_links(self) -> bool:
        return self.run.kind != "list"

    def _end(self) -> ending.RunEnd:
        crawls = self.run.kind == "crawl"
        root = self.db.execute("SELECT id FROM url WHERE url = ?", (START,)).fetchone() if crawls else None
        finds_gone = self.run.renews or not crawls
        return ending.RunEnd(self.number, 1, crawls, root and root[0], self.run.kind == "html", finds_gone, self.now)

    def _record(self, id: int) -> UrlRecord:
        record = load_record(self.db, id)
        return record._replace(has_file=record.path is not None and record.path in self.files.content)

    def _delete_files(self) -> None:
        for url, path in self.db.execute("SELECT url, path FROM file JOIN url ON url.id = url_id").fetchall():
            if url in self.run.deleted:
                self.files.content.pop(path, None)

    def _lost(self) -> list[int]:
        rows = self.db.execute(
            "SELECT url_id, path FROM file JOIN url ON url.id = url_id"
            f" WHERE state = {UrlState.PAGE} AND gone_since IS NULL"
        ).fetchall()
        return [id for id, path in rows if path not in self.files.content]

    def copies(self) -> set[str]:
        """URLs that are pages with a file that says so."""
        rows = self.db.execute(
            f"SELECT url, path FROM file JOIN url ON url.id = url_id WHERE state = {UrlState.PAGE}"
        ).fetchall()
        return {url for url, path in rows if self.files.content.get(path, b"").startswith(f"{url}\n".encode())}

    def _shuffled(self, urls: list[str]) -> list[str]:
        self.chance.shuffle(urls)
        return urls

    def _maybe_killed(self, probability: float) -> None:
        if self.interruptions and self.chance.random() < probability:
            raise Killed

    # --- what came of it ---------------------------------------------------------------------------------------

    def outcome(self) -> dict[str, object]:
        """All that must not depend on the order of answers."""
        rows = self.db.execute(
            "SELECT url.url, url.state, url.reason, t.url, url.named, url.gone_since, url.gone_cause, url.misses,"
            " url.since, CASE WHEN url.reached_run = ? AND ? THEN url.depth END FROM url LEFT JOIN url AS t"
            " ON t.id = url.target_id ORDER BY url.url",
            (self.number, self.run.kind == "crawl"),
        ).fetchall()
        account = self.db.execute(
            "SELECT account.url, place, e.url, account.gone_since FROM account JOIN url AS e ON e.id = end_id"
            " ORDER BY account.url"
        ).fetchall()
        events = self.db.execute(
            "SELECT run_id, url, change.kind FROM change JOIN url ON url.id = url_id ORDER BY run_id, url"
        ).fetchall()
        return {"rows": rows, "account": account, "events": events, "tree": sorted(self.files.content.items())}

    def faults(self) -> Iterator[str]:
        """What is wrong with a mirror after a complete run."""
        db = self.db
        if due := db.execute("SELECT url FROM url WHERE queue != 0").fetchall():
            yield f"still queued: {due}"
        if left := db.execute("SELECT op, path FROM journal").fetchall():
            yield f"left in the journal: {left}"
        accounted = [url for (url,) in db.execute("SELECT url FROM account")]
        if len(accounted) != len(set(accounted)):
            yield f"accounted for twice: {accounted}"
        ends = {
            url: (place, end, text)
            for url, place, end, text in db.execute(
                "SELECT account.url, place, e.url, text_hash FROM account JOIN url AS e ON e.id = end_id"
                " LEFT JOIN page ON page.url_id = e.id"
            )
        }
        paths = dict(db.execute("SELECT path, url FROM file JOIN url ON url.id = url_id").fetchall())
        for url in self.run.listed if self.run.kind != "crawl" else ():
            place, end, text = ends.get(url, (0, "", b""))
            reply = self.run.replies[url]
            if not place:
                yield f"{url} is not accounted for"
            elif reply.kind == "text" and self.run.renews:
                if place not in (Place.PAGE, Place.ALIAS) or text != _text_hash(reply.value):
                    yield f"{url} answered {reply.value} and is {place} of {end}"
                elif f"{end}\n{reply.value}".encode() not in self.files.content.values():
                    yield f"no file says what {url} says"
        for path, data in self.files.content.items():
            if paths.get(path) is None or not data.startswith(f"{paths[path]}\n".encode()):
                yield f"{path} is of nobody, or another's: {data!r}"
        rows = db.execute(
            "SELECT path, sha256 FROM file JOIN url ON url.id = url_id WHERE checked_run = ? AND gone_since IS NULL",
            (self.number,),
        )
        yield from (f"{path} is not what its row says" for path, digest in rows if self.files.digest(path) != digest)


def _text_hash(text: str) -> bytes:
    return sha256(text.encode()).digest()[:16]
