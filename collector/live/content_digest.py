"""Digests of what a turn and a conversation say: equal digests, equal revision.

Times and token counts are left out, so a span that is sent again with another duration changes nothing. A turn's digest
covers the turns before it, which a judge is shown with it; instructions and tool definitions count for the conversation
only, since they may grow with each turn and would make every earlier turn new.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

import orjson

from collector.model import Conversation, Turn

_SIZE = 16
_OPTIONS = orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS


class TurnDigests:
    """The digests of a conversation's turns, one over everything up to each of them; kept while it grows."""

    def __init__(self) -> None:
        self._turns: Sequence[Turn] = ()
        self._digests: list[bytes] = []

    def of(self, turns: Sequence[Turn]) -> list[bytes]:
        """Turns that are the same objects as the last time are not looked at again."""
        kept = 0
        for one, two in zip(self._turns, turns, strict=False):
            if one is not two:
                break
            kept += 1
        digests = self._digests[:kept]
        digest = digests[-1] if digests else b""
        for turn in turns[kept:]:
            digest = hashlib.blake2b(digest + _turn_bytes(turn), digest_size=_SIZE).digest()
            digests.append(digest)
        self._turns, self._digests = turns, digests
        return digests


def conversation_digest(conversation: Conversation, digests: list[bytes]) -> bytes:
    last = digests[-1] if digests else b""
    frame = replace(conversation, turns=())
    return hashlib.blake2b(last + _dump(frame), digest_size=_SIZE).digest()


def _turn_bytes(turn: Turn) -> bytes:
    return _dump(replace(turn, start_ns=0, end_ns=0, input_tokens=None, output_tokens=None))


def _dump(value: Turn | Conversation) -> bytes:
    try:
        return orjson.dumps(value, default=_plain, option=_OPTIONS)
    except (TypeError, ValueError):  # Integers over 64 bit and lone surrogates: legal in telemetry, and rare.
        return json.dumps(asdict(value), default=_plain, sort_keys=True).encode()


def _plain(value: object) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    return str(value)
