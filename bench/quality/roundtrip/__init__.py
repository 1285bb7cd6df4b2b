"""The source round trip: documentation is written, built by a real generator, mirrored, and compared with its source.

`pages/` has the sources, in Markdown with a few containers of our own; each generator gets them in its own dialect, so
that all of them should give the same blocks back.
"""
