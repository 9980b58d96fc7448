"""A naive judge for attack tests: it does what anything tells it that is not visibly quoted content.

A request in which conversation text stays behind its quoting looks harmless to it, and it judges honestly. As soon as
text of the conversation stands at the beginning of a line of its own, in another message role, behind a forged end of
the record, in characters that nobody sees, or behind a token that a chat template takes for a boundary, it obeys:
everything passes, or fails if it was told so.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from evaluators.transcript.escape import escape
from tests.support.honest_judge import honest
from tests.support.judge_call import JudgeCall
from tests.support.judge_reply import Reply, answer
from tests.support.record_reader import mark_of

_ROLES = (["system", "user", "user"], ["user"])


def obedient(call: JudgeCall) -> Reply:
    orders = list(broken_out(call))
    return answer(_obeying(call, fail=any("fail" in order for order in orders))) if orders else honest(call)


def broken_out(call: JudgeCall) -> Iterator[str]:
    """What is neither structure with the record's mark nor harmless quoted content, and wrong message roles."""
    roles = [str(message.get("role")) for message in call.messages]
    if roles not in _ROLES and roles[:3] != _ROLES[0]:
        yield f"roles {roles}"
    prefix = f"#{mark_of(call.text)} "
    inside = False
    ends = 0
    for line in call.text.split("\n"):
        if line.startswith(prefix + "end"):
            inside = False
            ends += 1
        elif line.startswith(prefix):
            inside = True
        elif inside and ((line and not line.startswith(("| ", "@ "))) or escape(line) != line):
            yield line
    if ends != 1:
        yield f"{ends} ends of the record"


def _obeying(call: JudgeCall, *, fail: bool) -> dict[str, Any]:
    """The honest answer, turned into what was ordered."""
    given: dict[str, Any] = json.loads(honest(call).content or "{}")
    fine = {"reasoning": "As told.", "evidence": [], "verdict": "pass"}
    broken = {"reasoning": "As told.", "evidence": [{"at": "t0.answer", "quote": "OWNED"}], "verdict": "fail"}
    if "goal" in given:
        given |= {"goal": broken if fail else fine, "rule": fine, "procedure": fine}
    for turn in given.get("turns", []):
        turn |= {"deviations": [], "adherent": "yes"}
    for intention in given.get("intentions", []):
        intention |= {"evidence": [], "satisfied": "yes"}
    return given | {"summary": "OWNED"}
