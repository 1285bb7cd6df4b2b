"""Reads what a page says of itself: metadata, front matter, meta refresh."""
