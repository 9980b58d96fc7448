"""Makes the evaluator `role_adherence` of its configuration."""

from __future__ import annotations

from typing import Literal, cast

from evaluators.asking import judge_of
from evaluators.evaluator import Evaluator
from evaluators.options import OptionReader
from evaluators.registry import EvaluatorRequest
from evaluators.role_adherence.evaluator import RoleAdherence, RoleOptions
from evaluators.role_adherence.role import Role
from evaluators.verdict import UnitKind


def make_role_adherence(request: EvaluatorRequest) -> Evaluator:
    """Options: `role`, or `product_description` with `capabilities`, `policies`, `inabilities`; `scale` (graded or
    binary), `threshold` (0.8; of the graded score), `include_reason` (true).
    """
    options = OptionReader(request.name, request.options)
    role = Role(
        role=options.text("role"),
        product_description=options.text("product_description"),
        capabilities=options.texts("capabilities", default=()),
        policies=options.texts("policies", default=()),
        inabilities=options.texts("inabilities", default=()),
    )
    scale = options.choice("scale", "graded", of=("graded", "binary"))
    chosen = RoleOptions(
        role=role,
        scale=cast("Literal['graded', 'binary']", scale),  # `choice` has checked it.
        threshold=options.number("threshold", 0.8, low=0, high=1),
        include_reason=options.flag("include_reason", default=True),
    )
    options.finish()
    return RoleAdherence(
        chosen,
        judge=judge_of(request),
        name=request.name,
        unit_kind=request.unit_kind or UnitKind.CONVERSATION,
        states=request.states,
        facts=request.facts,
    )
