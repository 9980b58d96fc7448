"""Microsoft Agent Framework: workflows around agents, and conversation ids that are in truth response ids.

Agents, model calls and tools follow the semantic conventions (`otel_genai`; `otel_genai_events` in the older mode).
What is its own are the spans of workflows: a run is what the user asked for, its executors are steps of it.
"""

from __future__ import annotations

from dataclasses import replace

from collector.messages.decoder import MessageDecoder
from collector.messages.frame import span_frame
from collector.messages.values import as_str
from collector.model import Agent
from collector.operation import Operation, OperationKind
from collector.telemetry.records import Span

NAME = "agent_framework"
MARKERS = (b"gen_ai.", b"workflow.id")

_SCOPE = "agent_framework"


def sniffs_span(span: Span) -> bool:
    return span.scope.name == _SCOPE


def read_span(span: Span, decoder: MessageDecoder) -> Operation:  # noqa: ARG001  # every dialect's signature
    attributes = span.attributes
    if "workflow.id" in attributes and span.name.startswith("workflow.run"):
        name = as_str(attributes.get("workflow.name"))
        frame = span_frame(span, dialect=NAME, kind=OperationKind.WORKFLOW)
        return replace(frame, agent=Agent(name=name) if name else None)
    return span_frame(span, dialect=NAME)
