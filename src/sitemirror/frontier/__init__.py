"""Decides which URLs may be fetched, and which still need to be."""
