"""How a model evaluator gets from a unit to a judgement: questions, and answers checked before they count."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

import msgspec

from evaluators.assessable import not_assessable, why_not_assessable
from evaluators.carrying import Memory, turn_words
from evaluators.errors import EvaluatorConfigError
from evaluators.evaluator import Judgement
from evaluators.evidence import Citation, EvidenceError, Speaker, first_citations, verify
from evaluators.inquiry import Asking, question_of, without_leaks
from evaluators.judge.answer import decode_answer
from evaluators.judge.errors import JudgeError, JudgeErrorType, UnusableAnswerError
from evaluators.judge.judge import Judge
from evaluators.judge.question import Question
from evaluators.registry import EvaluatorRequest
from evaluators.transcript.escape import one_line
from evaluators.transcript.record import Record, record_of
from evaluators.turn_by_turn import judge_turn_by_turn
from evaluators.verdict import Evidence, JudgeInfo, Outcome, Unit, UnitKind

__all__ = [
    "MAX_REASONING_CHARS",
    "MAX_REASON_CHARS",
    "NO_JUDGE",
    "Asking",
    "ask",
    "clean",
    "failed",
    "judge_of",
    "question_of",
    "require_in_scope",
    "verified",
    "without_judge",
]

A = TypeVar("A", bound=msgspec.Struct)

NO_JUDGE = "none"
MAX_REASON_CHARS = 2000
MAX_REASONING_CHARS = 600

_NO_JUDGE_REASON = (
    "No judge is configured: set judge.model and judge.base_url in the configuration, or OPENAI_API_KEY, "
    "to have a model answer this."
)
_NO_MEMORY = Memory(None, owner=())


async def ask(asking: Asking[A], unit: Unit, judge: Judge | None, *, memory: Memory | None = None) -> Judgement:
    """Never raises for what the judge or the conversation may do."""
    if judge is None:
        return without_judge()
    why = why_not_assessable(unit)
    if why is not None:
        return not_assessable(*why, judge=judge.name)
    try:
        return await _ask(asking, unit, judge, memory)
    except JudgeError as err:
        return failed(err, judge.name)


def without_judge() -> Judgement:
    return not_assessable("no_judge_configured", _NO_JUDGE_REASON, judge=NO_JUDGE)


async def _ask(asking: Asking[A], unit: Unit, judge: Judge, memory: Memory | None) -> Judgement:
    facts = await asking.facts.find(unit) if asking.facts is not None else ()
    if asking.carrying is None:
        record = record_of(unit.conversation, fence=judge.fence, max_tokens=judge.max_record_tokens)
    else:
        judged = await judge_turn_by_turn(
            asking, asking.carrying, unit, judge=judge, memory=memory or _NO_MEMORY, facts=facts
        )
        if isinstance(judged, Judgement):
            return judged
        record = judged
    question = question_of(asking, unit, record, facts=facts)
    answer = await judge.ask(question, read=lambda content: _checked(asking, unit, record, question, content))
    details = {"coverage": record.coverage, **answer.details}
    return replace(answer.value, details={**answer.value.details, **details}, judge=answer.info)


def _checked(asking: Asking[A], unit: Unit, record: Record, question: Question, content: str) -> Judgement:
    judgement = asking.conclude(decode_answer(content, asking.answer_type), unit, record)
    return without_leaks(judgement, question, known=asking.repeatable, mark=record.mark)


def verified(citations: list[Citation], unit: Unit, *, by: Speaker | None = None) -> tuple[Evidence, ...]:
    """What checks out of the citations for one claim, which rests on that alone; raises `UnusableAnswerError` naming
    the first one where none does.
    """
    found: dict[Evidence, None] = {}
    problems: list[EvidenceError] = []
    for citation in first_citations(citations):
        try:
            found[verify(citation, unit, by=by)] = None
        except EvidenceError as err:
            problems.append(err)
    if problems and not found:
        raise UnusableAnswerError(problems[0].problem, error_type=JudgeErrorType.EVIDENCE) from problems[0]
    return tuple(found)


def require_in_scope(evidence: tuple[Evidence, ...], unit: Unit, *, what: str, first_turn: int = 0) -> None:
    """A fault needs evidence from what is judged: a turn, or the turns from `first_turn` on."""
    if not evidence:
        raise UnusableAnswerError(f"{what} has no evidence.", error_type=JudgeErrorType.EVIDENCE)
    first = unit.turn.index if unit.kind is UnitKind.TURN else first_turn
    if all(item.turn < first for item in evidence):
        turns = turn_words(first, unit.turn.index)
        raise UnusableAnswerError(
            f"{what} has no evidence from {turns}: only that is judged.", error_type=JudgeErrorType.EVIDENCE
        )


def clean(text: str, *, max_chars: int = MAX_REASONING_CHARS) -> str:
    """A judge's words as they may be shown anywhere: on one line, nothing invisible, bounded."""
    return one_line(text.strip(), max_chars=max_chars)


def judge_of(request: EvaluatorRequest) -> Judge | None:
    if request.judge is None or isinstance(request.judge, Judge):
        return request.judge
    raise EvaluatorConfigError(
        f"The evaluator {request.name!r} was given a {type(request.judge).__name__} to ask, and needs a Judge."
    )


def failed(err: JudgeError, name: str) -> Judgement:
    details: dict[str, object] = {}
    if err.retry_after_s is not None:
        details["retry_after_s"] = round(err.retry_after_s, 3)
    if err.answer is not None:
        details["answer"] = clean(err.answer, max_chars=MAX_REASON_CHARS)
    return Judgement(
        outcome=Outcome.ERROR,
        error_type=err.error_type.value,
        reason=str(err),
        details=details,
        judge=err.info or JudgeInfo(name=name),
        retryable=err.error_type.retryable,
    )
