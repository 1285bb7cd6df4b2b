"""Sitemaps and feeds: their usual places, and streaming parsers for every format."""
