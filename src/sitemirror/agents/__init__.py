"""Tells coding agents about mirrors: an index in a file that they read, a server in their configuration."""
