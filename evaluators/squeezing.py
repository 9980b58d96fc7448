"""Text without what people and tools write differently: case, width, spaces, punctuation. Quick for plain ASCII."""

from __future__ import annotations

import re
import unicodedata

_NOT_WORD = re.compile(r"[\W_]+")
_ASCII_NOT_WORD = {code: None for code in range(128) if not chr(code).isalnum()}


def folded(text: str) -> str:
    """Without case and width."""
    return text.lower() if text.isascii() else unicodedata.normalize("NFKC", text).casefold()


def squeezed(text: str) -> str:
    """Without spaces and punctuation; expects a folded text."""
    return text.translate(_ASCII_NOT_WORD) if text.isascii() else _NOT_WORD.sub("", text)
