"""Reads a rubric from plain values, as YAML gives them.

name: refund_manners
about: How the agent talks about refunds.
on: conversation
combine: mean
threshold: 0.7
criteria:
  - The agent never promises a date for a refund.
  - name: apology
    ask: The agent apologises for what went wrong, once.
    applies: The user complains.
    weight: 2
    examples:
      - {text: "Sorry that the cover was torn.", answer: yes}
      - {text: "Torn covers happen.", answer: no, why: It makes light of the complaint.}
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import cast, get_args

from evaluators.options import OptionReader, shown
from evaluators.rubric.given import read_given
from evaluators.rubric.model import (
    DEFAULT_THRESHOLDS,
    MAX_CRITERIA,
    MAX_TEXT_CHARS,
    Answer,
    Combine,
    Criterion,
    CriterionKind,
    Example,
    Rubric,
)
from evaluators.verdict import UnitKind

RUBRIC_KEYS: Mapping[str, str] = {
    "name": "What the evaluator is called, unless `as` says otherwise.",
    "about": "What the rubric is about, in a sentence; stands above its criteria.",
    "on": "What is judged, unless the configuration's `on` says otherwise: `turn` or `conversation`.",
    "each_turn": "Ask each criterion about every turn of the agent; it then counts by the share of turns it holds in.",
    "needs_calls": "Where the agent called no tool, ask no judge and give no score.",
    "combine": (
        "`all`: the score is 1 if every criterion that applies holds, else 0. `mean`: the weighted share of those that "
        "hold. `min`: the share of the criterion that held least often."
    ),
    "threshold": "Least score that passes. Default: 1 for `all`, else 0.5.",
    "rating": "Also give the score as a whole number from 1 to 5, in `details.rating`.",
    "needs": "Lists that the configuration must give, by option, each with the heading that the judge sees.",
    "given": "Such lists, given here: by heading.",
    "criteria": "The criteria: a statement each, or a mapping with the keys below.",
}
CRITERION_KEYS: Mapping[str, str] = {
    "name": "What it is called in verdicts; else its place, such as `c1`.",
    "ask": "A statement that holds or does not.",
    "applies": "When it is asked at all; otherwise it is `not_applicable`.",
    "weight": "What it counts for with `combine: mean`, above 0. Default: 1.",
    "required": "When it does not hold, the score is 0 whatever else holds.",
    "examples": "Texts with the right `answer` (`yes`, `no`, `not_applicable`, `cannot_assess`), and perhaps `why`.",
    "kind": "`duty`, `prohibition` or `role_fact`: for people only.",
    "source": "The words that a compiled criterion was made from: for people only.",
}
_NAME = re.compile(r"[\w-]{1,64}")
_ANSWERS = get_args(Answer)
_MAX_EXAMPLES = 8


def read_rubric(
    value: object, *, place: str, problems: list[str], lists: Mapping[str, tuple[str, ...]] | None = None
) -> Rubric | None:
    """Adds every problem found, each a sentence; None where not even the criteria can be read. `lists` are what the
    configuration gives for `needs`.
    """
    if not isinstance(value, Mapping):
        problems.append(f"{place} is {shown(value)} and must be a mapping with `criteria`.")
        return None
    reader = OptionReader(place, {str(key): item for key, item in value.items()}, problems)
    reader.only(RUBRIC_KEYS)
    criteria = _criteria(value.get("criteria"), f"{place}.criteria", problems)
    combine = cast("Combine", reader.choice("combine", "all", of=get_args(Combine)))  # `choice` has checked it.
    on = reader.choice("on", "", of=("", *UnitKind)) if "on" in value else ""
    return Rubric(
        name=reader.text("name"),
        about=_bounded(reader, "about"),
        criteria=criteria,
        on=UnitKind(on) if on else None,
        each_turn=reader.flag("each_turn", default=False),
        needs_calls=reader.flag("needs_calls", default=False),
        combine=combine,
        threshold=reader.number("threshold", DEFAULT_THRESHOLDS[combine], low=0, high=1),
        rating=reader.flag("rating", default=False),
        given=read_given(value, place=place, lists=lists or {}, problems=problems),
    )


def _criteria(value: object, place: str, problems: list[str]) -> tuple[Criterion, ...]:
    if not isinstance(value, list | tuple) or not value:
        problems.append(f"{place} is {shown(value)} and must be a list of statements that hold or do not.")
        return ()
    if len(value) > MAX_CRITERIA:
        problems.append(f"{place} has {len(value)} criteria and may have {MAX_CRITERIA}; make it several rubrics.")
        return ()
    found = [_criterion(item, index, f"{place}[{index}]", problems) for index, item in enumerate(value)]
    names = [criterion.name for criterion in found]
    problems.extend(
        f"{place}: two criteria are named {name!r}; names must differ."
        for name in dict.fromkeys(names)
        if names.count(name) > 1
    )
    return tuple(found)


def _criterion(value: object, index: int, place: str, problems: list[str]) -> Criterion:
    name = f"c{index + 1}"
    keys = {"ask": value} if isinstance(value, str) else value
    if not isinstance(keys, Mapping):
        problems.append(f"{place} is {shown(value)} and must be a statement, or a mapping with `ask`.")
        return Criterion(name, "")
    reader = OptionReader(place, {str(key): item for key, item in keys.items()}, problems)
    reader.only(CRITERION_KEYS)
    name = reader.text("name") or name
    if not _NAME.fullmatch(name):
        reader.problem("name", name, "letters, digits, _ and -, at most 64")
    if keys.get("ask") is None:
        reader.problem("ask", None, "a statement that holds or does not")
    weight = reader.number("weight", 1.0, low=0, high=1000)
    if weight == 0:
        reader.problem("weight", 0, "above 0; leave out a criterion that is to count for nothing")
    kind = reader.choice("kind", "", of=get_args(CriterionKind)) if keys.get("kind") is not None else ""
    return Criterion(
        name=name,
        ask=_bounded(reader, "ask") or "",
        applies=_bounded(reader, "applies"),
        weight=weight,
        required=reader.flag("required", default=False),
        examples=_examples(keys.get("examples"), f"{place}.examples", problems),
        kind=cast("CriterionKind", kind) if kind else None,  # `choice` has checked it.
        source=_bounded(reader, "source"),
    )


def _examples(value: object, place: str, problems: list[str]) -> tuple[Example, ...]:
    if value is None:
        return ()
    if not isinstance(value, list | tuple) or len(value) > _MAX_EXAMPLES:
        problems.append(f"{place} is {shown(value)} and must be a list of at most {_MAX_EXAMPLES} examples.")
        return ()
    found: list[Example] = []
    for index, item in enumerate(value):
        at = f"{place}[{index}]"
        if not isinstance(item, Mapping):
            problems.append(f"{at} is {shown(item)} and must be a mapping with `text` and `answer`.")
            continue
        reader = OptionReader(at, {str(key): part for key, part in item.items()}, problems)
        reader.only(("text", "answer", "why"))
        if item.get("text") is None:
            reader.problem("text", None, "a text as the agent might write it")
        answer = cast("Answer", reader.choice("answer", "", of=_ANSWERS))  # `choice` has checked it.
        found.append(Example(_bounded(reader, "text") or "", answer, _bounded(reader, "why")))
    return tuple(found)


def _bounded(reader: OptionReader, key: str) -> str | None:
    text = reader.text(key)
    if text is not None and len(text) > MAX_TEXT_CHARS:
        reader.problem(key, text, f"at most {MAX_TEXT_CHARS} characters long, and has {len(text)}")
    return text
