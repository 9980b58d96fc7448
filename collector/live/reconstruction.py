"""What the live state needs of `collector.dialects` and `collector.assembly`: reading, linking, assembling."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from collector.model import Conversation
from collector.operation import Operation
from collector.telemetry.records import LogRecord, Span


@dataclass(frozen=True, slots=True)
class TraceKeys:
    """What may join a trace to others.

    Two traces may belong together if they share one of `ids`, or if one provides what the other one provides or needs,
    unless both are named: their names say all then. Traces of which none of this holds never belong together.
    """

    ids: frozenset[bytes] = frozenset()
    provides: frozenset[bytes] = frozenset()
    needs: frozenset[bytes] = frozenset()
    is_named: bool = False
    """The trace names exactly one conversation."""


class Assembling(Protocol):
    """One component, assembled again and again while it grows."""

    def conversations(
        self, traces: Iterable[Sequence[Operation]]
    ) -> Sequence[tuple[Conversation, Sequence[Operation]]]:
        """As `Reconstruction.conversations`, with the fragments by trace. What is new is all the work, as long as the
        other traces are the same objects as the last time. After an error it is not to be used any more.
        """

    def release(self) -> None:
        """It is not used any more: give its memory back at once."""


class Reconstruction(Protocol):
    def markers(self) -> Sequence[bytes]:
        """Byte strings of which at least one is in any serialised span or log record that says anything."""

    def read_span(self, span: Span) -> Operation | None: ...

    def read_log(self, record: LogRecord) -> Operation | None: ...

    def keys(self, fragments: Sequence[Operation]) -> TraceKeys:
        """Of the fragments of one trace."""

    def conversations(self, fragments: Sequence[Operation]) -> Sequence[tuple[Conversation, Sequence[Operation]]]:
        """The conversations in these fragments, each with its operations; the same in any order of the fragments."""

    def assembling(self) -> Assembling:
        """For one component."""
