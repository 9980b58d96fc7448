"""The mark that begins every structural line of a record.

It is unguessable to whoever takes part in the conversation: a keyed hash of the conversation's key, under a secret of
the installation. It is the same for each call about one conversation, and not a new random number, because the record
is the beginning of every request: with a new mark in its first line no provider could reuse the prompt that it cached
one turn ago, and re-judging would cost the whole conversation again. A mark that leaked in one conversation says
nothing about others.

It is the second lock. The first is that every line of content is written behind `| `, so that content cannot begin a
line at all; see `record`.
"""

from __future__ import annotations

import hashlib
import hmac

_MARK_HEX_DIGITS = 10


class Fence:
    """Gives marks under one secret; `secret` never leaves it."""

    __slots__ = ("_secret",)

    def __init__(self, secret: bytes) -> None:
        if len(secret) < 16:
            raise ValueError(f"The secret of the fence has {len(secret)} bytes and needs at least 16.")
        self._secret = secret

    def __repr__(self) -> str:
        return "Fence(secret=***)"

    def mark(self, conversation_key: str) -> str:
        digest = hmac.new(self._secret, conversation_key.encode("utf-8", "surrogatepass"), hashlib.sha256)
        return digest.hexdigest()[:_MARK_HEX_DIGITS]
