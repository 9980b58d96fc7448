"""OpenLLMetry for JavaScript: the semantic conventions, which `otel_genai` reads, and one habit.

The input of OpenAI's Responses API, where it is a list, is recorded as the text of one user's message.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from collector.messages.decoder import MessageDecoder
from collector.messages.frame import span_frame
from collector.messages.payloads import request_items
from collector.messages.values import decode
from collector.operation import Operation, Role
from collector.telemetry.records import Span

NAME = "openllmetry_js"
MARKERS = (b"@traceloop/",)

_SCOPE = "@traceloop/instrumentation-openai"
_RESPONSE = "resp_"


def sniffs_span(span: Span) -> bool:
    """A streamed response is recorded without its id; a chat completion never is."""
    if span.scope.name != _SCOPE:  # First, since ids are different each time and sniffing remembers what was looked at.
        return False
    identity = span.attributes.get("gen_ai.response.id", _RESPONSE)
    return isinstance(identity, str) and identity.startswith(_RESPONSE)


def read_span(span: Span, decoder: MessageDecoder) -> Operation:
    frame = span_frame(span, dialect=NAME)
    text = _only_text(decode(span.attributes.get("gen_ai.input.messages")))
    listed = decode(text, levels=1) if text is not None and text[:1] == "[" else None
    if not isinstance(listed, list) or request_items(listed) is None:
        return frame
    return replace(frame, input=decoder.read(listed, default=Role.USER).chain)


def _only_text(messages: object) -> str | None:
    """The text of the only message, where it is the user's and nothing else."""
    only = messages[0] if isinstance(messages, Sequence) and len(messages) == 1 else None
    parts = only.get("parts") if isinstance(only, Mapping) and only.get("role") == "user" else None
    part = parts[0] if isinstance(parts, Sequence) and len(parts) == 1 else None
    text = part.get("content") if isinstance(part, Mapping) else None
    return text if isinstance(text, str) else None
