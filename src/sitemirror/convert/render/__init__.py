"""Render a converted tree as Markdown."""
