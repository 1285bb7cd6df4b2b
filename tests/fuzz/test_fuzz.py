"""Each fuzz target for a moment, and every input that once broke one. `scripts/fuzz` runs them for longer."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.fuzz.inputs import inputs
from tests.fuzz.targets import TARGETS

_QUICK = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))

# Target and input; each broke something once.
FOUND: list[tuple[str, bytes]] = [
    ("links", b"url('a\\s#\xc4')"),  # an escape and a byte that is no UTF-8 in one URL
    ("links", b'<meta http-equiv=refresh content=".com">'),  # a number of seconds that is a dot
    ("links", "@import 'a\\s#\u0161';".encode()),  # the same with a character that is
]


@pytest.mark.parametrize("name", TARGETS)
def test_a_moment_of_fuzzing(name: str) -> None:
    """A few dozen inputs made of the format's own pieces: what the target promises holds."""

    @_QUICK
    @given(inputs(name))
    def run(data: bytes) -> None:
        TARGETS[name](data)

    run()


@pytest.mark.parametrize(("name", "data"), FOUND)
def test_what_was_found_stays_mended(name: str, data: bytes) -> None:
    """An input that broke a promise once does not break it again."""
    TARGETS[name](data)


@_QUICK
@given(st.sampled_from(sorted(TARGETS)), st.binary(max_size=100))
def test_noise(name: str, data: bytes) -> None:
    """Bytes of no format at all go into every target."""
    TARGETS[name](data)
