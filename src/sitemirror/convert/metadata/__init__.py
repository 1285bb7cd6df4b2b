"""Metadata of a page: its fields, meta refresh, front matter, and a summary for HTML copies."""
