"""Evaluators by name: the built-in ones, and those of other packages through the entry point group `adhere.evaluators`.

A factory makes an evaluator of an `EvaluatorRequest`. It is imported when it is asked for, so that a plug-in
nobody uses costs nothing, and one that does not import is named and takes no other down.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import TypeAlias, cast

from evaluators.agent_rubric.shelf import RubricShelf
from evaluators.errors import EvaluatorConfigError
from evaluators.evaluator import Evaluator
from evaluators.facts import Facts
from evaluators.nearest import did_you_mean
from evaluators.store.states import StateLedger
from evaluators.verdict import UnitKind

ENTRY_POINT_GROUP = "adhere.evaluators"


@dataclass(frozen=True, slots=True)
class EvaluatorRequest:
    """What a factory makes an evaluator from."""

    name: str
    """The name that the evaluator shall carry; differs from the factory's when one is configured twice."""
    unit_kind: UnitKind | None = None
    """None: the evaluator's own default."""
    options: Mapping[str, object] = field(default_factory=dict)
    """The evaluator's own options, as configured; the factory checks them and raises `EvaluatorConfigError`."""
    judge: object | None = None
    """What model evaluators ask; None when no judge is configured."""
    states: StateLedger | None = None
    """Where evaluators keep what they carry from turn to turn; None: each unit is judged in full."""
    rubrics: RubricShelf | None = None
    """Where rubrics of agents' versions are kept; None: in memory."""
    facts: Facts | None = None
    """What code knows of a unit, for model evaluators to tell their judge."""


EvaluatorFactory: TypeAlias = Callable[[EvaluatorRequest], Evaluator]

_BUILTIN: Mapping[str, str] = {
    "agent_rubric": "evaluators.agent_rubric.factory:make_agent_rubric",
    "conversation_completeness": "evaluators.conversation_completeness.factory:make_conversation_completeness",
    "goal_accuracy": "evaluators.rubric.factory:make_goal_accuracy",
    "intent_resolution": "evaluators.rubric.factory:make_intent_resolution",
    "role_adherence": "evaluators.role_adherence.factory:make_role_adherence",
    "rubric": "evaluators.rubric.factory:make_rubric",
    "rules": "evaluators.rules.factory:make_rules",
    "task_adherence": "evaluators.task_adherence.factory:make_task_adherence",
    "tool_call_accuracy": "evaluators.rubric.factory:make_tool_call_accuracy",
    "tool_use": "evaluators.rubric.factory:make_tool_use",
    "topic_adherence": "evaluators.rubric.factory:make_topic_adherence",
}


class EvaluatorRegistry:
    """Built-in names win over a plug-in's, so that installing a package never changes what a built-in name means."""

    def __init__(self, *, builtin: Mapping[str, str] = _BUILTIN, plugins: Iterable[EntryPoint] | None = None) -> None:
        self._builtin = builtin
        found = entry_points(group=ENTRY_POINT_GROUP) if plugins is None else plugins
        self._plugins = {plugin.name: plugin for plugin in found if plugin.name not in builtin}

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(sorted({*self._builtin, *self._plugins}))

    def make(self, kind: str, request: EvaluatorRequest) -> Evaluator:
        """The evaluator that `kind` names; raises `EvaluatorConfigError`."""
        try:
            return self._factory(kind)(request)
        except EvaluatorConfigError:
            raise
        except Exception as err:  # A plug-in may raise anything; it is named, and the others still load.
            raise EvaluatorConfigError(
                f"The evaluator {request.name!r} ({self._origin(kind)}) cannot be made: {type(err).__name__}: {err}."
            ) from err

    def _factory(self, kind: str) -> EvaluatorFactory:
        if kind in self._builtin:
            module, _, attribute = self._builtin[kind].partition(":")
            return cast("EvaluatorFactory", getattr(import_module(module), attribute))  # The table holds factories.
        if kind in self._plugins:
            return cast("EvaluatorFactory", self._plugins[kind].load())  # What the entry point group promises.
        raise EvaluatorConfigError(f"No evaluator is named {kind!r}; {did_you_mean(kind, self.names)}")

    def _origin(self, kind: str) -> str:
        if kind in self._builtin:
            return "built in"
        plugin = self._plugins[kind]
        return f"{plugin.value} of {plugin.dist.name if plugin.dist else 'an unknown package'}"
