"""Detect hidden text: text of a page that no reader sees."""
