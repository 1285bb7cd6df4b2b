"""A real browser, asked over its DevTools protocol what it requested and what failed.

That a copy opens without the network is a browser's word to give, not ours: it follows links, sheets and objects by its
own rules. Nothing it asks for can leave the machine, as every name resolves to nothing.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import aiohttp

_WAIT: Final = 30.0
_FLAGS: Final = (
    "--headless",
    "--no-sandbox",  # root, as whom CI runs, may not use it
    "--disable-gpu",
    "--disable-dev-shm-usage",  # containers give little of it
    "--disable-quic",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--no-default-browser-check",
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--remote-debugging-port=0",
)


def chromium() -> str | None:
    """The browser's program, where there is one."""
    return shutil.which("chromium") or shutil.which("chromium-browser")


@dataclass(slots=True)
class Opened:
    """What happened while a page was on show."""

    url: str = ""
    requested: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    links: list[str] = field(default_factory=list)


class Tab:
    """One tab. A page counts as opened when it and everything it asks for has arrived or failed."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self._socket = socket
        self._numbers = itertools.count(1)
        self._session = ""
        self._frame = ""
        self._begin_page()

    async def begin(self) -> None:
        """Opens the tab and asks it to tell."""
        self._frame = (await self._ask("Target.createTarget", url="about:blank"))["targetId"]
        attached = await self._ask("Target.attachToTarget", targetId=self._frame, flatten=True)
        self._session = attached["sessionId"]
        for method in ("Page.enable", "Network.enable", "Runtime.enable"):
            await self._ask(method)
        await self._ask("Page.setLifecycleEventsEnabled", enabled=True)

    async def open(self, url: str) -> Opened:
        """Goes to `url` as the address bar does."""
        self._begin_page()
        answer = await self._ask("Page.navigate", url=url)
        if "errorText" in answer:
            self._now.failed.append(f"{url}: {answer['errorText']}")
            return self._now
        return await self._arrived()

    async def click(self, link: int) -> Opened:
        """Goes where the page's link of that number leads."""
        self._begin_page()
        await self._evaluate(f"document.links[{link}].click()")
        return await self._arrived()

    def _begin_page(self) -> None:
        self._now = Opened()
        self._urls: dict[str, str] = {}
        self._waiting: set[str] = set()
        self._begun = self._loaded = False

    async def _arrived(self) -> Opened:
        async with asyncio.timeout(_WAIT):
            while not self._loaded or self._waiting:
                await self._hear()
        self._now.url = await self._evaluate("location.href")
        self._now.links = await self._evaluate("[...document.links].map(link => link.href)")
        return self._now

    async def _evaluate(self, script: str) -> Any:
        answer = await self._ask("Runtime.evaluate", expression=script, returnByValue=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    async def _ask(self, method: str, **parameters: object) -> dict[str, Any]:
        number = next(self._numbers)
        message = {"id": number, "method": method, "params": parameters}
        await self._socket.send_json(message | ({"sessionId": self._session} if self._session else {}))
        async with asyncio.timeout(_WAIT):
            while (answer := await self._hear()).get("id") != number:
                pass
        assert "error" not in answer, f"{method}: {answer}"
        result: dict[str, Any] = answer["result"]
        return result

    async def _hear(self) -> dict[str, Any]:
        message: dict[str, Any] = await self._socket.receive_json()
        told = message.get("params", {})
        match message.get("method"):
            case "Network.requestWillBeSent":
                url = told["request"]["url"]
                self._urls[told["requestId"]] = url
                self._waiting.add(told["requestId"])
                self._now.requested.append(url)
            case "Network.loadingFinished":
                self._waiting.discard(told["requestId"])
            case "Network.loadingFailed":
                self._waiting.discard(told["requestId"])
                self._now.failed.append(f"{self._urls.get(told['requestId'])}: {told['errorText']}")
            # The page before may still tell its own; objects are frames of their own.
            case "Page.lifecycleEvent" if told["frameId"] == self._frame:
                self._begun |= told["name"] == "init"
                self._loaded |= self._begun and told["name"] == "load"
        return message


@asynccontextmanager
async def browser() -> AsyncIterator[Tab]:
    """A tab of a browser that was never used before, and is gone afterwards."""
    program = chromium()
    assert program is not None
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        kept = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
        process = subprocess.Popen(
            [program, *_FLAGS, f"--user-data-dir={profile}", "about:blank"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=kept | {"HOME": profile},
        )
        try:
            port, path = await _told(Path(profile), process)
            async with (
                aiohttp.ClientSession() as session,
                # The protocol's answers can be larger than aiohttp takes by itself.
                session.ws_connect(f"http://127.0.0.1:{port}{path}", max_msg_size=0) as socket,
            ):
                tab = Tab(socket)
                await tab.begin()
                yield tab
                with suppress(OSError, aiohttp.ClientError):
                    await socket.send_str(json.dumps({"id": 0, "method": "Browser.close"}))
        finally:
            _end(process)


async def _told(profile: Path, process: subprocess.Popen[bytes]) -> tuple[int, str]:
    """Where the browser listens: it writes that into its own folder."""
    deadline = time.monotonic() + _WAIT
    while True:
        with suppress(OSError, ValueError):
            port, path = (profile / "DevToolsActivePort").read_text().splitlines()
            return int(port), path
        assert process.poll() is None, f"the browser ended with {process.returncode}"
        assert time.monotonic() < deadline, "the browser does not say where it listens"
        await asyncio.sleep(0.02)


def _end(process: subprocess.Popen[bytes]) -> None:
    try:
        process.wait(5)
    except subprocess.TimeoutExpired:
        process.terminate()
        try:
            process.wait(5)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(5)
