"""The Langfuse SDK: every observation has a type, an input and an output, in attributes `langfuse.observation.*`.

Values are texts or JSON: OpenAI-style requests and answers from its wrapper, LangChain's messages from its callback, a
function's arguments from its decorator, whatever the application gave by hand. The callback writes tool definitions as
messages of role `tool` after the messages of the call.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from collector.messages.decoder import MessageDecoder
from collector.messages.definitions import definitions_of
from collector.messages.frame import span_frame, upon
from collector.messages.recorded import model_call_fields, tool_fields, wrapper_fields
from collector.messages.values import as_int, as_str, decode, first
from collector.model import Agent, ToolDefinition
from collector.operation import Chain, Message, Operation, OperationKind, Role, ToolResultPart, Usage
from collector.telemetry.records import Span

NAME = "langfuse"
MARKERS = (b"langfuse.",)

_KINDS = {
    "generation": OperationKind.MODEL_CALL,
    "agent": OperationKind.AGENT,
    "chain": OperationKind.WORKFLOW,
    "span": OperationKind.WORKFLOW,
    "tool": OperationKind.TOOL,
    "retriever": OperationKind.RETRIEVAL,
}
_INTERNAL = {"embedding", "evaluator", "guardrail", "event"}
_EXPERIMENT = "sdk-experiment"
"""The environment that the SDK gives to its experiments."""
_OBSERVATION = "langfuse.observation."
_OTHERS = ("gen_ai.", "openinference.", "traceloop.", "ai.")
_META = f"{_OBSERVATION}metadata."


def sniffs_span(span: Span) -> bool:
    return any(key.startswith(_OBSERVATION) for key in span.attributes)


def read_span(span: Span, decoder: MessageDecoder) -> Operation:
    attributes = span.attributes
    name = _type(attributes)
    kind = _KINDS.get(name, OperationKind.OTHER)
    failed = attributes.get(f"{_OBSERVATION}level") == "ERROR"
    frame = span_frame(span, dialect=NAME, kind=kind)
    frame = replace(
        frame,
        agent=_agent(span, kind),
        is_internal=name in _INTERNAL or attributes.get("langfuse.environment") == _EXPERIMENT,
        is_error=frame.is_error or failed,
        error=frame.error or (_status(attributes) if failed else None),
    )
    given, returned = attributes.get(f"{_OBSERVATION}input"), attributes.get(f"{_OBSERVATION}output")
    match kind:
        case OperationKind.MODEL_CALL:
            return upon(frame, _model_call(attributes, model_call_fields(given, returned, decoder)))
        case OperationKind.TOOL:
            return upon(frame, _tool(attributes, tool_fields(span.name, given, returned)))
        case OperationKind.AGENT | OperationKind.WORKFLOW:
            given = given if given is not None else attributes.get("langfuse.trace.input")
            returned = returned if returned is not None else attributes.get("langfuse.trace.output")
            return upon(frame, wrapper_fields(given, returned, decoder))
        case _:
            return frame


def _type(attributes: Mapping[str, Any]) -> str:
    """The observation's type; attributes set by hand may leave it out, and another convention may say it then."""
    named = attributes.get(f"{_OBSERVATION}type")
    if isinstance(named, str) and named:
        return named.lower()
    if f"{_OBSERVATION}model.name" in attributes:
        return "generation"
    return "" if any(key.startswith(_OTHERS) for key in attributes) else "span"


def _model_call(attributes: Mapping[str, Any], fields: dict[str, Any]) -> dict[str, Any]:
    fields["model"] = as_str(attributes.get(f"{_OBSERVATION}model.name")) or fields["model"]
    fields["usage"] = _usage(attributes)
    fields["input"], tools = _without_definitions(fields["input"])
    fields["tool_definitions"] = fields["tool_definitions"] or tools
    if len(fields["output"]) > 1 and _are_choices(decode(attributes.get(f"{_OBSERVATION}output"))):
        fields["output"] = fields["output"][:1]
    return fields


def _without_definitions(chain: Chain | None) -> tuple[Chain | None, tuple[ToolDefinition, ...] | None]:
    """The list before the tool definitions at its end, and those."""
    found: list[ToolDefinition] = []
    while chain is not None and (tool := _definition_in(chain.message)) is not None:
        found.append(tool)
        chain = chain.parent
    return chain, tuple(reversed(found)) or None


def _definition_in(message: Message) -> ToolDefinition | None:
    """A tool's result answers a call and has its id; a definition has a schema."""
    part = message.parts[0] if message.role is Role.TOOL and len(message.parts) == 1 else None
    if not isinstance(part, ToolResultPart) or part.call_id is not None or not isinstance(part.result, Mapping):
        return None
    tools = definitions_of(part.result)
    return tools[0] if tools and (tools[0].parameters is not None or "function" in part.result) else None


def _are_choices(found: object) -> bool:
    """Alternatives to one answer, of which the agent goes on with the first; items of one answer have types."""
    items = found if isinstance(found, list) else []
    return all(isinstance(item, Mapping) and item.get("role") == "assistant" and "type" not in item for item in items)


def _tool(attributes: Mapping[str, Any], fields: dict[str, Any]) -> dict[str, Any]:
    own = as_str(decode(first(attributes, f"{_META}tool_call_id", "gen_ai.tool.call.id"), levels=1))
    fields["call_id"] = own or fields.get("call_id")
    return fields


def _agent(span: Span, kind: OperationKind) -> Agent | None:
    """An agent observation is named after the agent; LangChain's callback names it beside every observation."""
    version = as_str(first(span.attributes, "langfuse.version", "langfuse.release"))
    named = as_str(decode(span.attributes.get(f"{_META}lc_agent_name"), levels=1))
    name = named or (span.name if kind is OperationKind.AGENT else None)
    return Agent(name=name, version=version) if name else None


def _status(attributes: Mapping[str, Any]) -> str:
    return (as_str(attributes.get(f"{_OBSERVATION}status_message")) or "error")[:512]


def _usage(attributes: Mapping[str, Any]) -> Usage | None:
    found = decode(attributes.get(f"{_OBSERVATION}usage_details"))
    if not isinstance(found, Mapping):
        return None
    sent = as_int(first(found, "input", "input_tokens", "prompt_tokens", "promptTokens"))
    given = as_int(first(found, "output", "output_tokens", "completion_tokens", "completionTokens"))
    return Usage(sent, given) if sent is not None or given is not None else None
