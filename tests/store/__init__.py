"""The store: paths, files, locks and the state."""
