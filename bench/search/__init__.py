"""Measures the search on known items: the manuals' own indexes say which page is the answer."""
