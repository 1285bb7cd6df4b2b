"""Settings validate their values, wherever they come from."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitemirror.errors import UsageError
from sitemirror.settings import (
    Content,
    InvalidSettings,
    OnError,
    Settings,
    descriptions,
    setting_types,
)

MEANT = [
    ("rate_limit", "1e3", 1000.0),
    ("rate_limit", " 4 ", 4.0),
    ("rate_limit", 2, 2.0),
    ("max_pages", "007", 7),
    ("max_pages", "1_000", 1000),
    ("max_pages", "5.0", 5),
    ("max_pages", 5.0, 5),
    ("link_depth", "-1", -1),
    ("update", "Yes", True),
    ("update", "off", False),
    ("update", 1, True),
    ("respect_robots", None, None),
    ("content", "full", Content.FULL),
    ("on_error", OnError.ABORT, OnError.ABORT),
    ("output", "out", Path("out")),
    ("header", ["A: b"], ("A: b",)),
    ("proxy", "env", "env"),
]


@pytest.mark.parametrize(("name", "value", "meant"), MEANT)
def test_text_that_spells_a_value_is_that_value(name: str, value: object, meant: object) -> None:
    """The command line, the environment and TOML spell them, and so do people."""
    found = getattr(Settings.of({name: value}), name)
    assert (found, type(found)) == (meant, type(meant))


VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=8),
    st.binary(max_size=4),
    st.sampled_from(["9" * 30, "9" * 5000, "nan", "-inf", "1e999", "\ud800", "a:b", "X: y", "{name}", 10**400]),
    st.lists(st.one_of(st.text(max_size=4), st.integers()), max_size=3),
    st.dictionaries(st.text(max_size=2), st.integers(), max_size=2),
    st.builds(object),
)


@given(st.dictionaries(st.sampled_from([*setting_types(), "nonsense", "{x}"]), VALUES, max_size=4))
def test_any_value_is_valid_or_refused(values: dict[str, Any]) -> None:
    """Whatever a program passes, it gets settings of the right types, or `InvalidSettings`."""
    try:
        settings = Settings.of(values)
    except InvalidSettings:
        return
    for name in values:
        found, kind = getattr(settings, name), setting_types()[name]
        assert isinstance(found, kind.type) or (kind.optional and found is None)
        assert Settings.of({name: found}) == Settings.of({name: values[name]})


@pytest.mark.parametrize("name", setting_types())
def test_every_default_is_a_value_that_may_be_given(name: str) -> None:
    """No default breaks the rules of its own setting."""
    default = setting_types()[name].default
    assert getattr(Settings.of({name: default}), name) == default


def test_every_setting_says_what_it_means() -> None:
    """The text under each field is found: help, reference and the configuration's page are made from it."""
    assert descriptions().keys() == setting_types().keys()
    assert descriptions()["quiet"] == "Print only errors and failed pages on stderr."


def test_settings_are_frozen_and_changed_only_by_making_others() -> None:
    """A run's settings never change under it; changed ones are judged like new ones."""
    settings = Settings(concurrency=5)
    with pytest.raises(AttributeError):
        settings.concurrency = 6  # type: ignore[misc]
    assert settings.with_changes(timeout="2.5") == Settings(concurrency=5, timeout=2.5)
    with pytest.raises(InvalidSettings, match=r"^concurrency must be 256 or less, got 1000$"):
        settings.with_changes(concurrency=1000)
    with pytest.raises(InvalidSettings, match=r"^there is no setting threads$"):
        settings.with_changes(threads=2)


def test_all_wrong_values_are_named_together() -> None:
    """One try is enough to correct them all."""
    with pytest.raises(InvalidSettings) as caught:
        Settings.of({"timeout": "soon", "concurrency": 0, "quiet": True})
    assert list(caught.value.problems) == ["concurrency", "timeout"]
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
def test_wrong_value_is_reported_in_one_sentence(values: dict[str, Any], sentence: str) -> None:
    """Programs get the error that every other wrong argument gives them, in words about their own argument."""
    with pytest.raises(UsageError) as caught:
        Settings(**values)
    assert str(caught.value) == sentence
    assert (caught.value.hint, isinstance(caught.value, ValueError)) == ("see sitemirror.settings.Settings", True)
