"""JSON bytes in and out of the store; whatever telemetry may hold survives the way there and back."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

import orjson

_SLOW = b" "


def dump(value: object) -> bytes:
    try:
        return orjson.dumps(value, default=_plain)
    except (TypeError, ValueError):  # Integers over 64 bit, lone surrogates, depth.
        return _SLOW + json.dumps(value, default=_plain).encode()


def load(body: bytes) -> object:
    """What the fast reader would change (it makes a float of a large integer) is marked by a space in front."""
    return json.loads(body) if body.startswith(_SLOW) else orjson.loads(body)


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Sequence):
        return list(value)
    return str(value)
