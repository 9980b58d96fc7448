"""Errors of the evaluators; the roots are the collector's.

    AdhereError
    ├── RetryableError
    │   └── StoreUnavailableError   the disk refused the verdict store's read or write
    └── PermanentError
        ├── EvaluatorConfigError    an evaluator's options do not make sense, or nothing has its name
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
