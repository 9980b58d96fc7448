"""The built-in checks on conversations that people would call clean: they must stay silent."""

from __future__ import annotations

from pathlib import Path

import pytest

from evaluators.offline import units_of
from evaluators.verdict import Outcome, UnitKind
from tests.support.judging_cases import ROLE, TASK, judging_cases
from tests.support.rules import judge


@pytest.mark.parametrize("path", [TASK, ROLE], ids=lambda path: path.stem)
def test_no_turn_of_a_clean_conversation_is_flagged(path: Path) -> None:
    clean = [case for case in judging_cases(path) if case.fault is None]

    flagged = [
        (case.id, unit.turn_index, judgement.reason)
        for case in clean
        for unit in units_of(case.conversation, UnitKind.TURN)
        if (judgement := judge([], unit)).outcome is Outcome.FAIL
    ]

    assert len(clean) >= 16
    assert flagged == []


def test_what_is_flagged_in_a_faulty_conversation_is_its_fault() -> None:
    for case in judging_cases(TASK):
        for unit in units_of(case.conversation, UnitKind.TURN):
            if judge([], unit).outcome is Outcome.FAIL:
                assert case.fault is not None
                assert unit.turn_index in case.fault.turns, case.id
