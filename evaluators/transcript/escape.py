r"""Text made harmless to show: what a reader cannot see, or what moves the text around it, becomes visible.

Line breaks stay (the caller splits at them and nowhere else). Control characters, lone surrogates, the odd line
separators, bidirectional overrides, zero-width characters that no script needs, Unicode tags and supplementary
variation selectors are written as `\u{...}`. Joiners stay, since Hindi, Persian and emoji need them. Nothing else is
touched: non-ASCII text is shown as it is.
"""

from __future__ import annotations

import re

_INVISIBLE = re.compile(
    "["
    "\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f"  # Controls, except tab, line feed and carriage return.
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb"
    "\ud800-\udfff"
    "\U0001d173-\U0001d17a"
    "\U000e0000-\U000e0fff"
    "]"
)


def escape(text: str) -> str:
    return _INVISIBLE.sub(lambda found: f"\\u{{{ord(found[0]):x}}}", text)


def lines_of(text: str) -> list[str]:
    """The lines of a text, escaped; at least one. A line has no line break of any kind in it."""
    return escape(text.replace("\r\n", "\n").replace("\r", "\n")).split("\n")


def one_line(text: str, *, max_chars: int | None = None) -> str:
    """The text on a single line, for names and messages; cut visibly."""
    line = " ".join(lines_of(text))
    if max_chars is not None and len(line) > max_chars:
        return line[: max_chars - 1] + "…"
    return line
