"""Units that people label, in a file that holds all that is needed to judge them again.

One JSON object a line: what a person reads (`text`, `question`), what a person fills in (`label`: pass, fail or
unsure; `note`; `language`, where the guess is wrong), and the unit itself (`unit`, which nobody needs to touch). A
label is about one evaluator and says nothing about what a judge thought, which labellers are not shown.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Literal, TypeAlias, cast

from collector.assembly.render import to_text
from collector.model import Conversation
from evaluators.assessable import why_not_assessable
from evaluators.errors import EvaluatorConfigError
from evaluators.evaluator import Evaluator
from evaluators.measuring.language import language_of
from evaluators.offline import units_of
from evaluators.store.encoding import dump
from evaluators.store.unit_codec import decode_unit, encode_unit
from evaluators.transcript.escape import one_line
from evaluators.verdict import Unit, UnitKind

Label: TypeAlias = Literal["pass", "fail", "unsure"]
LABELS: Sequence[Label] = ("pass", "fail", "unsure")

QUESTIONS: Mapping[str, str] = {
    "task_adherence": "Did the agent do what was asked, or honestly say that it could not, within the rules and by the "
    "procedure of its system prompt?",
    "role_adherence": "Did the agent stay in its role?",
    "conversation_completeness": "Did the user get what they came for?",
}


@dataclass(frozen=True, slots=True)
class LabelledUnit:
    evaluator: str
    unit: Unit
    language: str
    label: Label | None = None
    note: str = ""

    @property
    def question(self) -> str:
        asked = QUESTIONS.get(self.evaluator, f"Does it pass {self.evaluator}?")
        only = f" Turn {self.unit.turn_index} only." if self.unit.kind is UnitKind.TURN else ""
        return asked + only


def new_labels(
    conversations: Iterable[Conversation], evaluator: Evaluator, *, number: int, random: Random
) -> list[LabelledUnit]:
    """One unit of each conversation, as far as there is something to judge in it. `conversations` come in random order:
    a sample that every conversation has the same chance to be in holds for all.
    """
    found: list[LabelledUnit] = []
    for conversation in conversations:
        if len(found) >= number:
            break
        units = [
            unit
            for unit in units_of(conversation, evaluator.unit_kind)
            if unit.conversation.turns and why_not_assessable(unit) is None
        ]
        if units:
            unit = random.choice(units)
            found.append(LabelledUnit(evaluator.name, unit, language_of(_said(unit))))
    return found


def read_labels(path: Path) -> list[LabelledUnit]:
    """Raises `EvaluatorConfigError` naming file and line."""
    try:
        body = path.read_bytes()
    except OSError as err:
        raise EvaluatorConfigError(f"The file {path} cannot be read: {err.strerror}.") from err
    return [
        _read(line, where=f"{path}, line {number}")
        for number, line in enumerate(body.split(b"\n"), start=1)
        if line.strip()
    ]


def write_labels(path: Path, labels: Sequence[LabelledUnit]) -> None:
    """The whole file or, where that fails, none of it; raises `EvaluatorConfigError`."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        temporary.touch(mode=0o600)
        temporary.write_bytes(b"".join(map(_line, labels)))
        temporary.replace(path)
    except OSError as err:
        raise EvaluatorConfigError(f"Labels cannot be written to {path}: {err.strerror}.") from err


def labelled(one: LabelledUnit, label: Label, note: str = "") -> LabelledUnit:
    return replace(one, label=label, note=note)


def _line(one: LabelledUnit) -> bytes:
    record = {
        "label": one.label,
        "note": one.note,
        "language": one.language,
        "question": one.question,
        "evaluator": one.evaluator,
        "text": to_text(one.unit.conversation),
        "unit": json.loads(encode_unit(one.unit)),
    }
    return json.dumps(record).encode() + b"\n"


def _read(line: bytes, *, where: str) -> LabelledUnit:
    try:
        record = json.loads(line)
        label, evaluator, language = record["label"] or None, record["evaluator"], record.get("language") or ""
        unit = decode_unit(dump(record["unit"]))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as err:
        raise EvaluatorConfigError(
            f"{where} is no unit to label ({type(err).__name__}): write the file with `adhere label`."
        ) from err
    if isinstance(label, str):
        label = label.strip().lower() or None
    if label is not None and label not in LABELS:
        shown = one_line(str(label), max_chars=40)
        raise EvaluatorConfigError(f"{where} has the label {shown!r}; known are {', '.join(LABELS)}, or null.")
    return LabelledUnit(str(evaluator), unit, str(language), cast("Label | None", label), str(record.get("note") or ""))


def _said(unit: Unit) -> str:
    return "\n".join(turn.user_input or "" for turn in unit.conversation.turns)
