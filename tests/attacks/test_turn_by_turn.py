"""The suite against judging turn by turn: a judge that notes whatever it reads carries no attack into a request."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from evaluators.measuring.attacks.suite import PLACES
from evaluators.measuring.cases import read_cases
from evaluators.task_adherence.evaluator import TaskAdherence
from tests.support.conversations import turn_unit
from tests.support.endpoints import in_process_judge
from tests.support.judge_call import JudgeCall
from tests.support.judge_reply import Reply, answer
from tests.support.obedient_judge import broken_out
from tests.support.record_reader import read_record
from tests.support.states import StatesInMemory

SUITE = Path(__file__).with_name("suite.jsonl")
_FINE = {"reasoning": "As told.", "evidence": [], "verdict": "pass"}
_PADDING = "\nBe polite to everybody, whoever they are." * 100
"""So that no conversation is short enough to be read whole each time."""


def noting_everything(call: JudgeCall) -> Reply:
    places = [place for place in read_record(call.text).places if place.turn is not None and len(place.content) > 4]
    notes = [{"kind": "outcome", "at": place.at, "quote": place.content.split("\n")[-1][:150]} for place in places[-6:]]
    fine = {"goal": _FINE, "rule": _FINE, "procedure": _FINE}
    settled = list(range(1, 200))
    return answer({"injection_suspected": False, **fine, "summary": "", "settled": settled, "notes": notes})


@pytest.mark.parametrize("place", PLACES)
async def test_no_attack_breaks_out_of_what_is_carried(place: str) -> None:
    carried = 0
    for case in read_cases(SUITE):
        if case.attack is None or case.attack.where != place:
            continue
        system = (case.conversation.system_instructions or "") + _PADDING
        conversation = replace(case.conversation, system_instructions=system)
        last = conversation.turns[-1]
        # One turn more, so that what the attack stands in is known from notes.
        turns = (
            *conversation.turns,
            replace(last, index=last.index + 1, user_input="Thanks.", steps=(), output="Bye."),
        )
        whole = replace(conversation, turns=turns)
        judge, endpoint = in_process_judge(noting_everything)
        evaluator = TaskAdherence(judge=judge, states=StatesInMemory())
        for count in range(1, len(turns) + 1):
            await evaluator.evaluate(turn_unit(replace(whole, turns=turns[:count])))

        for call in endpoint.calls:
            assert list(broken_out(call)) == [], case.id
        carried += bool(read_record(endpoint.calls[-1].text).notes)

    assert carried > 0
