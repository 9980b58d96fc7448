"""Text from judges and conversations, made harmless to show: bounded, and free of what terminals and viewers obey.

Control characters (terminal escapes among them), bidirectional overrides, invisible tag characters and lone surrogates
are taken out; tabs and line breaks stay. What is cut says so. The outbox keeps the text as it was.
"""

from __future__ import annotations

import re

_LINE_BREAKS = re.compile("\r\n?|[\x0b\x0c\x85\u2028\u2029]")
_UNSAFE = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f-\x9f"  # C0 without tab and line breaks, delete, C1
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # marks and overrides of direction
    "\ufff9-\ufffb\ufeff"  # interlinear annotation, byte order mark
    "\U000e0000-\U000e007f]"  # tag characters: text that people cannot see and models can
)
_SURROGATES = re.compile("[\ud800-\udfff]")


def clean_text(text: str, *, max_chars: int) -> str:
    """At most `max_chars` characters, the note on what was cut included."""
    cleaned = _SURROGATES.sub("\ufffd", _UNSAFE.sub("", _LINE_BREAKS.sub("\n", text)))
    if len(cleaned) <= max_chars:
        return cleaned
    note = f" … [cut: {len(cleaned)} characters in all]"
    return cleaned[: max(0, max_chars - len(note))] + note if len(note) < max_chars else cleaned[:max_chars]


def clean_line(text: str, *, max_chars: int) -> str:
    """The same on one line: for names and labels."""
    return clean_text(" ".join(text.split()), max_chars=max_chars)
