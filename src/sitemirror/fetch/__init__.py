"""Talks HTTP: politely, within limits, and only to public addresses."""
