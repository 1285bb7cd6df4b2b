"""Copies a whole website to disk as clean Markdown: politely, resumably, incrementally."""

from __future__ import annotations

__version__ = "0.1.0"
