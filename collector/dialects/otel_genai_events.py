"""The GenAI semantic conventions up to 1.36: one event a message, as log records or as span events.

`gen_ai.{system,user,assistant,tool}.message` replay the history of a call, `gen_ai.choice` is its answer. Content is
in a record's body, or in attributes of a span event. Version 1.26 put whole prompts into
`gen_ai.content.{prompt,completion}`. Records without content still tell roles, tool names and call ids.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from collector.messages.decoder import MessageDecoder
from collector.messages.frame import log_frame, span_frame
from collector.messages.payloads import request_items, response_items
from collector.messages.roles import role_of
from collector.messages.values import as_int, decode, first
from collector.operation import EventMessage, Message, Operation, OperationKind, Role
from collector.telemetry.records import LogRecord, Span

NAME = "otel_genai_events"
MARKERS = (b"gen_ai.",)

_CHOICE = "gen_ai.choice"
_ROLES = {
    "gen_ai.system.message": Role.SYSTEM,
    "gen_ai.user.message": Role.USER,
    "gen_ai.assistant.message": Role.ASSISTANT,
    "gen_ai.tool.message": Role.TOOL,
    _CHOICE: Role.ASSISTANT,
}
_PROMPT, _COMPLETION = "gen_ai.content.prompt", "gen_ai.content.completion"


def sniffs_span(span: Span) -> bool:
    if span.scope.name.startswith("openlit"):
        return any(event.name in _ROLES for event in span.events)  # whole prompts have a form of its own there
    return any(event.name in _ROLES or event.name in {_PROMPT, _COMPLETION} for event in span.events)


def read_span(span: Span, decoder: MessageDecoder) -> Operation:
    sent_each: list[Mapping[str, Any]] = []
    given_each: list[Mapping[str, Any]] = []
    sent = None
    given: tuple[Message, ...] = ()
    is_own = span.scope.name.startswith("openlit")
    for event in sorted(span.events, key=lambda event: event.time_ns):
        if event.name in _ROLES:
            (given_each if event.name == _CHOICE else sent_each).extend(_body(event.name, _flat_body(event.attributes)))
        elif is_own:
            continue
        elif event.name == _PROMPT:
            value = event.attributes.get("gen_ai.prompt")
            sent = decoder.read(request_items(value) or value, default=Role.USER).chain
        elif event.name == _COMPLETION:
            value = event.attributes.get("gen_ai.completion")
            given = decoder.read_messages(response_items(value) or value)
    # Read as one list: what a message is may depend on those before it.
    sent = decoder.read_items(sent_each).chain or sent
    given = decoder.read_items(given_each, default=Role.ASSISTANT).messages or given
    return replace(span_frame(span, dialect=NAME, kind=OperationKind.MODEL_CALL), input=sent, output=given)


def sniffs_log(record: LogRecord) -> bool:
    return record.event_name in _ROLES


def read_log(record: LogRecord, decoder: MessageDecoder) -> Operation | None:
    body = decode(record.body)
    if not isinstance(body, Mapping):
        body = {"content": body} if body else _flat_body(record.attributes)
    found = _events(record.event_name, body, decoder, time_ns=record.time_ns, position=record.position)
    return replace(log_frame(record, dialect=NAME, kind=OperationKind.MODEL_CALL), events=tuple(found))


def _flat_body(attributes: Mapping[str, Any]) -> Mapping[str, Any]:
    """The message that an event holds in its attributes: flat, or whole as JSON."""
    whole = decode(first(attributes, "gen_ai.event.content"))
    if isinstance(whole, Mapping):
        return whole
    return {key: value for key, value in attributes.items() if not key.startswith(("gen_ai.", "event."))}


def _events(
    name: str, body: Mapping[str, Any], decoder: MessageDecoder, *, time_ns: int, position: int
) -> list[EventMessage]:
    return [
        EventMessage(time_ns=time_ns, position=position, message=found, is_output=name == _CHOICE)
        for found in decoder.read_items(_body(name, body), default=_ROLES[name]).messages
    ]


def _body(name: str, body: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The message that an event tells; none for a second choice."""
    if name == _CHOICE:
        if (as_int(body.get("index")) or 0) > 0:
            return []  # one choice was asked for as a rule; of several the first is what the agent goes on with
        inner = decode(body.get("message"))
        extra = {key: body[key] for key in ("tool_calls",) if body.get(key)}
        content = {"content": inner if inner is not None else body.get("content")}
        body = {**(inner if isinstance(inner, Mapping) else content), **extra}
    return [{**body, "role": _role(body, _ROLES[name])}]


def _role(body: Mapping[str, Any], told: Role) -> Any:
    """What the body says; some providers know no role but the user's for a prompt or a tool's result."""
    own = body.get("role")
    is_lent = told in {Role.SYSTEM, Role.TOOL} and role_of(own) is Role.USER
    return told.value if is_lent or not own else own
