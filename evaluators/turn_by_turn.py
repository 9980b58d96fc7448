"""Judges a conversation as it grows: the new turns only, with what is carried from the turns before.

The whole is read again, in one look, where nothing is carried (a first judgement, a turn that changed, a state over its
bound), after many judgements that build on each other, when the application says that the conversation ended, and as
long as the conversation is short anyway. A conversation too long for one look is read in stretches, in the same way.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeVar

import msgspec

from evaluators.carrying import MAX_PASSES, NOTHING, Carried, Carrying, Memory, shown, upto
from evaluators.evaluator import Judgement
from evaluators.facts import Fact, facts_text
from evaluators.inquiry import Asking, make_question, without_leaks
from evaluators.judge.answer import decode_answer
from evaluators.judge.errors import JudgeError
from evaluators.judge.judge import Answer, Judge
from evaluators.judge.question import Question
from evaluators.segments import segment_ends
from evaluators.transcript.record import Record, record_of
from evaluators.transcript.view import coverage
from evaluators.verdict import JudgeInfo, Unit, UnitKind

A = TypeVar("A", bound=msgspec.Struct)
S = TypeVar("S", bound=msgspec.Struct)

SHORT_TOKENS = 900
"""Conversations up to this size are read whole each time: that costs little more, and sees all."""


async def judge_turn_by_turn(
    asking: Asking[Any],
    carrying: Carrying[A, S],
    unit: Unit,
    *,
    judge: Judge,
    memory: Memory,
    facts: Sequence[Fact] = (),
) -> Judgement | Record:
    """The record of the whole, where one plain look at it is best. Raises `JudgeError`."""
    chain = memory.chain(unit, judge=judge.name)
    carried = None if unit.ended or chain is None else await chain.recall()
    record = _new_part(unit, carried, carrying, judge)
    if not record.first_turn:
        carried = None
    ends = _ends(unit, record, judge)
    if carried is None and len(ends) == 1 and (unit.ended or chain is None or _is_not_worth_notes(carrying, record)):
        return record
    passes = _Passes(asking, carrying, judge, facts)
    for end in ends:
        part = upto(unit, end)
        first = carried.turns if carried is not None else 0
        judgement, carried = await passes.judge(
            part, carried, record=record if len(ends) == 1 else _record(part, judge, first=first)
        )
        if chain is not None:
            await chain.keep(carried)
        if not carried.carries and end != ends[-1]:
            return _record(unit, judge)
    return passes.finished(judgement)


def _new_part(unit: Unit, carried: Carried | None, carrying: Carrying[A, S], judge: Judge) -> Record:
    """What is to be looked at: the turns that are not carried, or the whole."""
    if carried is None or not carried.carries or carried.passes >= MAX_PASSES or _state(carried, carrying) is None:
        return _record(unit, judge)
    record = _record(unit, judge, first=carried.turns)
    return record if carried.tokens + record.tokens > SHORT_TOKENS else _record(unit, judge)


def _is_not_worth_notes(carrying: Carrying[A, S], record: Record) -> bool:
    """Twice as long it is still read whole, so that the next judgement most likely needs none."""
    return carrying.asks_for_notes and 2 * record.tokens <= SHORT_TOKENS


def _record(unit: Unit, judge: Judge, *, first: int = 0) -> Record:
    return record_of(unit.conversation, fence=judge.fence, max_tokens=judge.max_record_tokens, first_turn=first)


def _ends(unit: Unit, record: Record, judge: Judge) -> list[int]:
    """How many turns there are up to the end of each stretch that is looked at."""
    turns, first = len(unit.conversation.turns), record.first_turn
    if unit.kind is UnitKind.TURN or turns - first < 2 or not record.is_squeezed:
        return [turns]
    return segment_ends(unit.conversation, first=first, max_tokens=judge.max_record_tokens)


def _state(carried: Carried, carrying: Carrying[A, S]) -> S | None:
    try:
        return msgspec.json.decode(carried.state, type=carrying.state_type)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None


class _Passes:
    """The questions of one judgement, one after the other."""

    def __init__(self, asking: Asking[Any], carrying: Carrying[A, S], judge: Judge, facts: Sequence[Fact] = ()) -> None:
        self._asking = asking
        self._carrying: Carrying[Any, Any] = carrying
        self._judge = judge
        self._facts = facts
        self._info = JudgeInfo(name=judge.name, cost_usd=0.0)
        self._details: dict[str, object] = {"repaired": False}
        self._count = 0

    async def judge(self, unit: Unit, carried: Carried | None, *, record: Record) -> tuple[Judgement, Carried]:
        """The judgement on the turns so far, and what is carried on."""
        state = None if carried is None else _state(carried, self._carrying)
        question = self._question(unit, record, state)
        answer = await self._answer(question, unit, record, state)
        judgement, next_state = answer.value
        suspected = bool(judgement.details.get("injection_suspected"))
        after = (carried or NOTHING).after(
            record,
            turns=len(unit.conversation.turns),
            injection_suspected=suspected,
            state=msgspec.Raw(msgspec.json.encode(next_state)),
        )
        self._note(answer, after, record)
        return judgement, after

    def finished(self, judgement: Judgement) -> Judgement:
        return replace(judgement, details={**judgement.details, **self._details}, judge=self._info)

    def _question(self, unit: Unit, record: Record, state: Any) -> Question:
        notes = "" if state is None else shown(self._carrying.notes(state), mark=record.mark)
        turns = len(unit.conversation.turns)
        notes += facts_text(self._facts, mark=record.mark, first_turn=record.first_turn, turns=turns)
        return make_question(
            self._asking,
            record,
            self._carrying.question(unit, record, state),
            schema=self._asking.carrying_schema,
            notes=notes,
        )

    async def _answer(
        self, question: Question, unit: Unit, record: Record, state: Any
    ) -> Answer[tuple[Judgement, msgspec.Struct | None]]:
        def read(content: str) -> tuple[Judgement, msgspec.Struct | None]:
            answer = decode_answer(content, self._carrying.answer_type)
            judgement, next_state = self._carrying.conclude(answer, unit, record, state)
            cleaned = without_leaks(judgement, question, known=self._asking.repeatable, mark=record.mark)
            # What was left out of the verdict must not come back by way of the state.
            return cleaned, next_state if cleaned is judgement else None

        try:
            return await self._judge.ask(question, read=read)
        except JudgeError as err:
            if err.info is not None:
                err.info = _plus(self._info, err.info)
            raise

    def _note(self, answer: Answer[Any], after: Carried, record: Record) -> None:
        self._count += 1
        self._info = _plus(self._info, answer.info)
        self._details |= {
            "coverage": coverage(after.shown_chars, after.total_chars),
            **answer.details,
            "repaired": bool(self._details["repaired"]) or answer.repaired,
        }
        if self._count > 1:
            self._details["stretches"] = self._count
        if record.first_turn:
            self._details["known_from_notes"] = record.first_turn
        if after.injection_suspected and "injection_suspected" not in self._details:
            self._details["injection_suspected"] = True


def _plus(one: JudgeInfo, other: JudgeInfo) -> JudgeInfo:
    is_priced = one.cost_usd is not None and other.cost_usd is not None
    return replace(
        other,
        calls=one.calls + other.calls,
        input_tokens=one.input_tokens + other.input_tokens,
        cached_input_tokens=one.cached_input_tokens + other.cached_input_tokens,
        output_tokens=one.output_tokens + other.output_tokens,
        cost_usd=(one.cost_usd or 0.0) + (other.cost_usd or 0.0) if is_priced else None,
        duration_s=one.duration_s + other.duration_s,
    )
