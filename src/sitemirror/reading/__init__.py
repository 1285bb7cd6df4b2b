"""Reads published mirrors: their pages, the sections of a page, search. Knows nothing of a run's state."""
