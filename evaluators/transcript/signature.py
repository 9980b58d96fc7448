"""A tool's definition in one line, for where the whole schema was shown before or would cost more than it says."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from collector.model import JsonValue, ToolDefinition
from evaluators.transcript.values import json_text, name_text

_MAX_DESCRIPTION_CHARS = 200
_MAX_VALUES = 8


def signature_text(tool: ToolDefinition) -> str:
    """`book(room: string, nights: integer, view: "sea"|"city"?) Books a room.`; `?` for what may be left out."""
    parameters = tool.parameters or {}
    properties = parameters.get("properties")
    required = parameters.get("required")
    if not isinstance(properties, Mapping):
        inside = "..." if parameters else ""
    else:
        must = set(map(str, required)) if isinstance(required, list | tuple) else set(properties)
        inside = ", ".join(_parameters(properties, must))
    description = (tool.description or "")[:_MAX_DESCRIPTION_CHARS].strip()
    return f"{name_text(tool.name)}({inside}) {description}".rstrip()


def _parameters(properties: Mapping[str, JsonValue], must: set[str]) -> Iterator[str]:
    for name, schema in properties.items():
        yield f"{name_text(str(name))}: {_form(schema)}{'' if name in must else '?'}"


def _form(schema: JsonValue) -> str:
    if not isinstance(schema, Mapping):
        return "any"
    values = schema.get("enum")
    if isinstance(values, list | tuple) and values:
        shown = "|".join(json_text(value) for value in values[:_MAX_VALUES])
        return shown if len(values) <= _MAX_VALUES else f"{shown}|..."
    kind = schema.get("type")
    return name_text(kind) if isinstance(kind, str) else "any"
