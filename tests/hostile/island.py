"""A network of our own, in which every address of both families is this machine, with a DNS that lies as it is told.

Run as `python -m tests.hostile.island PLAN.json` inside a fresh network namespace. Every TCP connection that is tried
there is seen by a packet socket, whoever listens or not, so what the program says of itself counts for nothing.
Prints one JSON object: the connections tried, the paths that each site was asked for, and the program's end.
"""

from __future__ import annotations

import json
import os
import re
import socket
import struct
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from ipaddress import ip_address
from pathlib import Path
from typing import Any, Final

from tests.site import Site

PUBLIC: Final = "93.184.215.14"
PRIVATE: Final = "10.0.0.1"
PORT: Final = 8080
COMMANDS: Final = (
    ("ip", "link", "set", "lo", "up"),
    ("ip", "addr", "add", f"{PUBLIC}/32", "dev", "lo"),  # else the C library believes that there is no IPv4
    ("ip", "addr", "add", "2606:4700::1/128", "dev", "lo"),
    ("ip", "route", "add", "local", "0.0.0.0/0", "dev", "lo"),
    ("ip", "-6", "route", "add", "local", "::/0", "dev", "lo"),
)


class Dns:
    """Answers A and AAAA. Names ending in `.nip.test` spell their address; `rebind.test` is public only at first."""

    def __init__(self) -> None:
        self.rebinds = 0
        for server in _nameservers():
            family = socket.AF_INET6 if ":" in server else socket.AF_INET
            listening = socket.socket(family, socket.SOCK_DGRAM)
            listening.bind((server, 53))
            threading.Thread(target=self._serve, args=(listening,), daemon=True).start()

    def _serve(self, listening: socket.socket) -> None:
        while True:
            query, asker = listening.recvfrom(4096)
            listening.sendto(self._reply(query), asker)

    def _reply(self, query: bytes) -> bytes:
        labels, at = [], 12
        while size := query[at]:
            labels.append(query[at + 1 : at + 1 + size].decode("latin-1"))
            at += size + 1
        (kind,) = struct.unpack_from(">H", query, at + 1)
        found = [ip_address(text) for text in self._addresses(".".join(labels).lower(), kind)]
        wanted = [one.packed for one in found if {4: 1, 6: 28}[one.version] == kind]
        records = b"".join(b"\xc0\x0c" + struct.pack(">HHIH", kind, 1, 0, len(data)) + data for data in wanted)
        head = query[:2] + struct.pack(">HHHHH", 0x8180, 1, len(wanted), 0, 0)
        return head + query[12 : at + 5] + records

    def _addresses(self, name: str, kind: int) -> list[str]:
        if name in ("start.test", "www.start.test", "other.test"):
            return [PUBLIC]
        if name == "two.test":
            return [PRIVATE, "::1"] if kind == 28 else [PRIVATE, PUBLIC]
        if name == "rebind.test" and kind == 1:
            self.rebinds += 1
            return [PUBLIC] if self.rebinds == 1 else ["127.0.0.1"]
        if name == "mapped.test":
            return ["::ffff:10.0.0.1", "64:ff9b::a00:1", "fe80::1", "::1"]
        if spelled := re.fullmatch(r"(?:.*\.)?(\d+[.-]\d+[.-]\d+[.-]\d+)\.nip\.test", name):
            return [spelled[1].replace("-", ".")]
        return [PRIVATE]


class Sniffer:
    """Notes where TCP connections are tried to."""

    def __init__(self) -> None:
        self.tried: set[tuple[str, int]] = set()
        self._socket = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(0x0003))
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8 << 20)
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        while True:
            packet = self._socket.recv(200)
            if packet[0] >> 4 == 4 and packet[9] == 6:
                start, address = (packet[0] & 15) * 4, packet[16:20]
            elif packet[0] >> 4 == 6 and packet[6] == 6:
                start, address = 40, packet[24:40]
            else:
                continue
            if packet[start + 13] & 0x12 == 0x02:  # SYN without ACK
                self.tried.add((str(ip_address(address)), struct.unpack_from(">H", packet, start + 2)[0]))


@contextmanager
def _sites(plan: dict[str, Any]) -> Iterator[dict[str, Site]]:
    with ExitStack() as stack:
        sites = {}
        for address, pages in plan["sites"].items():
            site = sites[address] = stack.enter_context(Site(address=address, port=PORT))
            for path, (status, headers, body) in pages.items():
                site.page(path, body, status=status, headers=headers, type=headers.get("Content-Type", "text/html"))
        yield sites


def main() -> None:
    """Does what the plan says."""
    plan = json.loads(Path(sys.argv[1]).read_bytes())
    for command in COMMANDS:
        subprocess.run(command, check=True, capture_output=True)
    Dns()
    sniffer = Sniffer()
    environment = os.environ | plan["environment"]
    with _sites(plan) as sites:
        ends = []
        for arguments in plan["runs"]:
            done = subprocess.run(
                [sys.executable, *arguments], capture_output=True, text=True, env=environment, timeout=plan["timeout"]
            )
            ends.append((done.returncode, done.stdout, done.stderr))
        asked = {
            address: [(seen.host, seen.path, seen.headers) for seen in site.requests] for address, site in sites.items()
        }
    print(json.dumps({"tried": sorted(sniffer.tried), "asked": asked, "ends": ends}))


def _nameservers() -> list[str]:
    try:
        text = Path("/etc/resolv.conf").read_text(encoding="utf-8")
    except OSError:
        text = ""
    return re.findall(r"^\s*nameserver\s+([0-9a-fA-F.:]+)\s*$", text, re.M)[:3] or ["127.0.0.1"]


if __name__ == "__main__":
    main()
