"""CrewAI's own tracing: the semantic conventions, cut visibly where a value is too long, with failures of its own.

A value over the limit has a sibling `<attribute>.truncated`. Guardrails, reasoning, memory and planning are no part of
what the user sees.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from collector.messages.decoder import MessageDecoder
from collector.messages.frame import span_frame
from collector.messages.values import as_str, first
from collector.model import Agent, GapKind
from collector.operation import Operation, OperationKind
from collector.telemetry.records import Span

NAME = "crewai"
MARKERS = (b"gen_ai.", b"crewai.")

_INTERNAL = ("evaluate guardrail", "agent reasoning", "query memory", "save memory", "retrieve memory", "plan ")


def sniffs_span(span: Span) -> bool:
    attributes = span.attributes
    if span.scope.name.startswith("crewai"):
        return True
    return "gen_ai.operation.name" in attributes and any(key.startswith("crewai.") for key in attributes)


def read_span(span: Span, decoder: MessageDecoder) -> Operation:  # noqa: ARG001  # every dialect's signature
    attributes: Mapping[str, Any] = span.attributes
    frame = span_frame(span, dialect=NAME)
    gaps = {*frame.gaps}
    if any(key.endswith(".truncated") and value in (True, "true") for key, value in attributes.items()):
        gaps.add(GapKind.TRUNCATED)
    failure = as_str(first(attributes, "crewai.tool.failure.message", "crewai.tool.failure.type", "crewai.tool.error"))
    role = as_str(attributes.get("crewai.agent.role"))
    return replace(
        frame,
        kind=OperationKind.TOOL if failure else frame.kind,
        is_error=frame.is_error or failure is not None,
        error=frame.error or failure,
        is_internal=span.name.startswith(_INTERNAL),
        agent=Agent(name=role) if role else None,
        gaps=tuple(sorted(gaps)),
    )
