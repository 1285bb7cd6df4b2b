"""Follow a run page by page, and stop it after two pages."""

import asyncio
import sys
from pathlib import Path

import sitemirror
from sitemirror.events import DiscoveryFinished, PageFailed, PageSaved

ENOUGH = 2


async def main(url: str) -> None:
    """Iterate over events as they happen. `stop` ends the run, and `result` is its report."""
    run = sitemirror.mirror(url, output="mirrors", rate_limit=4)
    saved = 0
    async for event in run:
        match event:
            case DiscoveryFinished(total=total):
                print(total, "URLs")
            case PageSaved(path=path):
                text = (Path("mirrors") / path).read_text(encoding="utf-8")
                print(path, len(text.split()), "words")
                saved += 1
                if saved == ENOUGH:
                    run.stop()
            case PageFailed(url=failed, reason=reason):
                print("failed:", failed, reason)
    print(run.result.status, "- the next run resumes here")


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
