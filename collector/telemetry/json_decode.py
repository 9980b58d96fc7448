"""OTLP/JSON to OTLP protobuf bytes, by the rules of the OTLP specification.

Names in lowerCamelCase, unknown ones ignored; ids in hex of either case; enums as integers; 64-bit numbers as numbers
or strings; null means not set. What protobuf's own JSON form has instead, and many a library writes, is taken as well:
snake_case names, names of enum values, ids in base64 where the length leaves no doubt. What breaks a rule raises
MalformedRequestError naming the position or field, never content. Half of a surrogate pair, as JavaScript leaves
where it cuts a string, becomes U+FFFD. Values nest at most `anyvalue.MAX_DEPTH` containers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import orjson

from collector.errors import MalformedRequestError
from collector.telemetry.envelope import ITEM_CLASSES, RESOURCE_CLASS, SCOPE_CLASS, envelope_class
from collector.telemetry.json_fields import FieldError, fill
from collector.telemetry.json_names import ENVELOPE_NAMES, member
from collector.telemetry.json_text import loads
from collector.telemetry.records import Signal


def json_to_protobuf(signal: Signal, text: bytes) -> bytes:
    """An Export*ServiceRequest in JSON as protobuf bytes."""
    return document_to_protobuf(signal, parse_json(text))


def parse_json(text: bytes) -> Any:
    try:
        return loads(text)
    except orjson.JSONDecodeError as err:
        raise MalformedRequestError(
            f"The request is no valid JSON (line {err.lineno}, column {err.colno}); send OTLP/JSON in UTF-8."
        ) from err


def document_to_protobuf(signal: Signal, document: object) -> bytes:
    """The same for JSON that is parsed already."""
    names = ENVELOPE_NAMES[signal]
    envelope = envelope_class()()
    try:
        for path, group in _objects(document, names.groups):
            out_group = envelope.groups.add()
            _fill_parts(out_group, "resource", RESOURCE_CLASS, group, path)
            for scope_path, scope in _objects(group, names.scopes, path):
                out_scope = out_group.scopes.add()
                _fill_parts(out_scope, "scope", SCOPE_CLASS, scope, scope_path)
                for item_path, item in _objects(scope, names.items, scope_path):
                    out_scope.items.append(_part(ITEM_CLASSES[signal], item, item_path))
    except FieldError as err:
        raise MalformedRequestError(f"The JSON field {err.path or '(root)'} {err.reason}; see OTLP/JSON.") from err
    body: bytes = envelope.SerializeToString()
    return body


def _objects(parent: object, name: str, path: str = "") -> Iterator[tuple[str, Mapping[str, object]]]:
    """The objects of an array and their paths; an absent array is empty."""
    if not isinstance(parent, dict):
        raise FieldError("must be a JSON object").within(path)
    children = member(parent, name)
    full_name = f"{path}.{name}" if path else name
    if children is None:
        return
    if not isinstance(children, list):
        raise FieldError("must be a JSON array").within(full_name)
    for index, child in enumerate(children):
        child_path = f"{full_name}[{index}]"
        if not isinstance(child, dict):
            raise FieldError("must be a JSON object").within(child_path)
        yield child_path, child


def _fill_parts(out: Any, name: str, message_class: Any, source: Mapping[str, object], path: str) -> None:
    """`resource` of a group or `scope` of a scope group, and the schema URL that both may have."""
    part, schema_url = source.get(name), member(source, "schemaUrl")
    if part is not None:
        setattr(out, name, _part(message_class, part, f"{path}.{name}"))
    if schema_url is not None:
        if not isinstance(schema_url, str):
            raise FieldError("must be a string").within(f"{path}.schemaUrl")
        out.schema_url = schema_url.encode()


def _part(message_class: Any, document: object, path: str) -> bytes:
    message = message_class()
    try:
        fill(message, document)
    except FieldError as err:
        err.within(path)
        raise
    data: bytes = message.SerializeToString()
    return data
