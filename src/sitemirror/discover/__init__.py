"""Finds what a site says it has: robots.txt, sitemaps, feeds, links."""
