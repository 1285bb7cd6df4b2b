"""One run over one site: discover, fetch, decide, write, publish."""
