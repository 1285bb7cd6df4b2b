"""The options as typer has them: parameters of a function, and what became of them on a command line."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import Annotated, Any

import typer

from sitemirror.cli.options import OPTIONS, Option, default_text, is_flag, is_repeatable
from sitemirror.settings import kinds


def with_options(function: Callable[..., Any], options: Sequence[Option]) -> Callable[..., Any]:
    """`function` as typer sees it: with the options as further parameters, which it reads from the context."""
    signature = inspect.signature(function, eval_str=True)
    every = [*signature.parameters.values(), *_parameters(options)]

    def command(**values: Any) -> Any:
        return function(**{name: value for name, value in values.items() if name in signature.parameters})

    command.__name__ = function.__name__
    command.__signature__ = inspect.Signature([each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in every])  # type: ignore[attr-defined]
    command.__annotations__ = {each.name: each.annotation for each in every}
    return command


def _parameters(options: Iterable[Option]) -> list[inspect.Parameter]:
    """The options as parameters of a typer command.

    Values stay strings: pydantic judges them in one place, whether they come from here, the environment or a file.
    """
    return [
        inspect.Parameter(
            option.field,
            inspect.Parameter.KEYWORD_ONLY,
            default=_default(option.field),
            annotation=Annotated[
                _annotation(option.field),
                typer.Option(*option.names),
            ],
        )
        for option in options
    ]


def _annotation(field: str) -> Any:
    if is_flag(field):
        return bool | None if kinds()[field].optional else bool
    return list[str] | None if is_repeatable(field) else str | None


def _default(field: str) -> bool | str | None:
    if is_flag(field):
        default = kinds()[field].default
        return None if default is None else bool(default)
    return default_text(field) or None


def typed(context: typer.Context) -> dict[str, Any]:
    """What was given on the command line itself, as opposed to what has its default."""
    fields = {option.field for option in OPTIONS}
    return {name: value for name, value in context.params.items() if name in fields and _was_typed(context, name)}


def _was_typed(context: typer.Context, name: str) -> bool:
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"
