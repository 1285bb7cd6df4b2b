"""Detects text that a page has and no reader sees."""
