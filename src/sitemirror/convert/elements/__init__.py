"""Converts HTML elements into ones that the Markdown renderer writes well, one family a module."""
