"""Spans that the configuration declares to hold what a user said and was told, in attributes of the application's own.

Where an agent's instrumentation tells of model calls only, the span of a request handler may be the only one that has
the user's own words, or the answer as it was sent. A declared span is a turn, as an agent's span is.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from collector.frozen import altered
from collector.messages.decoder import MessageDecoder
from collector.operation import Operation, OperationKind, Role
from collector.telemetry.records import Span

NAME = "declared"
_TURNS = frozenset({OperationKind.OTHER, OperationKind.WORKFLOW, OperationKind.AGENT})
_SUREST = 0
_MAX_ID_CHARS = 1024


@dataclass(frozen=True, slots=True)
class DeclaredSpan:
    """Which spans, and the attributes that hold what; at least one of the three is given."""

    span: str = "*"
    """Glob of the span's name."""
    service: str = "*"
    user_input: str | None = None
    output: str | None = None
    conversation_id: str | None = None

    @property
    def attributes(self) -> tuple[str, ...]:
        return tuple(name for name in (self.user_input, self.output, self.conversation_id) if name is not None)

    def fits(self, span: Span) -> bool:
        return (
            any(name in span.attributes for name in self.attributes)
            and fnmatchcase(span.name, self.span)
            and fnmatchcase(span.resource.service_name or "", self.service)
        )


def markers(declared: Iterable[DeclaredSpan]) -> list[bytes]:
    """Of these at least one is in any serialised span that is declared."""
    return [name.encode() for one in declared for name in one.attributes]


def with_declared(
    operation: Operation, span: Span, declared: Sequence[DeclaredSpan], decoder: MessageDecoder
) -> Operation:
    """The operation with what the first fitting declaration finds in the span; it wins over what a dialect found."""
    found = next((one for one in declared if one.fits(span)), None)
    if found is None:
        return operation
    attributes = span.attributes
    asked = attributes.get(found.user_input) if found.user_input is not None else None
    told = attributes.get(found.output) if found.output is not None else None
    named = attributes.get(found.conversation_id) if found.conversation_id is not None else None
    chain = decoder.read(asked, default=Role.USER).chain if asked is not None else None
    output = decoder.read_messages(told) if told is not None else ()
    is_named = isinstance(named, str | int) and not isinstance(named, bool) and str(named) != ""
    return altered(
        operation,
        dialect="+".join(sorted({*filter(None, operation.dialect.split("+")), NAME})),
        kind=OperationKind.AGENT if operation.kind in _TURNS and (chain or output) else operation.kind,
        input=chain or operation.input,
        output=output or operation.output,
        conversation_id=str(named)[:_MAX_ID_CHARS] if is_named else operation.conversation_id,
        conversation_id_rank=_SUREST if is_named else operation.conversation_id_rank,
    )
