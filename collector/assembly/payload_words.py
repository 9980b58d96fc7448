"""The user's words where what was recorded as them is but a part of what the model was asked, or an id."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from collector.assembly.said import contains
from collector.assembly.sections import user_input_of
from collector.messages.values import decode_container, squash
from collector.operation import Operation

_MAX_DEPTH = 8
_IDENTIFIER = re.compile(r"(?=.*[0-9_:/-])[A-Za-z0-9_.:@/-]{1,80}")


def payload_of(words: str | None, calls: Iterable[Operation]) -> str | None:
    """What the first call of a model was asked with, where `words` are but a part of its JSON, or an id."""
    asked = next((text for call in calls if (text := user_input_of(call.input))), None)
    if words is None or asked is None:
        return words
    if _IDENTIFIER.fullmatch(words) and not contains(asked, words):
        return asked  # the first argument of a function is not always what the user said
    if asked.lstrip()[:1] not in ("{", "["):
        return words
    wanted = squash(words)
    return asked if any(squash(text) == wanted for text in _texts_in(decode_container(asked), _MAX_DEPTH)) else words


def _texts_in(value: object, depth: int) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif depth > 0 and isinstance(value, (list, Mapping)):
        for item in value.values() if isinstance(value, Mapping) else value:
            yield from _texts_in(item, depth - 1)
