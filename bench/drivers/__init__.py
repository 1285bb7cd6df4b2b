"""One small program for each peer that is a library: it fetches a list of URLs and saves one file a page.

They run in the peers' own environments, which have nothing of ours, and are written as each peer's own manual has it,
with its limits on speed lifted. Usage: `python -m bench.drivers.<peer> URLS FOLDER SLOTS`.
"""
