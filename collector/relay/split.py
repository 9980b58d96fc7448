"""Cutting an Export*ServiceRequest in two, for destinations that refuse it as too large.

The three signals have one shape: a request repeats resources (field 1), a resource repeats scopes (field 2), a scope
repeats spans, log records or metrics (field 2). The cut is at the highest level that repeats, as near to the middle in
bytes as it goes. The bytes of every span are those received; resource, scope and schema URL are repeated in both
halves, as each half must say where its spans come from, and fields unknown to us go with them.
"""

from __future__ import annotations

from collector.relay.wire import BYTES, Field, fields, varint

_PATH = (1, 2, 2)


def halves(body: bytes) -> tuple[bytes, bytes] | None:
    """Two requests that hold together what the one holds; None where there is only one span, record or metric.

    Raises MalformedRequestError for what is not protobuf.
    """
    return _halves(memoryview(body), _PATH)


def _halves(message: memoryview, path: tuple[int, ...]) -> tuple[bytes, bytes] | None:
    found = list(fields(message))
    repeated = [one for one in found if one.number == path[0] and one.wire_type == BYTES]
    if len(repeated) > 1:
        second = set(repeated[_middle(repeated) :])
        first = set(repeated) - second
        return (
            b"".join(message[one.start : one.end] for one in found if one not in second),
            b"".join(message[one.start : one.end] for one in found if one not in first),
        )
    if len(repeated) == 1 and len(path) > 1:
        only = repeated[0]
        inner = _halves(message[only.value_start : only.end], path[1:])
        if inner is not None:
            tag = varint(path[0] << 3 | BYTES)
            before, after = message[: only.start], message[only.end :]
            one, other = (b"".join((before, tag, varint(len(half)), half, after)) for half in inner)
            return one, other
    return None


def _middle(repeated: list[Field]) -> int:
    """The index that divides the fields into halves of about equal bytes, neither of them empty."""
    total = sum(one.end - one.start for one in repeated)
    seen = 0
    for index, one in enumerate(repeated):
        size = one.end - one.start
        if index and 2 * seen + size > total:
            return index
        seen += size
    return len(repeated) - 1
