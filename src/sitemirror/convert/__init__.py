"""Turns bytes into a page of Markdown. Pure: nothing is remembered between pages."""
