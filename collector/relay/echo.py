"""A server's words about a request without what they repeat of it, so that no content and no key reaches a log.

Masked is every run of eight bytes or more that also stands in the request, and every one that also stands in a secret.
Names of attributes that a server complains of go as well: nobody can tell them from what people say.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

_WINDOW = 8
_MAX_SENT_BYTES = 1 << 20
"""Looking through more would hold up the event loop; such a request gets the server's status, and not its words."""
_ABOUT_SIZE = re.compile(
    r"((CLIENT|SERVER): )?(Received|Decompressed) message larger than max( \(\d+ vs\. \d+\))?\.?", re.IGNORECASE
)
"""What gRPC itself says, which matters most for a large request."""
_MASK = "…"


def without_echo(text: str, *, sent: bytes, secrets: Iterable[str]) -> str:
    """`text` is short, a few hundred characters at most."""
    if not text:
        return text
    if len(sent) > _MAX_SENT_BYTES:
        return text if _ABOUT_SIZE.fullmatch(text) else ""
    known = [sent, *(secret.encode(errors="replace") for secret in secrets)]
    # Character by character, so that a mask never cuts one in two.
    pieces = [character.encode(errors="replace") for character in text]
    masked = [False] * len(pieces)
    for start in range(len(pieces)):
        end, size = start, 0
        while end < len(pieces) and size < _WINDOW:
            size += len(pieces[end])
            end += 1
        window = b"".join(pieces[start:end])
        # The last characters are too few for a window of their own; a short text is one as a whole.
        if (size >= _WINDOW or start == 0) and any(window in one for one in known):
            masked[start:end] = [True] * (end - start)
    return _joined(text, masked)


def _joined(text: str, masked: Iterable[bool]) -> str:
    kept: list[str] = []
    for character, is_masked in zip(text, masked, strict=True):
        if not is_masked:
            kept.append(character)
        elif not kept or kept[-1] != _MASK:
            kept.append(_MASK)
    return "".join(kept)
