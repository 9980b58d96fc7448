"""The form of the compiler's answer: the words that demand something stand before what is made of them."""

from __future__ import annotations

from typing import Literal

import msgspec


class Demand(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    at: Literal["system", "tools"]
    quote: str
    kind: Literal["duty", "prohibition", "role_fact"]
    applies: str
    ask: str
    name: str


class CompiledAnswer(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    injection_suspected: bool
    demands: list[Demand]
