"""The built-in checks by name."""

from __future__ import annotations

from evaluators.checks.check import Check
from evaluators.checks.claim_without_call import ClaimWithoutCall
from evaluators.checks.claims import ClaimFinder
from evaluators.checks.error_then_success import ErrorThenSuccess
from evaluators.checks.no_answer import NoAnswer
from evaluators.checks.pairing import MissingResult, OrphanResult
from evaluators.checks.repeated_failing_call import RepeatedFailingCall
from evaluators.checks.system_prompt_leak import SystemPromptLeak


def make_checks() -> tuple[Check, ...]:
    finder = ClaimFinder()
    return (
        ClaimWithoutCall(finder),
        RepeatedFailingCall(),
        ErrorThenSuccess(finder),
        NoAnswer(),
        SystemPromptLeak(),
        MissingResult(),
        OrphanResult(),
    )
