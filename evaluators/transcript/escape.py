r"""Text made harmless to show: what a reader cannot see, what moves the text around it, or what a model's server may
take for a boundary of its own, becomes visible and plain.

Line breaks stay (the caller splits at them and nowhere else). Control characters, lone surrogates, the odd line
separators, bidirectional overrides, zero-width characters that no script needs, Unicode tags and supplementary
variation selectors are written as `\u{...}`. Joiners and plain variation selectors stay where one stands alone, since
Hindi, Persian and emoji need them; rows of them hide text. So is the first sign of the control tokens of chat templates
(`<|im_end|>`, `[/INST]`, `</s>` ...): some servers turn these into real boundaries of messages wherever they stand.
Nothing else is touched: non-ASCII text is shown as it is.
"""

from __future__ import annotations

import re

_INVISIBLE = re.compile(
    "["
    "\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f"  # Controls, except tab, line feed and carriage return.
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb"
    "\ud800-\udfff"
    "\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0000-\U000e0fff"
    "]"
)
_ROW = re.compile("[\ufe00-\ufe0f]{2,}|[\u200c\u200d]{2,}")
_CONTROL_TOKEN = re.compile(
    r"<(?=\|[^|<>\n]{1,60}\|>|\uff5c[^\uff5c<>\n]{1,60}\uff5c>"  # ChatML, Llama, Phi, and others; DeepSeek.
    r"|/?(?:s|bos|eos|pad|unk|sop|eop|think|tool_call|tool_response|start_of_turn|end_of_turn)>|</?SYS>>"
    r"|(?:[BE]OS_TOKEN|SPECIAL_\d+|extra_id_\d+|reserved_\d+|unused\d+|seed:[a-z_]+|(?:start|end)_of_image)>)"
    r"|\[(?=/?(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS|TOOL_CONTENT|THINK|ARGS|CALL_ID)\]"
    r"|(?:gMASK|UNUSED_TOKEN_\d+|e~\[)|\|[^|\[\]\n]{1,60}\|\])"  # GLM, InternLM, MiniMax; EXAONE.
    r"|\](?=~!?b[\[\]])"
)


def escape(text: str) -> str:
    shown = _CONTROL_TOKEN.sub(_shown, _INVISIBLE.sub(_shown, text))
    return shown if shown.isascii() else _ROW.sub(_after_the_first, shown)


def _shown(found: re.Match[str]) -> str:
    return f"\\u{{{ord(found[0]):x}}}"


def _after_the_first(row: re.Match[str]) -> str:
    return row[0][0] + "".join(f"\\u{{{ord(sign):x}}}" for sign in row[0][1:])


def lines_of(text: str) -> list[str]:
    """The lines of a text, escaped; at least one. A line has no line break of any kind in it."""
    return escape(text.replace("\r\n", "\n").replace("\r", "\n")).split("\n")


def one_line(text: str, *, max_chars: int | None = None) -> str:
    """The text on a single line, for names and messages; cut visibly."""
    line = " ".join(lines_of(text))
    if max_chars is not None and len(line) > max_chars:
        return line[: max_chars - 1] + "…"
    return line
