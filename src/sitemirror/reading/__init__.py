"""Read published mirrors: pages, sections, search. Independent of a run's state."""
