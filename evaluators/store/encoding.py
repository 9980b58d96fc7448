"""JSON bytes in and out of the store; whatever telemetry may hold survives the way there and back."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

import orjson


def dump(value: object) -> bytes:
    try:
        return orjson.dumps(value, default=_plain)
    except (TypeError, ValueError):  # Integers over 64 bit, lone surrogates, depth.
        return json.dumps(value, default=_plain).encode()


def load(body: bytes) -> object:
    try:
        return orjson.loads(body)
    except ValueError:
        return json.loads(body)


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Sequence):
        return list(value)
    return str(value)
