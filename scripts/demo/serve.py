"""A small documentation site on loopback, for trying sitemirror where no real site is bothered.

Run it to get a URL, or import it: `with DemoSite() as site: print(site.url)`. The tool that the pages describe does
not exist. Needs nothing but Python.
"""

from __future__ import annotations

import argparse
import hashlib
import html
import re
import signal
import socketserver
import sys
import threading
from dataclasses import dataclass
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import FrameType
from typing import Final, Self
from urllib.parse import quote

PAGES: Final = Path(__file__).parent / "pages"
LISTED: Final[dict[str, tuple[str, str | None]]] = {  # path: (file, lastmod in the sitemap)
    "/": ("index.html", "2026-01-12"),
    "/install": ("install.html", "2025-11-30T09:15:00Z"),
    "/guide/first-job": ("guide_first-job.html", "2025-10-04"),
    "/guide/calendars": ("guide_calendars.html", "2026-01-12T16:40:00+01:00"),
    "/guide/retries": ("guide_retries.html", "2025-12-01"),
    "/examples?topic=calendars": ("examples_calendars.html", "2026-01-12"),
    "/reference/cli": ("reference_cli.html", "2026-01-10"),
    "/reference/config": ("reference_config.html", None),
    "/reference/http-api/jobs": ("reference_http-api_jobs.html", "2025-10-03"),
    "/reference/http-api/errors": ("reference_http-api_errors.html", "2025-10-03"),
    "/cs/začínáme": ("cs_zaciname.html", "2025-09-17"),
    "/changelog": ("changelog.html", "2026-01-12"),
}
MOVED: Final = {"/getting-started": "/install"}
PDF: Final = "/downloads/handbook.pdf"
MODIFIED: Final = formatdate(1_768_200_000, usegmt=True)

TEMPLATE: Final = """<!DOCTYPE html>
<html lang="{language}">
<head>
  <meta charset="utf-8">
  <title>{title} | Brindle</title>
  <meta name="description" content="{description}">
  <link rel="canonical" href="{url}">
  <style>body {{ max-width: 60rem; margin: auto; font-family: sans-serif }}</style>
</head>
<body>
<header><nav aria-label="Site">
  <a href="/">Brindle</a> <a href="/install">Install</a> <a href="/changelog">News</a>
</nav></header>
<nav aria-label="Contents"><ul>{contents}</ul></nav>
<main><article>
{body}</article></main>
<aside class="promo"><p>Like Brindle? Tell a friend who owns a noisy laptop.</p></aside>
<footer><p>Written by the Brindle gardeners. <a href="{pdf}">Handbook (PDF)</a></p></footer>
<script>document.documentElement.className = "js";</script>
</body>
</html>
"""


@dataclass(frozen=True, slots=True)
class Resource:
    """What one path answers."""

    body: bytes
    kind: str = "text/html; charset=utf-8"
    location: str | None = None

    @property
    def etag(self) -> str:
        return f'"{hashlib.sha256(self.body).hexdigest()[:16]}"'


class DemoSite:
    """The site, served by a thread from `start` to `stop`."""

    def __init__(self, port: int = 0) -> None:
        self._server = _Server(("127.0.0.1", port), _Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        self._server.resources = build(self.url)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.1,), daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def build(url: str) -> dict[str, Resource]:
    """Every path of the site (as it is asked for: percent-encoded) and what is there."""
    resources = {_encoded(path): Resource(_page(url, path, name).encode()) for path, (name, _) in LISTED.items()}
    resources["/assets/queue.svg"] = Resource((PAGES / "queue.svg").read_bytes(), "image/svg+xml")
    resources[PDF] = Resource(_pdf("The Brindle handbook"), "application/pdf")
    for old, new in MOVED.items():
        resources[old] = Resource(f'<p>Moved to <a href="{new}">{new}</a></p>'.encode(), location=new)
    resources["/robots.txt"] = Resource(
        f"User-agent: *\nDisallow: /admin/\n\nSitemap: {url}/sitemap.xml\n".encode(), "text/plain; charset=utf-8"
    )
    resources["/sitemap.xml"] = Resource(_sitemap(url).encode(), "application/xml; charset=utf-8")
    return resources


def _page(url: str, path: str, name: str) -> str:
    body = (PAGES / name).read_text(encoding="utf-8")
    return TEMPLATE.format(
        language="cs" if path.startswith("/cs/") else "en",
        title=html.escape(_text(body, "h1")),
        description=html.escape(_text(body, "p"), quote=True),
        url=url + _encoded(path),
        contents="".join(f'<li><a href="{html.escape(_encoded(other))}">{other}</a></li>' for other in LISTED),
        pdf=PDF,
        body=body,
    )


def _text(body: str, tag: str) -> str:
    """The words of the first such element."""
    found = re.search(rf"<{tag}\b[^>]*>(.*?)</{tag}>", body, re.S)
    return html.unescape(" ".join(re.sub(r"<[^>]+>", "", found[1]).split())) if found else ""


def _sitemap(url: str) -> str:
    listed: list[tuple[str, str | None]] = [(path, lastmod) for path, (_, lastmod) in LISTED.items()]
    listed += [(path, None) for path in (*MOVED, PDF)]
    rows = "".join(
        f"  <url><loc>{html.escape(url + _encoded(path))}</loc>"
        + (f"<lastmod>{lastmod}</lastmod>" if lastmod else "")
        + "</url>\n"
        for path, lastmod in listed
    )
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n{rows}</urlset>\n'
    )


def _pdf(words: str) -> bytes:
    """The smallest PDF that shows one line."""
    stream = f"BT /F1 24 Tf 60 700 Td ({words}) Tj ET"
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R"
        " /Resources << /Font << /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> >> >>",
        f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream",
    ]
    document, offsets = "%PDF-1.4\n", []
    for number, content in enumerate(objects, 1):
        offsets.append(len(document))
        document += f"{number} 0 obj\n{content}\nendobj\n"
    table = "".join(f"{offset:010} 00000 n \n" for offset in offsets)
    size, start = len(objects) + 1, len(document)
    document += f"xref\n0 {size}\n0000000000 65535 f \n{table}trailer\n<< /Size {size} /Root 1 0 R >>\n"
    return f"{document}startxref\n{start}\n%%EOF\n".encode("ascii")


def _encoded(path: str) -> str:
    return quote(path, safe="/?=&")


class _Server(ThreadingHTTPServer):
    """`HTTPServer` asks the network for this machine's name when it binds, which can take seconds and is not needed."""

    daemon_threads = True
    resources: dict[str, Resource]

    def server_bind(self) -> None:
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = "127.0.0.1", self.server_address[1]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server
    # Without this, headers and body go out as two packets and the second waits for the first one's receipt.
    wbufsize = 64 * 1024

    def do_GET(self) -> None:
        self._answer(self.server.resources.get(self.path))

    def do_HEAD(self) -> None:
        self.do_GET()

    def _answer(self, found: Resource | None) -> None:
        if found is None:
            self._send(404, Resource(b"<!DOCTYPE html><title>Not found</title><h1>Not found</h1>"))
        elif found.location is not None:
            self._send(301, found)
        elif self.headers.get("If-None-Match") == found.etag:
            self.send_response(304)
            self.send_header("ETag", found.etag)
            self.end_headers()
        else:
            self._send(200, found)

    def _send(self, status: int, resource: Resource) -> None:
        self.send_response(status)
        self.send_header("Content-Type", resource.kind)
        self.send_header("Content-Length", str(len(resource.body)))
        if resource.location is not None:
            self.send_header("Location", resource.location)
        if status == 200:
            self.send_header("ETag", resource.etag)
            self.send_header("Last-Modified", MODIFIED)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(resource.body)

    def log_message(self, format: str, *args: object) -> None:
        """Says nothing: the visitor has its own progress display."""


def main() -> int:
    """Serves until Ctrl+C or SIGTERM."""
    parser = argparse.ArgumentParser(description="Serve sitemirror's demo site on loopback.")
    parser.add_argument("--port", type=int, default=0, help="0 = any free port (default)")
    options = parser.parse_args()
    stop = threading.Event()

    def on_signal(number: int, frame: FrameType | None) -> None:
        stop.set()

    signal.signal(signal.SIGINT, on_signal)
    signal.signal(signal.SIGTERM, on_signal)
    with DemoSite(options.port) as site:
        print(site.url, flush=True)
        while not stop.wait(0.5):  # In slices: Windows delivers no signal during an endless wait.
            pass
    return 0


if __name__ == "__main__":
    sys.exit(main())
