"""Errors of opening a journal; those of appending are in `collector.errors`.

AdhereError
└── PermanentError
    ├── JournalLockedError    somebody else writes this journal, or holds this cursor
    └── JournalVersionError   a file was written by a newer Adhere
"""

from __future__ import annotations

from collector.errors import PermanentError


class JournalLockedError(PermanentError):
    pass


class JournalVersionError(PermanentError):
    """Raised before anything in the directory is changed."""
