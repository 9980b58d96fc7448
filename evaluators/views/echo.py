"""The judged conversation beside its result, for those who ask for it: content is in no result by itself."""

from __future__ import annotations

from collector.assembly.render import to_json
from collector.model import Conversation


def echo_of(conversation: Conversation) -> dict[str, object]:
    """The whole conversation, in the form of `adhere reconstruct --format jsonl`."""
    return {"conversation": to_json(conversation)}
