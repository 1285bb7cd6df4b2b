"""Choose the content of a page."""
