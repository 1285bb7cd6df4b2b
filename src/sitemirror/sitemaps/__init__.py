"""Sitemaps, feeds and robots.txt: where a site keeps them, and streaming parsers for every form they come in."""
