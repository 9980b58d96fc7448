"""Turns what pydantic found into sentences for people: the path of the key, what is wrong, and the way out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ValidationError

from evaluators.nearest import did_you_mean


def sentences(error: ValidationError, model: type[BaseModel], source: str) -> list[str]:
    return [f"{source}: {_sentence(detail, model)}" for detail in error.errors(include_url=False)]


def _sentence(detail: Mapping[str, Any], model: type[BaseModel]) -> str:
    location: tuple[int | str, ...] = tuple(detail["loc"])
    path = _path(location)
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
        case "tuple_type" | "list_type":
            return f"{path} must be a list; begin each entry with `- `."
        case _:
            message = str(detail["msg"])
            return f"{path}: {message[0].lower()}{message[1:]}."


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
