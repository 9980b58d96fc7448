"""What `import adhere` gives: evaluators for code of one's own. Nothing here needs a running Adhere."""

from __future__ import annotations

import os
from collections.abc import Mapping

from adhere.config.judging import JudgeConfig as JudgeSection
from adhere.config.model import Config
from adhere.run.judging import judge_settings
from collector.model import Conversation
from evaluators.decision.evaluator import DecisionEvaluator
from evaluators.errors import EvaluatorConfigError, InputFormError, MissingArgumentError
from evaluators.formats import FORMAT_NAMES, conversation_from
from evaluators.judge.config import AzureConfig, JudgeConfig
from evaluators.judge.connect import connect as connect_judge
from evaluators.judge.own_model import judge_from as judge_from_model
from evaluators.library import OfflineEvaluator, TurnVerdicts, make_evaluator
from evaluators.verdict import Outcome, Verdict
from evaluators.views import VIEW_NAMES, view_of
from evaluators.views.steps import steps_of

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


def judge_from_environment(model: str | None = None, *, environ: Mapping[str, str] | None = None) -> JudgeConfig | None:
    """The judge that `OPENAI_API_KEY` and `OPENAI_BASE_URL` name; None where neither is set."""
    environ = os.environ if environ is None else environ
    section = JudgeSection() if model is None else JudgeSection(model=model)
    if not environ.get("OPENAI_API_KEY") and not environ.get("OPENAI_BASE_URL"):
        return None
    return judge_settings(Config(judge=section), environ=environ)
