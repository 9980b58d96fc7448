"""Errors of the application.

AdhereError (collector.errors)
├── UsageError          something a person can mend: a configuration, a file, an argument
│   └── ConfigError     the configuration does not hold
├── CommandError        the command cannot do what it was asked for, or found what it was to find
└── IncompleteError     the command did what it could, and a part is missing
"""

from __future__ import annotations

from collector.errors import AdhereError


class UsageError(AdhereError):
    """One or more sentences for the person at the terminal; the command ends with exit code 2."""


class CommandError(AdhereError):
    """One sentence for the person at the terminal; the command ends with exit code 1."""


class IncompleteError(AdhereError):
    """One or more sentences for the person at the terminal; what there is was written, and the exit code is 3."""


class ConfigError(UsageError):
    """Every problem found in the configuration, each one sentence with the path of its key."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = problems
