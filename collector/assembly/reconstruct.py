"""Requests to conversations, offline: decode, read, merge, link, assemble. The same for any order, split or
repetition.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from collector.assembly.assemble import conversation_of
from collector.assembly.link import Links
from collector.assembly.memory import AssemblyMemory
from collector.assembly.merge import Fragments
from collector.assembly.units import traces_of, units_of
from collector.dialects.declared import DeclaredSpan, with_declared
from collector.dialects.registry import Known, known_to, read_log, read_span
from collector.dialects.sniffing import SniffMemory
from collector.messages.decoder import MessageDecoder
from collector.model import Conversation
from collector.operation import Operation
from collector.telemetry.decode import iter_logs, iter_spans
from collector.telemetry.records import Signal


def reconstruct(
    requests: Iterable[tuple[Signal, bytes]],
    *,
    decoder: MessageDecoder | None = None,
    declared: Sequence[DeclaredSpan] = (),
) -> list[Conversation]:
    """The conversations in OTLP requests, in order of time; those without a turn are left out."""
    decoder = decoder if decoder is not None else MessageDecoder()
    memory: SniffMemory[Known] = SniffMemory(known_to)
    fragments = Fragments()
    for signal, body in requests:
        for operation in _read(signal, body, decoder, memory, declared):
            fragments.add(operation)
    return conversations_of(fragments.operations())


def conversations_of(operations: Iterable[Operation]) -> list[Conversation]:
    """The conversations that merged operations make."""
    found = [conversation_of(units, AssemblyMemory()) for units in Links().groups_of(units_of(traces_of(operations)))]
    told = [conversation for conversation in found if conversation.turns]
    return sorted(told, key=lambda c: (c.turns[0].start_ns, c.service or "", c.conversation_id))


def _read(
    signal: Signal,
    body: bytes,
    decoder: MessageDecoder,
    memory: SniffMemory[Known],
    declared: Sequence[DeclaredSpan],
) -> Iterable[Operation]:
    if signal is Signal.TRACES:
        for span in iter_spans(body):
            operation = read_span(span, decoder, known=memory)
            if operation is not None:
                yield with_declared(operation, span, declared, decoder) if declared else operation
    elif signal is Signal.LOGS:
        for record in iter_logs(body):
            operation = read_log(record, decoder)
            if operation is not None:
                yield operation
