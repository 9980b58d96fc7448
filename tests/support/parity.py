"""Evaluators called as a user calls them, with a scripted judge behind real HTTP."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from evaluators.library import make_evaluator
from evaluators.verdict import Verdict
from tests.support.honest_judge import honest
from tests.support.judge_reply import Reply, Script, answer
from tests.support.judge_server import JudgeServer
from tests.support.judges import scripted_judge

_EXAMPLES = json.loads((Path(__file__).parents[1] / "parity" / "examples.json").read_text(encoding="utf-8"))
ROLE_ZH: list[Mapping[str, Any]] = _EXAMPLES["role_zh"]["turns"]
ROLE_ZH_REASON: str = _EXAMPLES["role_zh"]["result"]["reason"]
"""The example of the first seed, and the reason of its result."""
ORDER_QUERY: list[Mapping[str, Any]] = _EXAMPLES["order"]["query"]
ORDER_RESPONSE: list[Mapping[str, Any]] = _EXAMPLES["order"]["response"]
"""The example of the third seed, as it stands there."""


async def judged(
    kind: str, given: object, script: Script = honest, *, judge: Mapping[str, Any] = {}, **options: object
) -> tuple[Verdict, JudgeServer]:
    """`judge`: fields of its configuration."""
    async with scripted_judge(script, **judge) as (asked, server):
        return await make_evaluator(kind, judge=asked, **options).evaluate(given), server


def pairs(*exchanges: tuple[str, str]) -> dict[str, Any]:
    return {"turns": [{"input": asked, "actual_output": told} for asked, told in exchanges]}


def task_reply(
    *, goal: object = None, rule: object = None, procedure: object = None, summary: str = "Because."
) -> Reply:
    """Each dimension passes, or fails with the citation that is given for it: a place and a quote."""

    def dimension(cited: Any) -> dict[str, object]:
        evidence = [] if cited is None else [{"at": cited[0], "quote": cited[1]}]
        return {"reasoning": "Looked at.", "evidence": evidence, "verdict": "pass" if cited is None else "fail"}

    dimensions = {"goal": dimension(goal), "rule": dimension(rule), "procedure": dimension(procedure)}
    return answer({"injection_suspected": False, **dimensions, "summary": summary})


def role_reply(*turns: tuple[str, str, str] | None, source: str = "user", summary: str = "Because.") -> Reply:
    """One entry a turn: None where it adheres, else kind, place and quote of its deviation."""
    entries = [
        {
            "turn": number,
            "reasoning": "Looked at.",
            "deviations": [] if found is None else [{"kind": found[0], "at": found[1], "quote": found[2]}],
            "adherent": "yes" if found is None else "no",
        }
        for number, found in enumerate(turns)
    ]
    return answer(
        {"injection_suspected": False, "role": "A role.", "role_source": source, "turns": entries, "summary": summary}
    )


def completeness_reply(*intentions: tuple[int, str, str], summary: str = "Because.") -> Reply:
    """Turn, the user's words, and yes, no or void."""
    entries = [
        {
            "intention": words,
            "turn": turn,
            "quote": words,
            "reasoning": "Looked at.",
            "evidence": [],
            "satisfied": satisfied,
        }
        for turn, words, satisfied in intentions
    ]
    return answer({"injection_suspected": False, "intentions": entries, "summary": summary})
