"""Errors of the evaluators; the roots are the collector's.

    AdhereError
    ├── RetryableError
    │   └── StoreUnavailableError   the disk refused the verdict store's read or write
    └── PermanentError
        ├── EvaluatorConfigError    an evaluator's options do not make sense, or nothing has its name
        ├── InputFormError          a conversation was given in a form that nothing here reads
        │   └── MissingArgumentError    an argument that its form needs is not there
        └── StoreVersionError       the verdict store was written by a newer version

A judge that fails is no exception: it is a judgement with the outcome `error`.
"""

from __future__ import annotations

from collector.errors import PermanentError, RetryableError


class StoreUnavailableError(RetryableError):
    pass


class EvaluatorConfigError(PermanentError):
    pass


class StoreVersionError(PermanentError):
    pass


class InputFormError(PermanentError):
    """Raised before any judge is asked. The message names the place and what was expected there, and no content."""


class MissingArgumentError(InputFormError):
    """`argument` is the name or the place of what is missing, such as `response` or `turns[2].actual_output`."""

    def __init__(self, argument: str, message: str) -> None:
        super().__init__(message)
        self.argument = argument
