"""The collector's own dialects and assembly, as the live state uses them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from collector.assembly.assemble import conversation_of
from collector.assembly.link_keys import Histories, link_keys
from collector.assembly.memory import AssemblyMemory
from collector.assembly.merge import merged
from collector.assembly.units import by_trace, operations_of, units_of
from collector.dialects.declared import DeclaredSpan, with_declared
from collector.dialects.declared import markers as declared_markers
from collector.dialects.registry import Known, known_to, markers, read_log, read_span
from collector.dialects.sniffing import SniffMemory
from collector.live.reconstruction import TraceKeys
from collector.messages.decoder import MessageDecoder
from collector.model import Conversation
from collector.operation import Operation
from collector.telemetry.records import LogRecord, Span


class StandardReconstruction:
    """Implements `reconstruction.Reconstruction`."""

    def __init__(
        self,
        *,
        decoder: MessageDecoder | None = None,
        on_undecodable: Callable[[str], None] | None = None,
        declared: Sequence[DeclaredSpan] = (),
    ) -> None:
        """`on_undecodable` is called with the dialect's name for each item that a dialect failed on."""
        self._decoder = decoder or MessageDecoder()
        self._on_undecodable = on_undecodable
        self._declared = tuple(declared)
        self._histories = Histories()
        self._known: SniffMemory[Known] = SniffMemory(known_to)

    def markers(self) -> Sequence[bytes]:
        return [*markers(), *declared_markers(self._declared)]

    def read_span(self, span: Span) -> Operation | None:
        operation = read_span(span, self._decoder, on_undecodable=self._on_undecodable, known=self._known)
        if operation is None or not self._declared:
            return operation
        return with_declared(operation, span, self._declared, self._decoder)

    def read_log(self, record: LogRecord) -> Operation | None:
        return read_log(record, self._decoder, on_undecodable=self._on_undecodable)

    def keys(self, fragments: Sequence[Operation]) -> TraceKeys:
        every = link_keys(merged(fragments), histories=self._histories)
        return TraceKeys(
            ids=every.ids,
            provides=every.provides - every.ids,
            needs=frozenset(every.needs) - every.ids,
            is_named=len(every.conversation_ids) == 1,
        )

    def assembling(self) -> StandardAssembling:
        return StandardAssembling()

    def conversations(self, fragments: Sequence[Operation]) -> list[tuple[Conversation, Sequence[Operation]]]:
        return self.assembling().conversations(by_trace(fragments))


class StandardAssembling:
    """Implements `reconstruction.Assembling`."""

    def __init__(self) -> None:
        self._memory = AssemblyMemory()

    def conversations(self, traces: Iterable[Sequence[Operation]]) -> list[tuple[Conversation, Sequence[Operation]]]:
        memory = self._memory
        memory.begin_round()
        units = units_of([memory.trace_of(fragments) for fragments in traces], known=memory.units)
        return [
            (conversation_of(group, memory), tuple(operations_of(group))) for group in memory.links.groups_of(units)
        ]

    def release(self) -> None:
        self._memory.release()
