"""Serves mirrors to agents over the Model Context Protocol. Read-only; only `server` imports the SDK."""
