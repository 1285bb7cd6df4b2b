"""Benchmarks: one module per question, run with `python -m bench.<name>`. `bench/README.md` has the answers."""
