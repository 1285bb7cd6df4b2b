"""Sections and search of published mirrors."""
