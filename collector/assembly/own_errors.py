"""What the span of a failed tool says of the failure, beside what the agent was told of it.

Many frameworks tell the model a sentence of their own ("Function failed.") while the tool's span holds the error. Who
reads the conversation sees both: the told text first, then the tool's own error, marked as such. It is added only
where it says something that the told text does not, and it is never a stack trace.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from collector.assembly.items import Items
from collector.assembly.node import Node
from collector.messages.values import text_of
from collector.model import JsonValue

MARK = "[the tool's own error: {}]"
KEY = "the tool's own error"
"""Where the agent was told an object."""

_WORD = re.compile(r"\w+")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|_")
_SAYS_NOTHING = frozenset({
    "a", "an", "and", "at", "by", "call", "calling", "called", "error", "errors", "exception", "executing",
    "execution", "fail", "failed", "failing", "failure", "fatal", "for", "from", "function", "in", "internal", "invoke",
    "invoking", "is", "message", "non", "of", "on", "or", "other", "result", "run", "runtime", "running", "the", "to",
    "tool", "unknown", "was", "while", "with",
})  # fmt: skip
"""Words of which every failure may be made up."""


def own_error(node: Node, told: JsonValue) -> str | None:
    """The error of the tool's span, or of another span of the same call, that says most beyond what was told."""
    known = _words(text_of(told))
    found = [(len(_words(error) - known - _SAYS_NOTHING), error) for error in _errors(node)]
    weight, error = max(found, key=lambda pair: pair[0], default=(0, None))
    return error if weight else None


def with_own_error(node: Node, told: JsonValue) -> JsonValue:
    """What the agent was told, and what the tool's span says more."""
    error = own_error(node, told)
    if error is None:
        return told
    if isinstance(told, Mapping):
        return {**told, KEY: error}
    return f"{text_of(told)}\n{MARK.format(error)}".lstrip()


def _errors(node: Node) -> Iterator[str]:
    for span in (node, *node.duplicates):
        if span.operation.is_error and span.operation.error:
            yield span.operation.error


def _words(text: str) -> set[str]:
    """Lower-case words; those of a class's name one by one."""
    return {part.lower() for word in _WORD.findall(text) for part in _HUMP.split(word) if part}


def add_errors(items: Items) -> None:
    """A tool that failed and gave nothing back: its error is what is known of the result."""
    for call in items.calls:
        node = call.tool
        if isinstance(node, Node) and not call.has_result and node.operation.is_error and node.operation.error:
            error = own_error(node, None) or node.operation.error
            items.give_result(call, error, is_error=True, span_id=node.operation.span_id, agent=node.agent_name)
