"""The tests. A package, so that `from tests.site import Site` means the same in every test and every process."""
