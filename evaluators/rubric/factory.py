"""Makes evaluators of rubrics: written in the configuration, in a file of people's own, or in one of this package."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from evaluators.asking import judge_of
from evaluators.errors import EvaluatorConfigError
from evaluators.options import OptionReader
from evaluators.registry import EvaluatorRequest
from evaluators.rubric.evaluator import RubricEvaluator
from evaluators.rubric.file import read_rubric_file
from evaluators.rubric.given import needed_lists
from evaluators.rubric.model import Rubric
from evaluators.rubric.reading import read_rubric
from evaluators.verdict import UnitKind

_KIND = "rubric"
_OWN = ("file", "include_reason")
_SHIPPED = Path(__file__).with_name("shipped")


def make_rubric(request: EvaluatorRequest) -> RubricEvaluator:
    """Options: `file` (a rubric in YAML), or the keys of a rubric; with a file also `threshold` and what it `needs`.
    Besides `include_reason` (true).
    """
    options = OptionReader(request.name, request.options)
    file = options.text("file")
    if file is not None:
        return _make(request, read_rubric_file(Path(file)), options, kind=_KIND, place=file)
    own = {key: value for key, value in request.options.items() if key not in _OWN}
    options.leave(own)
    return _make(request, own, options, kind=_KIND, place=request.name)


def make_shipped(kind: str, request: EvaluatorRequest) -> RubricEvaluator:
    """Options: `threshold` (the rubric's), `include_reason` (true), and what the rubric needs."""
    options = OptionReader(request.name, request.options)
    return _make(request, read_rubric_file(_SHIPPED / f"{kind}.yaml"), options, kind=kind, place=request.name)


make_goal_accuracy = partial(make_shipped, "goal_accuracy")
make_intent_resolution = partial(make_shipped, "intent_resolution")
make_tool_call_accuracy = partial(make_shipped, "tool_call_accuracy")
make_tool_use = partial(make_shipped, "tool_use")
make_topic_adherence = partial(make_shipped, "topic_adherence")


def _make(
    request: EvaluatorRequest,
    rubric: Any,
    options: OptionReader,
    *,
    kind: str,
    place: str,
) -> RubricEvaluator:
    include_reason = options.flag("include_reason", default=True)
    lists = {name: options.texts(name, default=()) for name in needed_lists(rubric)}
    problems: list[str] = []
    read = read_rubric(rubric, place=place, problems=problems, lists=lists)
    threshold = options.number("threshold", read.threshold if read else 1.0, low=0, high=1) if not problems else 1.0
    options.finish()
    if read is None or problems:
        raise EvaluatorConfigError("\n".join(problems))
    return RubricEvaluator(
        replace(read, threshold=threshold),
        judge=judge_of(request),
        name=_name(request, read),
        unit_kind=request.unit_kind or read.on or UnitKind.CONVERSATION,
        kind=kind,
        include_reason=include_reason,
        facts=request.facts,
        states=request.states,
    )


def _name(request: EvaluatorRequest, rubric: Rubric) -> str:
    """`as` wins; a rubric that has a name need not be given another one."""
    return rubric.name if request.name == _KIND and rubric.name else request.name
