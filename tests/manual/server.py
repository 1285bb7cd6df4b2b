"""A real manual behind a real web server: Debian's PostgreSQL manual, copied, served by nginx on loopback.

The test site answers as its tests tell it to; nginx and 1,169 pages that somebody else wrote do not.
"""

from __future__ import annotations

import getpass
import itertools
import os
import re
import shutil
import socket
import subprocess
import time
import urllib.request
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, Self
from urllib.error import URLError

SOURCE: Final = Path("/usr/share/doc/postgresql-doc-15/html")
_WAIT: Final = 10.0

_CONFIG: Final = """
{user}
daemon off;
worker_processes 1;
pid nginx.pid;
error_log error.log;
events {{ worker_connections 512; }}
http {{
  types {{ text/html html; text/css css; application/xml xml; image/svg+xml svg; }}
  default_type application/octet-stream;
  log_format plain '$request_method $status $request_uri';
  access_log access.log plain;
  client_body_temp_path tmp; proxy_temp_path tmp; fastcgi_temp_path tmp; uwsgi_temp_path tmp; scgi_temp_path tmp;
  keepalive_requests 100000;
  server {{
    listen 127.0.0.1:{port};
    root html;
  }}
}}
"""


def nginx() -> str | None:
    """The server's program. Debian keeps it where ordinary users do not look."""
    return shutil.which("nginx", path=os.environ.get("PATH", "") + os.pathsep + "/usr/sbin")


@dataclass(frozen=True, slots=True)
class Logged:
    """One line of the access log."""

    method: str
    status: int
    path: str


class Manual:
    """The manual on loopback, with a sitemap made from the files' times."""

    def __init__(self, folder: Path) -> None:
        program = nginx()
        assert program is not None
        self.folder = folder
        self.html = folder / "html"
        self._program = program
        self._log = folder / "access.log"
        self._marks = itertools.count()
        shutil.copytree(SOURCE, self.html, symlinks=False)
        (folder / "tmp").mkdir()
        self.pages = sorted(path.relative_to(self.html).as_posix() for path in self.html.rglob("*.html"))
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port: int = probe.getsockname()[1]
        # A server that was started by root would otherwise read the pages as nobody, who may not.
        user = f"user {getpass.getuser()};" if os.geteuid() == 0 else ""
        (folder / "nginx.conf").write_text(_CONFIG.format(user=user, port=self.port))
        self.write_sitemap()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def url_of(self, page: str) -> str:
        return f"{self.url}/{page}"

    def __enter__(self) -> Self:
        command = [self._program, "-p", str(self.folder), "-c", "nginx.conf", "-e", "error.log"]
        self._server = subprocess.Popen(command, stdin=subprocess.DEVNULL)
        deadline = time.monotonic() + _WAIT
        while True:
            with suppress(URLError), urllib.request.urlopen(f"{self.url}/sitemap.xml", timeout=1):
                return self
            if self._server.poll() is not None or time.monotonic() > deadline:
                self.__exit__()
                raise RuntimeError(f"nginx did not start: {(self.folder / 'error.log').read_text()}")
            time.sleep(0.01)

    def __exit__(self, *_: object) -> None:
        self._server.terminate()
        try:
            self._server.wait(_WAIT)
        except subprocess.TimeoutExpired:
            self._server.kill()
            self._server.wait(_WAIT)

    def write_sitemap(self, *, dated: Iterable[str] | None = None) -> None:
        """Lists every page; `dated` are those that get a lastmod, all of them when it is not given."""
        with_date = set(self.pages if dated is None else dated)
        rows = (
            f"<url><loc>{self.url_of(page)}</loc>{self._lastmod(page) if page in with_date else ''}</url>\n"
            for page in self.pages
        )
        document = f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n{"".join(rows)}</urlset>\n'
        (self.html / "sitemap.xml").write_text(document)

    def _lastmod(self, page: str) -> str:
        moment = datetime.fromtimestamp((self.html / page).stat().st_mtime, UTC)
        return f"<lastmod>{moment:%Y-%m-%dT%H:%M:%SZ}</lastmod>"

    def change(self, page: str, sentence: str) -> None:
        """Adds a sentence to a page, and says that this was a minute from now: later than any copy of it."""
        path = self.html / page
        text, count = re.subn(rb"</h[12]>", rf"\g<0><p>{sentence}</p>".encode(), path.read_bytes(), count=1)
        assert count, f"{page} has no heading to write under"
        path.write_bytes(text)
        later = time.time() + 60
        os.utime(path, (later, later))

    def restore(self) -> None:
        """Every page and the sitemap as they were at first."""
        for page in self.pages:
            if (self.html / page).stat().st_mtime != (SOURCE / page).stat().st_mtime:
                shutil.copy2(SOURCE / page, self.html / page)
        self.write_sitemap()

    # --- what the server saw

    def seen(self) -> list[Logged]:
        """Requests for pages so far, in the order they were answered."""
        self._settle()
        return [line for line in self.logged() if line.path.endswith(".html")]

    def answered(self) -> int:
        """How many requests the log has by now; for those who wait while a run goes on."""
        return self._log.read_bytes().count(b"\n")

    def forget(self) -> None:
        """Empties the log."""
        self._settle()
        os.truncate(self._log, 0)

    def logged(self) -> list[Logged]:
        """Every request that is in the log by now. A line counts only with its newline, since the last may be cut."""
        lines = (line.split(" ", 2) for line in self._log.read_text().split("\n")[:-1])
        return [Logged(method, int(status), path) for method, status, path in lines]

    def _settle(self) -> None:
        """A request is logged a moment after it is answered; once a later one is in the log, so are all before."""
        mark = f"/mark-{next(self._marks)}"
        with suppress(URLError):
            urllib.request.urlopen(f"{self.url}{mark}", timeout=_WAIT)
        deadline = time.monotonic() + _WAIT
        while not any(line.path == mark for line in self.logged()):
            assert time.monotonic() < deadline, "nginx does not write its log"
            time.sleep(0.01)
