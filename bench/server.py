"""nginx on loopback, in front of a corpus or of many small sites; it ends when the benchmark does, however that ends.

The manuals are served from where they are installed; only robots.txt, sitemaps and the configuration are written.
"""

from __future__ import annotations

import getpass
import os
import shutil
import socket
import subprocess
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Final, Self
from urllib.error import HTTPError, URLError

from bench.corpus import BOOKS, Book, Corpus
from bench.processes import ending_with_us
from bench.program import DidNotWork

_WAIT: Final = 10.0

_CONFIG: Final = """
{user}
daemon off;
worker_processes 1;
pid nginx.pid;
error_log error.log;
events {{ worker_connections 4096; }}
http {{
  types {{ text/html html; text/css css; application/javascript js; application/xml xml; text/plain txt;
           image/svg+xml svg; image/png png; image/gif gif; image/jpeg jpg; font/woff woff; font/woff2 woff2; }}
  default_type application/octet-stream;
  log_format timed '$msec $request_time $server_addr $request_method $status $request_uri';
  {log}
  client_body_temp_path tmp; proxy_temp_path tmp; fastcgi_temp_path tmp; uwsgi_temp_path tmp; scgi_temp_path tmp;
  charset utf-8;
  sendfile on;
  tcp_nodelay on;
  keepalive_requests 1000000;
  server {{
{listen}
    root site;
{locations}
  }}
}}
"""


class Log(Enum):
    """Whether requests are written down. Those who only ask for speed do without."""

    OFF = "access_log off;"
    ON = "access_log access.log timed;"


@dataclass(frozen=True, slots=True)
class Request:
    """One line of the access log: when the request came, in seconds since 1970, for which address and what."""

    time: float
    address: str
    method: str
    status: int
    path: str

    @property
    def is_page(self) -> bool:
        return self.path.endswith(".html")


def program() -> str | None:
    """nginx's path. Debian keeps it where ordinary users do not look."""
    return shutil.which("nginx", path=os.environ.get("PATH", "") + os.pathsep + "/usr/sbin")


def missing() -> str | None:
    """What benchmarks that serve manuals cannot do without, if it is not here."""
    if program() is None:
        return "nginx is not installed"
    return None if any(book.installed for book in BOOKS) else "none of the manuals is installed: python -m bench.corpus"


def free_port(address: str = "127.0.0.1") -> int:
    """A port that nobody listens on, a moment ago at least."""
    with socket.socket() as probe:
        probe.bind((address, 0))
        port: int = probe.getsockname()[1]
        return port


class Nginx:
    """nginx with a `site` folder for what is written and `locations` for what is not, on one or more addresses."""

    def __init__(self, folder: Path, locations: Sequence[str], addresses: Sequence[str], log: Log) -> None:
        self.folder = folder
        self.site = folder / "site"
        self.addresses = addresses
        self.port = free_port(addresses[0])
        self._log = folder / "access.log"
        self.site.mkdir()
        (folder / "tmp").mkdir()
        # A server that was started by root would otherwise read the pages as nobody, who may not.
        user = f"user {getpass.getuser()};" if os.geteuid() == 0 else ""
        listen = "\n".join(f"    listen {address}:{self.port} backlog=4096;" for address in addresses)
        text = _CONFIG.format(user=user, log=log.value, listen=listen, locations="\n".join(locations))
        (folder / "nginx.conf").write_text(text, encoding="utf-8")

    @property
    def url(self) -> str:
        """Of the first address."""
        return self.url_at(self.addresses[0])

    def url_at(self, address: str) -> str:
        return f"http://{address}:{self.port}"

    def __enter__(self) -> Self:
        found = program()
        assert found is not None
        command = [found, "-p", str(self.folder), "-c", "nginx.conf", "-e", "error.log"]
        self._server = subprocess.Popen(ending_with_us(command), stdin=subprocess.DEVNULL)
        deadline = time.monotonic() + _WAIT
        try:
            while not self._answers():
                if self._server.poll() is not None or time.monotonic() > deadline:
                    raise DidNotWork(f"nginx did not start: {(self.folder / 'error.log').read_text()}")
                time.sleep(0.01)
        except BaseException:
            self.__exit__()
            raise
        # That request is logged a moment after it is answered; it is not to be taken for anybody else's.
        while self._log.exists() and not self.answered() and time.monotonic() < deadline:
            time.sleep(0.005)
        self.forget()
        return self

    def _answers(self) -> bool:
        try:
            urllib.request.urlopen(f"{self.url}/robots.txt", timeout=1).close()
        except HTTPError as answer:
            answer.close()
        except URLError:
            return False
        return True

    def __exit__(self, *_: object) -> None:
        self._server.terminate()
        try:
            self._server.wait(_WAIT)
        except subprocess.TimeoutExpired:
            self._server.kill()
            self._server.wait(_WAIT)

    # --- what it saw; only with Log.ON

    def requests(self) -> list[Request]:
        """All so far, in the order in which they were answered. A line counts only with its newline."""
        if not self._log.exists():
            return []
        rows = (line.split(" ", 5) for line in self._log.read_text(encoding="utf-8").split("\n")[:-1])
        return [
            Request(float(ended) - float(took), address, method, int(status), path)
            for ended, took, address, method, status, path in rows
        ]

    def answered(self) -> int:
        """How many requests the log has by now; for those who wait while a run goes on."""
        return self._log.read_bytes().count(b"\n") if self._log.exists() else 0

    def forget(self) -> None:
        """Empties the log."""
        if self._log.exists():
            os.truncate(self._log, 0)


class CorpusServer(Nginx):
    """A corpus on one address: its manuals as they are installed, the sitemaps of its choice of pages."""

    def __init__(self, folder: Path, books: Sequence[Book], corpus: Corpus, log: Log = Log.OFF) -> None:
        locations = [f"    location /{book.name}/ {{ alias {book.folder}/; }}" for book in books]
        super().__init__(folder, locations, ["127.0.0.1"], log)
        self.corpus = corpus
        corpus.write(self.site, self.url)

    @property
    def host_folder(self) -> str:
        """What sitemirror calls this site's folder."""
        return f"127.0.0.1_{self.port}"


@contextmanager
def served(books: Sequence[Book], corpus: Corpus, log: Log = Log.OFF) -> Iterator[CorpusServer]:
    """A corpus, while the block lasts."""
    with (
        tempfile.TemporaryDirectory(prefix="bench-nginx-") as folder,
        CorpusServer(Path(folder), books, corpus, log) as server,
    ):
        yield server


def serve_until_interrupted(books: Sequence[Book], corpus: Corpus) -> None:
    """For looking at it with a browser, or for trying things by hand."""
    with served(books, corpus) as server, suppress(KeyboardInterrupt):
        print(f"{server.url}/sitemap.xml; Ctrl-C ends it", flush=True)
        while True:
            time.sleep(3600)
