"""Renders a converted tree as Markdown."""
