"""A message list as JSON bytes, whatever it comes as, and the array cut into its items without decoding them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
import orjson

from collector.messages.values import decode, plain
from collector.telemetry.json_text import mended_json

_splitter = msgspec.json.Decoder(list[msgspec.Raw])


def list_bytes(value: object) -> bytes | None:
    """The value as JSON bytes of an array or object; None where it is neither."""
    for _ in range(3):
        if isinstance(value, bytes):
            value = value.decode("utf-8", "replace")
        if not isinstance(value, str):
            break
        text = value.strip()
        if text[:1] in ("[", "{"):
            raw = text.encode("utf-8", "replace")
            if _is_json(raw):
                return raw
            whole = mended_json(raw)
            return whole if whole is not None and _is_json(whole) else None
        inner = decode(text, levels=1) if text[:1] == '"' else None
        if inner is None or inner == value:
            return None
        value = inner
    if isinstance(value, (list, Mapping)):
        return _dump(value) if value else None
    return None


def _is_json(raw: bytes) -> bool:
    """Cheap where it matters: a list is checked when it is split, and what ends as it should is taken for whole."""
    if raw[:1] == b"[" and raw[-1:] == b"]":
        return True
    try:
        msgspec.json.decode(raw, type=msgspec.Raw)
    except (msgspec.DecodeError, RecursionError):
        return False
    return True


def _dump(value: Any) -> bytes | None:
    try:
        return orjson.dumps(value, option=orjson.OPT_NON_STR_KEYS)
    except (TypeError, ValueError, RecursionError):
        try:
            return orjson.dumps(plain(value))
        except (TypeError, ValueError):
            return None


def split_list(raw: bytes) -> list[msgspec.Raw] | None:
    """The array's items, not decoded; None where it is no JSON."""
    try:
        return _splitter.decode(raw)
    except (msgspec.DecodeError, RecursionError):
        whole = mended_json(raw)
        return None if whole is None else split_list(whole)


def end_of_list(raw: bytes) -> int:
    """Where the array's last item ends: before its closing bracket and the white space there."""
    end = len(raw) - (raw[-1:] == b"]")
    while end and raw[end - 1] in b" \t\r\n":
        end -= 1
    return end
