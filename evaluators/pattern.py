"""Regular expressions of the configuration, held against text of strangers: in time that grows with the text only.

A backtracking engine can be kept busy for hours by one message that was written for the pattern, and by many an honest
one. This engine has neither look-around nor back-references for that reason; a pattern with them is refused.
"""

from __future__ import annotations

import re

from pydantic_core import SchemaError, SchemaValidator, core_schema

_REASON = re.compile(r"^\s*error: (.+)$", re.MULTILINE)
_SURROGATE = re.compile("[\ud800-\udfff]")


class PatternError(ValueError):
    """Says in a few words what is wrong."""


class Pattern:
    """Finds its expression anywhere in a text."""

    __slots__ = ("_found", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        try:
            self._found = SchemaValidator(core_schema.str_schema(pattern=text, regex_engine="rust-regex"))
        except SchemaError as err:
            reason = _REASON.search(str(err))
            raise PatternError(reason[1] if reason else "it is too large") from err
        except UnicodeEncodeError as err:
            raise PatternError("it is not valid Unicode") from err

    def __str__(self) -> str:
        return self.text

    def is_in(self, text: str) -> bool:
        return self._found.isinstance_python(text if text.isascii() else _SURROGATE.sub("\ufffd", text))
