"""The library: list_site and mirror, async, with sync wrappers."""
