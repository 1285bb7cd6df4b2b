"""Settings judge their values. Most are taken at sight, the rest by pydantic: nobody may notice which."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitemirror.errors import UsageError
from sitemirror.settings import Content, OnError, Settings, kinds, meanings
from sitemirror.values import WrongValues, judged, judged_by_pydantic

NUMBERS = st.one_of(
    st.integers(-3, 300),
    st.floats(allow_nan=False),
    st.sampled_from(["0", "7", "-1", "1.5", "-0", "007", "1e3", " 4 ", "1_000", "5.0", ".5", "٣", "0x10", "9" * 30]),
)
TEXTS = st.one_of(
    st.text(max_size=8), st.sampled_from(["", "a:b", "X: y", "X:", "auto", "skip", "AUTO", "json", "\ud800"])
)
FLAGS = st.sampled_from([True, False, "true", "no", "1", 0, 1, 2, "maybe"])
OTHERS = st.sampled_from([None, b"bytes", Path("p"), Content.FULL, OnError.SKIP, [], {}, object(), ("X: y",), ["a", 1]])
VALUES = st.one_of(NUMBERS, TEXTS, FLAGS, OTHERS, st.lists(TEXTS, max_size=3), st.lists(TEXTS, max_size=3).map(tuple))


def outcome(judge: Any, values: dict[str, Any]) -> Any:
    """What comes of it: the values with their types, or what is said of them."""
    try:
        return [(name, type(value), value) for name, value in judge(kinds(), values).items()]
    except WrongValues as error:
        return str(error)


@given(st.dictionaries(st.sampled_from([*kinds(), "nonsense"]), VALUES, max_size=4))
def test_what_is_taken_at_sight_is_what_pydantic_would_take(values: dict[str, Any]) -> None:
    """The short way never takes another value, and never takes what pydantic would refuse."""
    assert outcome(judged, values) == outcome(judged_by_pydantic, values)


@pytest.mark.parametrize("name", kinds())
def test_every_default_is_a_value_that_may_be_given(name: str) -> None:
    """No default breaks the rules of its own setting."""
    default = kinds()[name].default
    assert judged_by_pydantic(kinds(), {name: default}) == {name: default}


def test_every_setting_says_what_it_means() -> None:
    """The text under each field is found: help, reference and the configuration's page are made from it."""
    assert meanings().keys() == kinds().keys()
    assert meanings()["quiet"] == "Only errors and failed pages on stderr."


def test_settings_are_frozen_and_changed_only_by_making_others() -> None:
    """A run's settings never change under it; changed ones are judged like new ones."""
    settings = Settings(concurrency=5)
    with pytest.raises(AttributeError):
        settings.concurrency = 6  # type: ignore[misc]
    assert settings.with_changes(timeout="2.5") == Settings(concurrency=5, timeout=2.5)
    with pytest.raises(WrongValues, match=r"^concurrency must be 256 or less, got 1000$"):
        settings.with_changes(concurrency=1000)
    with pytest.raises(WrongValues, match=r"^there is no setting threads$"):
        settings.with_changes(threads=2)


def test_all_wrong_values_are_named_together() -> None:
    """One try is enough to mend them all."""
    with pytest.raises(WrongValues) as caught:
        Settings.of({"timeout": "soon", "concurrency": 0, "quiet": True})
    assert [fault["loc"] for fault in caught.value.faults] == [("concurrency",), ("timeout",)]
    assert str(caught.value) == "concurrency must be 1 or more, got 0; timeout must be a number, got soon"


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"format": "pdf"}, "format must be one of json, md, markdown, html, both, got pdf"),
        ({"on_error": None}, "on_error must be one of skip, retry, abort, got None"),
        ({"max_pages": 1.5}, "max_pages must be a whole number, got 1.5"),
        ({"update": "maybe"}, "update must be true or false, got maybe"),
        ({"header": "A: b"}, "header must be a list, got 'A: b'"),
        ({"output": b"secret"}, "output must be text, got a value of type bytes"),
        ({"basic_auth": "secret"}, "basic_auth: give it as USER:PASSWORD"),
    ],
)
def test_a_wrong_value_is_told_in_one_sentence(values: dict[str, Any], sentence: str) -> None:
    """Programs get the error that every other wrong argument gives them, in words about their own argument."""
    with pytest.raises(UsageError) as caught:
        Settings(**values)
    assert str(caught.value) == sentence
    assert (caught.value.hint, isinstance(caught.value, ValueError)) == ("see sitemirror.settings.Settings", True)


def test_usual_values_do_not_load_pydantic() -> None:
    """It takes longer to load than a run takes to begin."""
    script = (
        "import sys; from sitemirror.settings import Settings\n"
        "Settings.of({'rate_limit': '0', 'concurrency': '8', 'output': 'x', 'header': ['A: b'], 'content': 'full'})\n"
        "assert 'pydantic' not in sys.modules\n"
        "Settings.of({'rate_limit': '1e3'}); assert 'pydantic' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", script], check=True)
