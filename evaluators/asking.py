"""How a model evaluator gets from a unit to a judgement: one question, one answer, checked before it counts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Generic, TypeVar

import msgspec

from evaluators.assessable import not_assessable, why_not_assessable
from evaluators.errors import EvaluatorConfigError
from evaluators.evaluator import Judgement
from evaluators.evidence import Citation, EvidenceError, verify
from evaluators.judge.answer import decode_answer
from evaluators.judge.errors import JudgeError, JudgeErrorType, UnusableAnswerError
from evaluators.judge.frame import frame_text
from evaluators.judge.judge import Judge
from evaluators.judge.question import Question
from evaluators.judge.schema import strict_schema
from evaluators.leak import leaks
from evaluators.registry import EvaluatorRequest
from evaluators.transcript.escape import one_line
from evaluators.transcript.record import Record, end_line, record_of
from evaluators.verdict import Evidence, JudgeInfo, Outcome, Unit, UnitKind

A = TypeVar("A", bound=msgspec.Struct)

NO_JUDGE = "none"
MAX_REASON_CHARS = 2000
MAX_REASONING_CHARS = 600

_NO_JUDGE_REASON = (
    "No judge is configured: set judge.model and judge.base_url in the configuration, or OPENAI_API_KEY, "
    "to have a model answer this."
)


@dataclass(frozen=True, slots=True)
class Asking(Generic[A]):
    """What an evaluator asks, and how it concludes."""

    evaluator: str
    """The evaluator's kind; it names the schema and opens the question."""
    answer_type: type[A]
    question: Callable[[Unit, Record], str]
    conclude: Callable[[A, Unit, Record], Judgement]
    """Raises `UnusableAnswerError` for an answer that contradicts itself, or cites what is not there."""
    repeatable: str = ""
    """What stands in the question and may stand in the answer, such as a configured role."""
    schema: Mapping[str, object] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "schema", strict_schema(self.answer_type))  # Once; it takes longer than a verdict.


async def ask(asking: Asking[A], unit: Unit, judge: Judge | None) -> Judgement:
    """Never raises for what the judge or the conversation may do."""
    if judge is None:
        return not_assessable("no_judge_configured", _NO_JUDGE_REASON, judge=NO_JUDGE)
    why = why_not_assessable(unit)
    if why is not None:
        return not_assessable(*why, judge=judge.name)
    record = record_of(unit.conversation, fence=judge.fence, max_tokens=judge.max_record_tokens)
    question = question_of(asking, unit, record)

    def read(content: str) -> Judgement:
        judgement = asking.conclude(decode_answer(content, asking.answer_type), unit, record)
        instructions = f"{question.frame}\n{question.text}"
        texts = [judgement.reason, *_strings(judgement.details)]
        if leaks(texts, mark=record.mark, instructions=instructions, known=f"{record.text}\n{asking.repeatable}"):
            raise UnusableAnswerError("It repeated your instructions or the mark of the record.")
        return judgement

    try:
        answer = await judge.ask(question, read=read)
    except JudgeError as err:
        return _failed(err, judge.name)
    details = {**answer.value.details, "coverage": record.coverage, "repaired": answer.repaired}
    return replace(answer.value, details=details, judge=answer.info)


def question_of(asking: Asking[A], unit: Unit, record: Record) -> Question:
    text = f"{end_line(record.mark)}\n\nQuestion ({asking.evaluator}): {asking.question(unit, record)}"
    return Question(
        name=asking.evaluator,
        frame=frame_text(record.mark),
        record=record.text,
        text=text,
        schema=asking.schema,
    )


def verified(citations: list[Citation], unit: Unit) -> tuple[Evidence, ...]:
    """What checks out of the citations for one claim, which rests on that alone; raises `UnusableAnswerError` naming
    the first one where none does.
    """
    found: dict[Evidence, None] = {}
    problems: list[EvidenceError] = []
    for citation in citations:
        try:
            found[verify(citation, unit)] = None
        except EvidenceError as err:
            problems.append(err)
    if problems and not found:
        raise UnusableAnswerError(problems[0].problem, error_type=JudgeErrorType.EVIDENCE) from problems[0]
    return tuple(found)


def require_in_scope(evidence: tuple[Evidence, ...], unit: Unit, *, what: str) -> None:
    """A fault needs evidence, and one of a turn needs evidence from that turn."""
    if not evidence:
        raise UnusableAnswerError(f"{what} has no evidence.", error_type=JudgeErrorType.EVIDENCE)
    judged = unit.turn.index
    if unit.kind is UnitKind.TURN and all(item.turn != judged for item in evidence):
        raise UnusableAnswerError(
            f"{what} has no evidence from turn {judged}, which alone is judged.", error_type=JudgeErrorType.EVIDENCE
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


def _failed(err: JudgeError, name: str) -> Judgement:
    details = {} if err.retry_after_s is None else {"retry_after_s": round(err.retry_after_s, 3)}
    return Judgement(
        outcome=Outcome.ERROR,
        error_type=err.error_type.value,
        reason=str(err),
        details=details,
        judge=err.info or JudgeInfo(name=name),
        retryable=err.error_type.retryable,
    )


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _strings(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _strings(item)
