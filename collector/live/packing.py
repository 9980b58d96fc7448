"""Plain values to bytes and back, without loss: msgpack, and JSON for what msgpack cannot hold.

Telemetry may carry integers over 64 bit and lone surrogates (both legal in JSON); they take the slower form. The first
byte says which form follows. Equal values give equal bytes when their mappings have the same order.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import msgspec

_MSGPACK = b"m"
_JSON = b"j"


def pack(value: Any) -> bytes:
    try:
        return _MSGPACK + msgspec.msgpack.encode(value, enc_hook=_plain)
    except (OverflowError, UnicodeEncodeError):
        return _JSON + json.dumps(value, default=_plain, separators=(",", ":")).encode()


def unpack(data: bytes) -> Any:
    if data[:1] == _MSGPACK:
        return msgspec.msgpack.decode(memoryview(data)[1:])
    return json.loads(data[1:])


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"A value of type {type(value).__name__} cannot be stored; dialects give JSON values only.")
