"""Turns what pydantic found into sentences for people: the path of the key, its value, and what it must be.

A value shows as it was written, so never what the environment put in its place; and none that should be a text, since
it may be a secret that stands in the wrong form.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pydantic import BaseModel, ValidationError

from evaluators.nearest import did_you_mean
from evaluators.options import shown

_WANTED: Mapping[str, str] = {
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "float_parsing": "a number",
    "finite_number": "a finite number",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    "greater_than": "over {gt}",
    "greater_than_equal": "at least {ge}",
    "less_than": "under {lt}",
    "less_than_equal": "at most {le}",
    "literal_error": "{expected}",
    "enum": "{expected}",
    "path_type": "a path",
    "string_pattern_mismatch": "a text like {pattern}",
    "string_too_short": "a text that is not empty",
}
"""Kinds of pydantic's whose value cannot be a secret in the wrong form."""


def sentences(error: ValidationError, model: type[BaseModel], *, given: object = None) -> list[str]:
    """`given` is what was written, before the environment was read; without it only numbers show."""
    return [_sentence(detail, model, given) for detail in error.errors(include_url=False)]


def _sentence(detail: Mapping[str, Any], model: type[BaseModel], given: object) -> str:
    location: tuple[int | str, ...] = tuple(detail["loc"])
    path = _path(location)
    if detail["type"] in _WANTED:
        wanted = _WANTED[detail["type"]].format(**detail.get("ctx", {}))
        value = _written(given, location, otherwise=detail.get("input"))
        return f"{path} must be {wanted}." if value is None else f"{path} is {shown(value)} and must be {wanted}."
    match detail["type"]:
        case "extra_forbidden":
            known = sorted(_known_keys(model, location[:-1]))
            return f"{path} is not a known key; {did_you_mean(location[-1], known)}"
        case "missing":
            return f"{path} is required and is not set."
        case "value_error":
            return f"{path}: {detail['ctx']['error']}."
        case "model_type" | "dict_type":
            return f"{path} must be a mapping of names to values."
        case "string_type" if location[-1] == "[key]":
            return f"{_path(location[:-2])} has the key {location[-2]}, which is no text; put it in quotes."
        case "string_type":  # Without its value: it may be a secret, such as a password of digits.
            return f"{path} must be a text; put it in quotes."
        case "tuple_type" | "list_type":
            return f"{path} must be a list; begin each entry with `- `."
        case _:  # No kind that our models have so far; pydantic's own words name no value.
            message = str(detail["msg"])
            return f"{path}: {message[0].lower()}{message[1:]}."


def _written(given: object, location: Iterable[int | str], *, otherwise: object) -> object:
    """The value at a place of a document; None if it is nothing to show."""
    for part in location:
        if isinstance(given, Mapping):
            given = given.get(part)
        elif isinstance(given, Sequence) and isinstance(part, int) and part < len(given):
            given = given[part]
        else:
            return otherwise if isinstance(otherwise, int | float) else None
    return given if isinstance(given, str | int | float) else None


def _path(location: tuple[int | str, ...]) -> str:
    text = ""
    for part in location:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text or "the configuration"


def _known_keys(model: type[BaseModel], location: tuple[int | str, ...]) -> list[str]:
    """A part that is no field of the model is a name of people's own, such as a model's in `judge.prices`."""
    current: Any = model
    for part in location:
        field = getattr(current, "model_fields", {}).get(part)
        if field is not None:
            current = _model_in(field.annotation)
    return list(getattr(current, "model_fields", {}))


def _model_in(annotation: Any) -> Any:
    """The configuration model inside `X | None`, `tuple[X, ...]`, `Annotated[X, ...]`."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    for argument in getattr(annotation, "__args__", ()):
        if (found := _model_in(argument)) is not None:
            return found
    return None
