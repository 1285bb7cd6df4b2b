"""Check a mirror: files, hashes, local links, and that every URL is accounted for."""
