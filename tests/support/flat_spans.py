"""Calls as OpenLLMetry writes them to flat attributes: the two turns of `two_turns`, and parts of them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from tests.support.two_turns import (
    ARGUMENTS,
    ASKED,
    PROMPT,
    RESULT,
    TOLD,
    TOLD_NEXT,
    TOOL,
    WHOLE,
)


def flattened(prompts: Sequence[dict[str, Any]], completion: dict[str, Any]) -> dict[str, Any]:
    """OpenLLMetry's attributes."""
    found: dict[str, Any] = {"llm.request.type": "chat", "gen_ai.request.model": "m-1"}
    for prefix, messages in (("gen_ai.prompt", prompts), ("gen_ai.completion", [completion])):
        for index, message in enumerate(messages):
            for key, value in message.items():
                found[f"{prefix}.{index}.{key}"] = value
    return found


def flat_calls(call_id: str | None = None) -> dict[str, Any]:
    own = {"tool_calls.0.name": TOOL, "tool_calls.0.arguments": json.dumps(ARGUMENTS)}
    return own | ({"tool_calls.0.id": call_id} if call_id else {})


SAYS = "I will look."
FIRST = [{"role": "system", "content": PROMPT}, {"role": "user", "content": ASKED}]
RETURNED = {"role": "tool", "content": json.dumps(RESULT)}
THEN = {"role": "assistant", "content": TOLD}
ENDS = {"role": "assistant", "content": TOLD_NEXT}
LOOKED = [("says", SAYS), *WHOLE[0][1]]
