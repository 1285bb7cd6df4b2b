"""Writes what people and programs read: manifest, contents, outline, mirror index, report."""
