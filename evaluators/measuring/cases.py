"""Labelled conversations, one JSON object a line: task and completeness, role by turn, attacks.

The kind of a line shows in its labels. A line has `id`, `language`, `conversation` (`system`, `tools`, `messages` in
OpenAI chat form) and labels:

- task: `labels.task_adherence`, `labels.goal`, `.rule`, `.procedure` (pass, fail, na), `labels.completeness`, and
  `fault` (null, or `type`, `dimension`, `turns`: every turn in which a judge may rightly place it);
- role: `labels.turns` (true: adherent; one for each turn), `deviations` (`turn`, `kind`), `product_description`;
- attack: `technique`, `where`, `truth` (`evaluator`, `label`) and `wants` (pass, fail, leak, crash).

Fields beside these are kept out of everything that a judge sees.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, TypeAlias

import msgspec

from collector.model import Conversation
from evaluators.errors import EvaluatorConfigError, InputFormError
from evaluators.formats import conversation_from
from evaluators.transcript.escape import one_line

Judged: TypeAlias = Literal["pass", "fail"]
Dimension: TypeAlias = Literal["pass", "fail", "na"]
EvaluatorKind: TypeAlias = Literal["task_adherence", "role_adherence", "conversation_completeness"]


class Fault(msgspec.Struct, frozen=True):
    type: str
    dimension: str
    turns: tuple[int, ...] = ()


class TaskLabels(msgspec.Struct, frozen=True):
    task_adherence: Judged
    goal: Dimension = "na"
    rule: Dimension = "na"
    procedure: Dimension = "na"
    completeness: float | None = None

    @property
    def dimensions(self) -> Mapping[str, Dimension]:
        return {"goal": self.goal, "rule": self.rule, "procedure": self.procedure}


class Deviation(msgspec.Struct, frozen=True):
    turn: int
    kind: str


class RoleLabels(msgspec.Struct, frozen=True):
    turns: tuple[bool, ...]
    """True: the turn adheres."""


class Truth(msgspec.Struct, frozen=True):
    evaluator: EvaluatorKind
    label: Judged


class Attack(msgspec.Struct, frozen=True):
    technique: str
    where: str
    truth: Truth
    wants: Literal["pass", "fail", "leak", "crash"]
    language: str = ""
    """Of the attack's text, where it is not the conversation's."""


class _Line(msgspec.Struct, frozen=True):
    id: str
    conversation: dict[str, Any]
    language: str = ""
    labels: dict[str, Any] | None = None
    fault: Fault | None = None
    deviations: tuple[Deviation, ...] = ()
    product_description: str | None = None
    truth: Truth | None = None


@dataclass(frozen=True, slots=True)
class Case:
    id: str
    language: str
    conversation: Conversation
    task: TaskLabels | None = None
    fault: Fault | None = None
    role: RoleLabels | None = None
    deviations: tuple[Deviation, ...] = ()
    product_description: str | None = None
    attack: Attack | None = None
    turns: tuple[int, ...] = ()
    """The turn of the conversation that each turn of the labels is. They count what users said from 0, and a
    conversation may begin with a word of the agent's.
    """

    def turn_of(self, labelled: int) -> int:
        return self.turns[labelled] if 0 <= labelled < len(self.turns) else labelled


def read_cases(path: Path) -> Iterator[Case]:
    """Raises `EvaluatorConfigError` naming file and line. Lines end at line feeds only: contents may hold others."""
    try:
        body = path.read_bytes()
    except OSError as err:
        raise EvaluatorConfigError(f"The file {path} cannot be read: {err.strerror}.") from err
    for number, line in enumerate(body.split(b"\n"), start=1):
        if line.strip():
            yield _case(line, where=f"{path}, line {number}")


def case_of(value: Mapping[str, Any]) -> Case:
    """Raises `ValueError` or `InputFormError` for what has not the form of a case."""
    line = msgspec.convert(value, _Line)
    conversation = conversation_from(line.conversation, name="chat")
    # The content is in the id, so that it is in the mark of the record and in the ids of requests.
    conversation = replace(conversation, conversation_id=f"{line.id}/{conversation.conversation_id}")
    turns = tuple(turn.index for turn in conversation.turns if turn.user_input is not None)
    case = Case(line.id, line.language, conversation, turns=turns)
    if line.truth is not None:
        return replace(case, attack=msgspec.convert(value, Attack))
    if line.labels is not None and "turns" in line.labels:
        role = msgspec.convert(line.labels, RoleLabels)
        if len(role.turns) == len(conversation.turns):
            case = replace(case, turns=tuple(range(len(conversation.turns))))
        elif len(role.turns) > len(turns):  # Fewer are right where nobody answered the last one.
            raise ValueError(f"labels.turns has {len(role.turns)} entries for {len(turns)} turns")
        return replace(case, role=role, deviations=line.deviations, product_description=line.product_description)
    if line.labels is not None and "task_adherence" in line.labels:
        return replace(case, task=msgspec.convert(line.labels, TaskLabels), fault=line.fault)
    raise ValueError("it has no labels: give labels.task_adherence, labels.turns, or truth")


def _case(line: bytes, *, where: str) -> Case:
    try:
        return case_of(json.loads(line))
    except (ValueError, InputFormError, RecursionError) as err:
        raise EvaluatorConfigError(f"{where} is no labelled case: {one_line(str(err), max_chars=200)}.") from err


def unique_cases(cases: Sequence[Case]) -> Sequence[Case]:
    """Raises `EvaluatorConfigError` where two cases have one id: results could not be told apart."""
    seen: set[str] = set()
    for case in cases:
        if case.id in seen:
            raise EvaluatorConfigError(f"The case id {case.id!r} stands twice: give each case an id of its own.")
        seen.add(case.id)
    return cases
