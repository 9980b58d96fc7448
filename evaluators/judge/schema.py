"""The JSON schema of an answer type, in the strict form of structured output: one object, nothing left open."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

_LEFT_OUT = ("title", "description", "$defs", "properties", "items")
"""Descriptions are docstrings of ours, which no judge needs."""


def strict_schema(answer_type: type[msgspec.Struct]) -> dict[str, Any]:
    """References are written out, titles left out; all fields are required, in their order, and no others allowed."""
    schema = msgspec.json.schema(answer_type)
    return _strict(schema, schema.get("$defs", {}))


def _strict(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> dict[str, Any]:
    if "$ref" in schema:
        return _strict(definitions[schema["$ref"].rsplit("/", 1)[-1]], definitions)
    strict = {key: value for key, value in schema.items() if key not in _LEFT_OUT}
    if "enum" in strict:
        strict = {"type": "string", **strict}
    if "properties" in schema:
        strict["properties"] = {name: _strict(value, definitions) for name, value in schema["properties"].items()}
        strict["required"] = list(schema["properties"])
        strict["additionalProperties"] = False
    if "items" in schema:
        strict["items"] = _strict(schema["items"], definitions)
    return strict
