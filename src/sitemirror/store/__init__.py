"""Keeps what was fetched: the map from URL to path, files, and the working state."""
