"""One configured evaluator: which units it is asked about, and how it is asked."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase

from evaluators.agent_rubric.shelf import RubricShelf
from evaluators.errors import EvaluatorConfigError
from evaluators.evaluator import Evaluator
from evaluators.facts import Facts, FactSource
from evaluators.judge.judge import Judge
from evaluators.jury import JuryEvaluator
from evaluators.pipeline.filters import KEYS as FILTER_KEYS
from evaluators.pipeline.filters import Filters, read_filters
from evaluators.registry import EvaluatorRegistry, EvaluatorRequest
from evaluators.store.states import StateLedger
from evaluators.verdict import Unit, UnitKind

IMMEDIATE_JUDGES = frozenset({"builtin", "none"})
"""Judges that answer in the process and at once: the deterministic checks, and the judge that is not configured."""

_OWN_KEYS = ("as", "on", "sample", "agents", "services", "incomplete", "after_close", *FILTER_KEYS)
AFTER_CLOSE = ("rescore", "ignore", "reject")


@dataclass(frozen=True, slots=True)
class EvaluatorSetup:
    evaluator: Evaluator
    sample: float = 1.0
    """Share of conversations, 0 to 1; a conversation is in or out as a whole."""
    agents: tuple[str, ...] = ()
    """Names or globs of agents; empty: all."""
    services: tuple[str, ...] = ()
    """Names or globs of services; empty: all."""
    judge_incomplete: bool = False
    """Also judge a turn whose end never arrived."""
    filters: Filters = field(default_factory=Filters)
    after_close: str = "rescore"
    """What a turn means that comes to a conversation which was judged as a whole: judge it anew, let the score stand,
    or decide that it came too late."""
    immediate: bool = False
    """Evaluated as the unit comes in, without waiting on disk; for evaluators that need no one outside."""

    @property
    def name(self) -> str:
        return self.evaluator.name

    def concerns(self, unit: Unit) -> bool:
        """No filter leaves the unit out."""
        conversation = unit.conversation
        is_named = matches(conversation.service, self.services) and matches(conversation.agent.name, self.agents)
        return is_named and self.filters.why_not(unit) is None


def make_setups(
    entries: Iterable[tuple[str, Mapping[str, object]]],
    *,
    registry: EvaluatorRegistry,
    judge: object | None,
    states: StateLedger | None = None,
    rubrics: RubricShelf | None = None,
) -> tuple[EvaluatorSetup, ...]:
    """From configuration, (kind, options) each; raises one `EvaluatorConfigError` that holds every problem."""
    setups: list[EvaluatorSetup] = []
    problems: list[str] = []
    facts = Facts()
    for kind, options in entries:
        try:
            setup = make_setup(
                kind, options, registry=registry, judge=judge, states=states, rubrics=rubrics, facts=facts
            )
        except EvaluatorConfigError as err:
            problems.append(str(err))
            continue
        if any(setup.name == other.name for other in setups):
            problems.append(f"Two evaluators are named {setup.name!r}; give one of them another name with `as`.")
        setups.append(setup)
    if problems:
        raise EvaluatorConfigError("\n".join(problems))
    return tuple(setups)


def make_setup(
    kind: str,
    options: Mapping[str, object],
    *,
    registry: EvaluatorRegistry,
    judge: object | None,
    states: StateLedger | None = None,
    rubrics: RubricShelf | None = None,
    facts: Facts | None = None,
) -> EvaluatorSetup:
    own = {key: options[key] for key in _OWN_KEYS if key in options}
    rest = {key: value for key, value in options.items() if key not in _OWN_KEYS}
    name = _name(kind, own.get("as", kind))
    request = EvaluatorRequest(
        name=name,
        unit_kind=_unit_kind(kind, own.get("on")),
        options=rest,
        judge=judge,
        states=states,
        rubrics=rubrics,
        facts=facts,
    )
    evaluator = _with_jury(registry.make(kind, request), kind, request, registry=registry)
    immediate = evaluator.judge_name in IMMEDIATE_JUDGES
    setup = EvaluatorSetup(
        evaluator=evaluator,
        sample=_sample(kind, own.get("sample", 1.0)),
        agents=_globs(kind, "agents", own.get("agents", ())),
        services=_globs(kind, "services", own.get("services", ())),
        judge_incomplete=_incomplete(kind, own.get("incomplete", "judge" if immediate else "skip")),
        filters=read_filters(kind, own),
        after_close=_after_close(kind, own.get("after_close", "rescore")),
        immediate=immediate,
    )
    if facts is not None and isinstance(evaluator, FactSource):
        facts.add(evaluator, is_asked=setup.concerns)
    return setup


def matches(name: str | None, globs: Sequence[str]) -> bool:
    return not globs or (name is not None and any(fnmatchcase(name, glob) for glob in globs))


def _with_jury(evaluator: Evaluator, kind: str, request: EvaluatorRequest, *, registry: EvaluatorRegistry) -> Evaluator:
    """Where the evaluator asks the judge, and the judge has jurors. These carry nothing from turn to turn."""
    judge = request.judge
    if not isinstance(judge, Judge) or not judge.jurors or evaluator.judge_name != judge.name:
        return evaluator
    alone = replace(request, states=None)
    jurors = [registry.make(kind, replace(alone, judge=juror)) for juror in judge.jurors]
    return JuryEvaluator(evaluator, jurors, config=judge.jury)


def _name(kind: str, value: object) -> str:
    if not isinstance(value, str) or not value:
        raise EvaluatorConfigError(f"{kind}.as must be a name, not {value!r}.")
    return value


def _unit_kind(kind: str, value: object) -> UnitKind | None:
    if value is None:
        return None
    if isinstance(value, str) and value in set(UnitKind):
        return UnitKind(value)
    raise EvaluatorConfigError(f"{kind}.on must be turn or conversation, not {value!r}.{_near(value, UnitKind)}")


def _sample(kind: str, value: object) -> float:
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1:
        return float(value)
    raise EvaluatorConfigError(f"{kind}.sample must be a share from 0 to 1, not {value!r}.")


def _globs(kind: str, key: str, value: object) -> tuple[str, ...]:
    if isinstance(value, str):
        return (value,)
    if isinstance(value, list | tuple) and all(isinstance(item, str) for item in value):
        return tuple(value)
    raise EvaluatorConfigError(f"{kind}.{key} must be a list of names or globs, not {value!r}.")


def _incomplete(kind: str, value: object) -> bool:
    if value in ("judge", "skip"):
        return value == "judge"
    raise EvaluatorConfigError(
        f"{kind}.incomplete must be judge or skip, not {value!r}.{_near(value, ('judge', 'skip'))}"
    )


def _after_close(kind: str, value: object) -> str:
    if isinstance(value, str) and value in AFTER_CLOSE:
        return value
    raise EvaluatorConfigError(
        f"{kind}.after_close must be rescore, ignore or reject, not {value!r}.{_near(value, AFTER_CLOSE)}"
    )


def _near(value: object, known: Iterable[str]) -> str:
    found = difflib.get_close_matches(str(value), list(map(str, known)), n=1)
    return f" Did you mean {found[0]!r}?" if found else ""
