"""The options of a pydantic model, one by one, from its JSON schema: path, form, default, description."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from docs.generate.markdown import code, table

Schema: TypeAlias = Mapping[str, Any]

_UNITS = {"_s": "seconds", "_bytes": "bytes", "_tokens": "tokens"}
_MIB = 1 << 20


@dataclass(frozen=True, slots=True)
class Option:
    path: str
    """Dotted; `[]` is any item of a list, `NAME` a name of one's own."""
    form: str
    default: str
    description: str


def options_of(schema: Schema, *, prefix: str = "") -> list[Option]:
    """Those of a model and of the models in it, in the order of the code."""
    return list(_options(schema, schema.get("$defs", {}), prefix=prefix, defaults={}))


def option_table(options: list[Option]) -> str:
    rows = [[code(one.path), one.form, one.default, one.description] for one in options]
    return table(["option", "form", "default", "what it does"], rows)


def _options(
    schema: Schema, models: Mapping[str, Schema], *, prefix: str, defaults: Mapping[str, Any]
) -> Iterator[Option]:
    required = schema.get("required", ())
    for name, field in schema["properties"].items():
        path = f"{prefix}{name}"
        default = defaults.get(name, field.get("default"))
        inner, steps = _model_in(field, models)
        if inner is None or steps or _allows_null(field) or field.get("description"):
            yield Option(
                path=path,
                form=_form(name, field, models),
                default=_default(name, field, default, is_required=name in required and name not in defaults),
                description=field.get("description", ""),
            )
        if inner is not None:
            known = default if isinstance(default, Mapping) else {}
            yield from _options(inner, models, prefix=f"{path}{steps}.", defaults=known)


def _model_in(field: Schema, models: Mapping[str, Schema]) -> tuple[Schema | None, str]:
    """The model that the field holds, and how one gets to it: "" itself, "[]" in a list, ".NAME" in a mapping."""
    if "$ref" in field:
        return _resolved(field, models), ""
    for choice in field.get("anyOf", ()):
        if "$ref" in choice:
            return _resolved(choice, models), ""
    if "$ref" in field.get("items", {}):
        return _resolved(field["items"], models), "[]"
    values = field.get("additionalProperties")
    if isinstance(values, Mapping) and "$ref" in values:
        return _resolved(values, models), ".NAME"
    return None, ""


def _resolved(field: Schema, models: Mapping[str, Schema]) -> Schema:
    return models[field["$ref"].rpartition("/")[2]]


def _allows_null(field: Schema) -> bool:
    return any(choice.get("type") == "null" for choice in field.get("anyOf", ()))


def _form(name: str, field: Schema, models: Mapping[str, Schema]) -> str:
    choices = [choice for choice in field.get("anyOf", (field,)) if choice.get("type") != "null"]
    return " or ".join(_one_form(name, choice, models) for choice in choices)


def _one_form(name: str, field: Schema, models: Mapping[str, Schema]) -> str:
    if "$ref" in field:
        return "mapping"
    if "enum" in field:
        return ", ".join(map(code, field["enum"]))
    match field.get("type"):
        case "boolean":
            return "`true`, `false`"
        case "integer" | "number":
            return _number(name, field)
        case "array":
            of = "mappings" if "$ref" in field["items"] else _one_form(name, field["items"], models)
            return f"list of {of}"
        case "object":
            values = field.get("additionalProperties", {})
            return "mapping" if not isinstance(values, Mapping) else f"mapping of names to {_values(name, values)}"
        case "string":
            return {"password": "secret", "path": "path"}.get(field.get("format", ""), "text")
    return "any"


def _values(name: str, field: Schema) -> str:
    return "mappings" if "$ref" in field else f"{_one_form(name, field, {})}s"


def _number(name: str, field: Schema) -> str:
    unit = next((word for suffix, word in _UNITS.items() if name.endswith(suffix)), None)
    kind = unit or ("whole number" if field["type"] == "integer" else "number")
    bounds = [
        f"{sign} {field[key]:g}" if isinstance(field[key], float) else f"{sign} {field[key]}"
        for key, sign in (("exclusiveMinimum", ">"), ("minimum", "≥"), ("maximum", "≤"))
        if key in field
    ]
    return f"{kind}, {', '.join(bounds)}" if bounds else kind


def _default(name: str, field: Schema, value: Any, *, is_required: bool) -> str:
    if is_required:
        return "required"
    if value is None and "default" not in field:
        return "none" if field.get("type") == "object" else "see there"
    if value is None:
        return "not set"
    if isinstance(value, Mapping):
        return "below" if value else "none"
    if isinstance(value, list):
        return ", ".join(code(item["name"] if isinstance(item, Mapping) else item) for item in value) or "none"
    if isinstance(value, float):
        return code(f"{value:g}" if abs(value) < 1e6 else f"{value:.0f}")
    if name.endswith("_bytes") and isinstance(value, int) and value % _MIB == 0:
        return f"{code(value)} ({value // _MIB} MiB)"
    return code(value if isinstance(value, str) else json.dumps(value))
