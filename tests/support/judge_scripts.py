"""The scripts that the judge server knows by name."""

from __future__ import annotations

from collections.abc import Mapping

from tests.support.honest_judge import honest
from tests.support.judge_call import JudgeCall
from tests.support.judge_reply import (
    Reply,
    Script,
    always,
    answer,
    disconnect,
    error,
    hang,
    in_order,
    rate_limited,
    refusing,
)
from tests.support.obedient_judge import obedient


def slow(call: JudgeCall) -> Reply:
    reply = honest(call)
    return answer(reply.content or "", latency_s=0.2)


def cut(call: JudgeCall) -> Reply:
    content = honest(call).content or ""
    return answer(content[: len(content) // 2], finish_reason="length")


SCRIPTS: Mapping[str, Script] = {
    "cut": cut,
    "disconnect": always(disconnect()),
    "down": always(error(503, "Overloaded.")),
    "hang": always(hang()),
    "honest": honest,
    "no_schema": refusing(refusing(honest, parameter="response_format.json_schema"), parameter="temperature"),
    "obedient": obedient,
    "prose": always(answer("In my opinion the agent did rather well, 8 out of 10.")),
    "rate_limited": always(rate_limited(retry_after_s=1)),
    "rate_limited_thrice": in_order([rate_limited(retry_after_s=0)] * 3, then=honest),
    "slow": slow,
    "unicode": always(answer({"summary": "\ud83d", "verdict": "\u202essap", "x": "\u0000"})),
    "wrong_types": always(answer({"goal": "pass", "rule": 1, "procedure": None, "summary": [], "score": 17.0})),
}
