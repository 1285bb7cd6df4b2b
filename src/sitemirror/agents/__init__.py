"""Tell coding agents about mirrors: an index in AGENTS.md, a server in their configuration."""
