"""A real manual behind a real web server: Debian's PostgreSQL manual, copied, served by nginx on loopback.

The test site answers as its tests tell it to; nginx and 1,169 pages that somebody else wrote do not.
"""

from __future__ import annotations

import itertools
import os
import re
import shutil
import time
import urllib.request
from collections.abc import Iterable
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Final
from urllib.error import URLError

from bench.server import Log, Nginx, Request

SOURCE: Final = Path("/usr/share/doc/postgresql-doc-15/html")
_WAIT: Final = 10.0


class Manual(Nginx):
    """The manual on loopback, with a sitemap made from the files' times."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, (), ["127.0.0.1"], Log.ON)
        self._marks = itertools.count()
        shutil.copytree(SOURCE, self.site, dirs_exist_ok=True)
        self.pages = sorted(path.relative_to(self.site).as_posix() for path in self.site.rglob("*.html"))
        self.write_sitemap()

    def url_of(self, page: str) -> str:
        return f"{self.url}/{page}"

    def write_sitemap(self, *, dated: Iterable[str] | None = None) -> None:
        """Lists every page; `dated` are those that get a lastmod, all of them when it is not given."""
        with_date = set(self.pages if dated is None else dated)
        rows = (
            f"<url><loc>{self.url_of(page)}</loc>{self._lastmod(page) if page in with_date else ''}</url>\n"
            for page in self.pages
        )
        document = f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n{"".join(rows)}</urlset>\n'
        (self.site / "sitemap.xml").write_text(document)

    def _lastmod(self, page: str) -> str:
        moment = datetime.fromtimestamp((self.site / page).stat().st_mtime, UTC)
        return f"<lastmod>{moment:%Y-%m-%dT%H:%M:%SZ}</lastmod>"

    def change(self, page: str, sentence: str) -> None:
        """Adds a sentence to a page, and says that this was a minute from now: later than any copy of it."""
        path = self.site / page
        text, count = re.subn(rb"</h[12]>", rf"\g<0><p>{sentence}</p>".encode(), path.read_bytes(), count=1)
        assert count, f"{page} has no heading to write under"
        path.write_bytes(text)
        later = time.time() + 60
        os.utime(path, (later, later))

    def restore(self) -> None:
        """Every page and the sitemap as they were at first."""
        for page in self.pages:
            if (self.site / page).stat().st_mtime != (SOURCE / page).stat().st_mtime:
                shutil.copy2(SOURCE / page, self.site / page)
        self.write_sitemap()

    # --- what the server saw

    def seen(self) -> list[Request]:
        """Requests for pages so far, in the order they were answered."""
        self._settle()
        return [seen for seen in self.requests() if seen.is_page]

    def forget(self) -> None:
        """Empties the log, of what is yet to be written to it as well."""
        self._settle()
        super().forget()

    def _settle(self) -> None:
        """A request is logged a moment after it is answered; once a later one is in the log, so are all before."""
        mark = f"/mark-{next(self._marks)}"
        with suppress(URLError):
            urllib.request.urlopen(f"{self.url}{mark}", timeout=_WAIT)
        deadline = time.monotonic() + _WAIT
        while not any(seen.path == mark for seen in self.requests()):
            assert time.monotonic() < deadline, "nginx does not write its log"
            time.sleep(0.01)
