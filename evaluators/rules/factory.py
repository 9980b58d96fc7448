"""Makes the evaluator `rules` of its configuration."""

from __future__ import annotations

import difflib
from collections.abc import Mapping

from evaluators.checks.check import Check
from evaluators.checks.registry import make_checks
from evaluators.errors import EvaluatorConfigError
from evaluators.registry import EvaluatorRequest
from evaluators.rules.declared import read_rules
from evaluators.rules.evaluator import RulesEvaluator
from evaluators.rules.reading import shown
from evaluators.verdict import UnitKind

_OPTIONS = ("rules", "checks")


def make_rules(request: EvaluatorRequest) -> RulesEvaluator:
    """Options: `rules` (a list, none by default), `checks` (true, false, or a list of their names)."""
    for key in request.options:
        if key not in _OPTIONS:
            near = difflib.get_close_matches(str(key), _OPTIONS, n=1)
            hint = f"the nearest known is {near[0]!r}" if near else f"known are {' and '.join(_OPTIONS)}"
            raise EvaluatorConfigError(f"The evaluator {request.name!r} has no option {key!r}; {hint}.")
    return RulesEvaluator(
        read_rules(request.options.get("rules") or (), place=f"{request.name}.rules"),
        _checks(request.name, request.options),
        name=request.name,
        unit_kind=request.unit_kind or UnitKind.TURN,
    )


def _checks(name: str, options: Mapping[str, object]) -> tuple[Check, ...]:
    wanted = options.get("checks", True)
    known = {check.name: check for check in make_checks()}
    if isinstance(wanted, bool):
        return tuple(known.values()) if wanted else ()
    if not isinstance(wanted, list | tuple):
        raise EvaluatorConfigError(f"{name}.checks is {shown(wanted)} and must be true, false or a list of checks.")
    for check in wanted:
        if check not in known:
            raise EvaluatorConfigError(f"{name}.checks: there is no check {check!r}; known are {', '.join(known)}.")
    return tuple(known[check] for check in wanted)
