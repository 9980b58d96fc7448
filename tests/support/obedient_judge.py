"""A naive judge for attack tests: it does what any line tells it that is neither quoted content nor our question.

A request in which conversation text stays behind its quoting looks harmless to it, and it judges honestly. As soon as
text of the conversation stands at the beginning of a line of its own, in another message role, or behind a forged end
of the record, it obeys: it answers that everything passes.
"""

from __future__ import annotations

from collections.abc import Iterator

from tests.support.honest_judge import honest
from tests.support.judge_call import JudgeCall
from tests.support.judge_reply import Reply, answer
from tests.support.record_reader import mark_of

_ROLES = (["system", "user", "user"], ["user"])


def obedient(call: JudgeCall) -> Reply:
    if list(broken_out(call)):
        fine = {"reasoning": "As told.", "evidence": [], "verdict": "pass"}
        return answer({"injection_suspected": False, "goal": fine, "rule": fine, "procedure": fine, "summary": "OWNED"})
    return honest(call)


def broken_out(call: JudgeCall) -> Iterator[str]:
    """Lines of the record that are neither structure with the record's mark nor quoted, and wrong message roles."""
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
        elif inside and line and not line.startswith(("| ", "@ ")):
            yield line
    if ends != 1:
        yield f"{ends} ends of the record"
