"""Writes what people and programs read: manifest, contents, outline."""
