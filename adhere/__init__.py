"""The Adhere application, and its evaluators for code of one's own.

    from adhere import JudgeConfig, make_evaluator

The names are those of `adhere.facade`, which is imported when the first of them is asked for: the processes of a
running Adhere import this package and need none of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from adhere.facade import (
        FORMAT_NAMES,
        VIEW_NAMES,
        AzureConfig,
        Conversation,
        DecisionEvaluator,
        EvaluatorConfigError,
        InputFormError,
        JudgeConfig,
        MissingArgumentError,
        OfflineEvaluator,
        Outcome,
        TurnVerdicts,
        Verdict,
        connect_judge,
        conversation_from,
        judge_from_environment,
        judge_from_model,
        make_evaluator,
        steps_of,
        view_of,
    )

__all__ = [
    "FORMAT_NAMES",
    "VIEW_NAMES",
    "AzureConfig",
    "Conversation",
    "DecisionEvaluator",
    "EvaluatorConfigError",
    "InputFormError",
    "JudgeConfig",
    "MissingArgumentError",
    "OfflineEvaluator",
    "Outcome",
    "TurnVerdicts",
    "Verdict",
    "connect_judge",
    "conversation_from",
    "judge_from_environment",
    "judge_from_model",
    "make_evaluator",
    "steps_of",
    "view_of",
]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from adhere import facade  # noqa: PLC0415 - see above

    return getattr(facade, name)
