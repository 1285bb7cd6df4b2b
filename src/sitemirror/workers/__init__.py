"""Parse pages, in this process or in worker processes."""
