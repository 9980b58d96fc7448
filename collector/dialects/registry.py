"""Every span and log record by itself to a fragment of an operation, by whichever dialects know it.

A dialect is a module with `NAME`, `MARKERS` and pure functions:

    sniffs_span(span) -> bool                  by attributes, scope and events; never by the span's name alone
    read_span(span, decoder) -> Operation      start from `messages.frame.span_frame`
    sniffs_log(record) -> bool                 only for dialects that read log records
    read_log(record, decoder) -> Operation | None

`MARKERS` are byte strings of which at least one is in every serialised span or record that the dialect knows.
Order is rank: where a span speaks several dialects, each field comes from the first that has it, and ids are united.
So a dialect only says what it knows, and leaves alone what a later one says better. Conversation ids by the usual
attributes need no dialect at all, on any span.

An exception inside a dialect costs that dialect's part of one span: it is counted, logged, and a gap.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Protocol, TypeAlias, TypeVar

import structlog

from collector.dialects import (
    adot,
    ag2,
    agent_framework,
    azure_agents,
    claude_code,
    claude_code_spans,
    codex,
    crewai,
    gemini_cli,
    genkit,
    google_adk,
    haystack,
    laminar,
    langfuse,
    langsmith,
    livekit,
    logfire,
    logfire_agents,
    mastra,
    mlflow,
    openinference,
    openlit,
    openllmetry,
    openllmetry_js,
    otel_genai,
    otel_genai_events,
    pipecat,
    pydantic_ai,
    semantic_kernel,
    spring_ai,
    strands,
    vercel_ai,
    vercel_ai_legacy,
    voltagent,
)
from collector.dialects.conversation_ids import NO_RANK, conversation_id_of
from collector.dialects.sniffing import SniffMemory
from collector.frozen import altered
from collector.messages.choices import with_first_choice
from collector.messages.decoder import MessageDecoder
from collector.messages.fold import fold
from collector.messages.frame import log_frame, span_frame
from collector.messages.truncation import shows_a_limit
from collector.model import GapKind
from collector.operation import Operation
from collector.telemetry.records import LogRecord, Span

log = structlog.get_logger(__name__)


class SpanDialect(Protocol):
    @property
    def NAME(self) -> str: ...  # noqa: N802  # a module's constant

    @property
    def MARKERS(self) -> tuple[bytes, ...]: ...  # noqa: N802  # a module's constant

    def sniffs_span(self, span: Span, /) -> bool: ...

    def read_span(self, span: Span, decoder: MessageDecoder, /) -> Operation: ...


class LogDialect(Protocol):
    @property
    def NAME(self) -> str: ...  # noqa: N802  # a module's constant

    @property
    def MARKERS(self) -> tuple[bytes, ...]: ...  # noqa: N802  # a module's constant

    def sniffs_log(self, record: LogRecord, /) -> bool: ...

    def read_log(self, record: LogRecord, decoder: MessageDecoder, /) -> Operation | None: ...


SPAN_DIALECTS: tuple[SpanDialect, ...] = (
    claude_code_spans,
    gemini_cli,
    vercel_ai_legacy,
    vercel_ai,
    logfire_agents,
    pydantic_ai,
    google_adk,
    langfuse,
    langsmith,
    mlflow,
    strands,
    livekit,
    pipecat,
    ag2,
    crewai,
    laminar,
    genkit,
    voltagent,
    mastra,
    spring_ai,
    openlit,
    logfire,
    azure_agents,
    agent_framework,
    semantic_kernel,
    openllmetry_js,
    otel_genai,
    openinference,
    haystack,
    openllmetry,
    otel_genai_events,
)
LOG_DIALECTS: tuple[LogDialect, ...] = (
    google_adk,
    gemini_cli,
    otel_genai,
    otel_genai_events,
    claude_code,
    semantic_kernel,
    codex,
    adot,
)
ALWAYS_MARKERS = (b"session.id", b"conversation", b"exception")
"""A span of no dialect may still name the conversation."""

Undecodable = Callable[[str], None]
"""Called with the dialect's name for every exception inside one; counts it."""

Known: TypeAlias = tuple[bool, tuple[SpanDialect, ...]]

R = TypeVar("R", Span, LogRecord)


def read_span(
    span: Span,
    decoder: MessageDecoder,
    *,
    on_undecodable: Undecodable | None = None,
    known: SniffMemory[Known] | None = None,
) -> Operation | None:
    """The span's fragment: kind OTHER where no dialect knows it, None where it is to be left out altogether.

    `known` is a memory for `known_to`, which who reads many spans should keep.
    """
    left_out, dialects = known_to(span) if known is None else known.of(span)
    if left_out:
        return None
    found = [_read(dialect.NAME, dialect.read_span, span, decoder, on_undecodable) for dialect in dialects]
    operation = fold([part for part in found if part is not None]) or span_frame(span, dialect="")
    if any(part is None for part in found):
        operation = replace(operation, gaps=tuple(sorted({*operation.gaps, GapKind.UNDECODABLE})))
    if len(operation.output) > 1:
        operation = with_first_choice(operation, span.attributes)
    if dialects and shows_a_limit(span.attributes.values()):
        operation = replace(operation, gaps=tuple(sorted({*operation.gaps, GapKind.TRUNCATED})))
    return _with_conversation_id(operation, span, is_genai=bool(dialects))


def known_to(span: Span) -> Known:
    """Whether the span is to be left out, and the dialects that know it."""
    if _is_left_out(span):
        return True, ()
    return False, tuple(dialect for dialect in SPAN_DIALECTS if _sniffs(dialect.sniffs_span, span))


def read_log(
    record: LogRecord, decoder: MessageDecoder, *, on_undecodable: Undecodable | None = None
) -> Operation | None:
    """The record's fragment, or None for a record of no interest."""
    for dialect in LOG_DIALECTS:
        if _sniffs(dialect.sniffs_log, record):
            failed = False

            def count(name: str) -> None:
                nonlocal failed
                failed = True
                if on_undecodable is not None:
                    on_undecodable(name)

            operation = _read(dialect.NAME, dialect.read_log, record, decoder, count)
            if operation is None and failed:
                operation = replace(log_frame(record, dialect=dialect.NAME), gaps=(GapKind.UNDECODABLE,))
            if operation is None or not operation.trace_id or not operation.span_id:
                return None
            return _with_conversation_id(operation, record, is_genai=True)
    return None


def markers() -> tuple[bytes, ...]:
    """The byte strings of which at least one is in any span or record that reading could make something of."""
    every = [dialect.MARKERS for dialect in SPAN_DIALECTS] + [dialect.MARKERS for dialect in LOG_DIALECTS]
    found = {*ALWAYS_MARKERS, *(marker for group in every for marker in group)}
    return tuple(sorted(m for m in found if not any(other != m and other in m for other in found)))


def is_candidate(raw: bytes, known: Sequence[bytes]) -> bool:
    """Whether a serialised item may be worth decoding. `known` is `markers()`; a false positive costs time only."""
    return any(marker in raw for marker in known)


def _is_left_out(span: Span) -> bool:
    """Start markers with ids of their own, copies of a call's usage, and spans of offline experiments, which all of an
    experiment's spans are.
    """
    attributes = span.attributes
    if attributes.get("logfire.span_type") == "pending_span" or attributes.get("ag2.span.type") == "usage":
        return True
    return any(key.startswith("langfuse.experiment.") for key in attributes)


def _sniffs(sniff: Callable[[R], bool], item: R) -> bool:
    try:
        return sniff(item)
    except Exception as err:  # noqa: BLE001  # a supervision point: what a dialect cannot sniff it does not know
        log.warning("dialect failed to sniff", error=type(err).__name__)
        return False


def _read(
    name: str,
    read: Callable[[R, MessageDecoder], Operation | None],
    item: R,
    decoder: MessageDecoder,
    on_undecodable: Undecodable | None,
) -> Operation | None:
    try:
        return read(item, decoder)
    except Exception as err:  # noqa: BLE001  # a supervision point: one dialect's failure is a gap in one operation
        log.warning("dialect failed", dialect=name, error=type(err).__name__)
        if on_undecodable is not None:
            on_undecodable(name)
        return None


def _with_conversation_id(operation: Operation, item: Span | LogRecord, *, is_genai: bool) -> Operation:
    found = conversation_id_of(item.attributes, is_genai=is_genai)
    if found is None or (operation.conversation_id is not None and operation.conversation_id_rank <= found[1]):
        return operation
    return altered(operation, conversation_id=found[0], conversation_id_rank=min(found[1], NO_RANK))
