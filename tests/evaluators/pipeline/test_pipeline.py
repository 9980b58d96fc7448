from __future__ import annotations

from evaluators.verdict import DecisionKind, Outcome
from tests.support.conversations import refund_conversation, turn_unit
from tests.support.evaluators import ScriptedEvaluator
from tests.support.judging import judging, setup


async def test_a_unit_is_judged_and_its_verdict_handed_over(tmp_path):
    evaluator = ScriptedEvaluator()
    unit = turn_unit(refund_conversation(verified=True))

    async with judging(tmp_path, setup(evaluator)) as found:
        await found.pipeline.submit(unit)
        await found.pipeline.drain()
        record = await found.explain("refund")

    assert [verdict.outcome for verdict in found.sink.verdicts] == [Outcome.PASS]
    assert [entry.decision.kind for entry in record.decisions] == [DecisionKind.JUDGED]
    assert record.decisions[0].verdict == found.sink.verdicts[0]
    assert record.waiting == ()
