"""From a turn that was handed over to the attributes on its span, on a real verdict store and a real hold."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from opentelemetry.proto.trace.v1.trace_pb2 import Span

from adhere.run.enriching import EnrichedDestination, Enriching
from adhere.run.handing_over import HandOver
from collector.live.ready import ReadyConversation, ReadyReason, ReadyTurn, conversation_key, turn_key
from collector.telemetry.records import Signal
from evaluators.evaluator import Judgement
from evaluators.pipeline.setup import EvaluatorSetup
from evaluators.verdict import Outcome, UnitKind
from tests.support.agent_telemetry import trace_body
from tests.support.conversations import refund_conversation
from tests.support.evaluators import ScriptedEvaluator
from tests.support.holding import AGENT, Holding, attributes_of, spans_in
from tests.support.judging import Judging, judging, setup
from tests.support.until import until

CONVERSATION = refund_conversation(verified=True)
TURN = CONVERSATION.turns[-1]
SCORE = {"gen_ai.evaluation.scripted.score.value": 1.0, "gen_ai.evaluation.scripted.score.label": "pass"}


def reasoned(unit: Any, asked_before: int) -> Judgement:
    return Judgement(outcome=Outcome.FAIL, score=0.0, label="fail", reason="It was rude.")


class Scene:
    def __init__(self, folder: Path, found: Judging, *, turn_evaluators: Sequence[str], explanation: bool) -> None:
        self.holding = Holding(folder)
        self.enriching = Enriching(
            [EnrichedDestination(self.holding.hold, explanation=explanation)],
            store=found.store,
            evaluators=turn_evaluators,
            clock=self.holding.clock,
        )
        self.hand_over = HandOver(found.pipeline, on_turn=self.enriching.turn_ready)
        target = Span(trace_id=bytes.fromhex(TURN.trace_id), span_id=bytes.fromhex(TURN.span_id), name="agent")
        for key, value in AGENT.items():
            target.attributes.add(key=key).value.string_value = value
        self.holding.arrive_body(Signal.TRACES, trace_body([target]))
        assert self.holding.read() == []

    async def turn(self) -> None:
        await self.hand_over(
            ReadyTurn(
                key=turn_key(CONVERSATION, trace_id=TURN.trace_id, span_id=TURN.span_id),
                conversation=CONVERSATION,
                turn_index=TURN.index,
                revision=0,
                content_digest=b"",
                reason=ReadyReason.ENDED,
            )
        )

    async def conversation(self) -> None:
        await self.hand_over(
            ReadyConversation(
                key=conversation_key(CONVERSATION),
                conversation=CONVERSATION,
                revision=0,
                content_digest=b"",
                reason=ReadyReason.END_MARKER,
            )
        )

    async def sent(self) -> dict[str, Any]:
        """What the span has beside its own, once it leaves; no time passes on the clock."""
        await until(self.holding.hold.has_due)
        (span,) = spans_in(self.holding.read())
        return {key: value for key, value in attributes_of(span).items() if key not in AGENT}


@asynccontextmanager
async def scene(folder: Path, *setups: EvaluatorSetup, explanation: bool = True) -> AsyncIterator[Scene]:
    async with judging(folder, *setups) as found:
        names = [one.name for one in setups if one.evaluator.unit_kind is UnitKind.TURN]
        made = Scene(folder, found, turn_evaluators=names, explanation=explanation)
        running = asyncio.ensure_future(made.enriching.run())
        try:
            yield made
        finally:
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)
            made.holding.hold.close()


async def test_a_judged_turn_is_scored_on_its_span(tmp_path: Path) -> None:
    async with scene(tmp_path, setup(ScriptedEvaluator(), immediate=True)) as made:
        await made.turn()

        assert await made.sent() == SCORE


async def test_a_turn_that_nobody_judges_lets_its_span_go_at_once(tmp_path: Path) -> None:
    async with scene(tmp_path, setup(ScriptedEvaluator(), sample=0.0)) as made:
        await made.turn()

        assert await made.sent() == {}
        assert made.holding.count("no_score") == 1


async def test_reasons_go_along_unless_they_are_not_to(tmp_path: Path) -> None:
    (tmp_path / "off").mkdir()
    evaluator = setup(ScriptedEvaluator(reasoned), immediate=True)

    async with scene(tmp_path, evaluator) as made:
        await made.turn()
        on = await made.sent()
    async with scene(tmp_path / "off", evaluator, explanation=False) as made:
        await made.turn()
        off = await made.sent()

    assert on["gen_ai.evaluation.scripted.explanation"] == "It was rude."
    assert off == {key: value for key, value in on.items() if not key.endswith("explanation")}


async def test_a_score_of_the_conversation_that_is_there_goes_along(tmp_path: Path) -> None:
    whole = ScriptedEvaluator(name="whole", unit_kind=UnitKind.CONVERSATION)
    async with scene(tmp_path, setup(ScriptedEvaluator(), immediate=True), setup(whole, immediate=True)) as made:
        await made.conversation()
        await made.turn()

        assert {key.split(".")[2] for key in await made.sent()} == {"scripted", "whole"}
