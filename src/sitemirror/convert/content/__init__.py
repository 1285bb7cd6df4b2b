"""Chooses which part of a page is its content."""
