"""Tool definitions in any shape: semantic conventions, OpenAI, Anthropic, Bedrock, Gemini, Vercel, OpenInference,
MCP.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from collector.messages.values import as_str, decode, first, plain
from collector.model import ToolDefinition

_MAX_TOOLS = 2_000
_MAX_DEPTH = 8
"""Lists within objects within lists: `llm.tools.0.tool.json_schema` holds the provider's own wrapping."""


def definitions_of(value: object) -> tuple[ToolDefinition, ...] | None:
    """None where the value defines no tool at all."""
    found: dict[str, ToolDefinition] = {}
    for tool in _tools(decode(value), depth=_MAX_DEPTH):
        found.setdefault(tool.name, tool)
        if len(found) >= _MAX_TOOLS:
            break
    return tuple(found.values()) or None


def _tools(value: Any, *, depth: int) -> Iterator[ToolDefinition]:
    if isinstance(value, list) and depth > 0:
        for item in value:
            yield from _tools(decode(item), depth=depth - 1)
    elif isinstance(value, Mapping) and depth > 0:
        for key in ("function_declarations", "functionDeclarations", "tools", "function_tools", "functions"):
            if isinstance(value.get(key), list):
                yield from _tools(value[key], depth=depth - 1)
                return
        for key in ("function", "toolSpec", "tool", "json_schema", "data", "openapi"):
            if isinstance(value.get(key), (Mapping, str)) and not as_str(value.get("name")):
                yield from _tools(decode(value[key]), depth=depth - 1)
                return
        tool = _tool(value)
        if tool is not None:
            yield tool


def _tool(value: Mapping[str, Any]) -> ToolDefinition | None:
    name = as_str(first(value, "name", "tool_name", "title"))
    if name is None:
        return None
    return ToolDefinition(name=name, description=as_str(value.get("description")), parameters=_parameters(value))


def _parameters(value: Mapping[str, Any]) -> Mapping[str, Any] | None:
    schema = decode(
        first(
            value, "parameters", "input_schema", "inputSchema", "parameters_json_schema", "args_schema", "json_schema",
            "parametersJsonSchema",
        )
    )  # fmt: skip
    if isinstance(schema, Mapping) and isinstance(schema.get("json"), Mapping):
        schema = schema["json"]  # Bedrock
    if isinstance(schema, Mapping) and isinstance(schema.get("jsonSchema"), Mapping):
        schema = schema["jsonSchema"]  # Vercel
    copied = plain(schema)
    return copied if isinstance(copied, Mapping) else None
