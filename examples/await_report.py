"""Mirror a section of a site and print the report."""

import asyncio
import sys

import sitemirror


async def main(url: str) -> None:
    """Await `mirror` for its report. Options are the fields of `sitemirror.Settings`."""
    report = await sitemirror.mirror(url, output="mirrors", concurrency=2, rate_limit=2)
    print(f"{report.status}: {report.successful} of {report.total_pages} pages in {report.output_dir}")
    for warning in report.warnings:
        print("note:", warning)


if __name__ == "__main__":
    try:
        asyncio.run(main(sys.argv[1]))
    except sitemirror.SitemirrorError as error:
        sys.exit(f"{error}\n{error.hint}")
