"""By what one call can be told to go on from another: message lists, tool-call ids, and keys that index them.

All functions are pure and look at one operation. How the evidence is weighed is `continuation`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from hashlib import blake2b

from collector.assembly.said import contains
from collector.assembly.sections import user_input_of
from collector.messages.digests import extend, link, with_digest
from collector.messages.fold import says_anything
from collector.messages.values import canonical
from collector.operation import (
    Chain,
    Message,
    Operation,
    OperationKind,
    Part,
    Role,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)

LINKING = frozenset({OperationKind.MODEL_CALL, OperationKind.AGENT, OperationKind.WORKFLOW})
"""Operations that may hold what another one goes on from."""
MAX_NEEDS = 64
MIN_REPLY = 30
"""Characters; what is said in fewer ("Hello!", "You are welcome.") is said to many."""
MIN_KEPT = 8
MIN_CALL_ID = 8
"""Shorter tool-call ids ("0", "call_1") are counters of one request, not ids."""


def whole_of(operation: Operation) -> Chain | None:
    """Input and output as one list, where both say something; an answer alone is no history."""
    if operation.input is None or not says_anything(operation.output) or operation.is_internal:
        return None
    if operation.input_is_delta:
        return None
    return extend(operation.input, operation.output)


def replies_in(chain: Chain | None) -> Iterator[Chain]:
    """Where another call's list may end within this one: at each of the assistant's messages, latest first."""
    node = chain
    while node is not None:
        if is_reply(node):
            yield node
        node = node.parent


def is_reply(node: Chain) -> bool:
    """An empty answer counts where something was asked; where nothing says anything, content is off."""
    if node.message.role is not Role.ASSISTANT:
        return False
    return bool(node.message.parts) or bool(node.parent is not None and node.parent.message.parts)


def said_beside_calls(node: Chain) -> Chain | None:
    """The list as it ends where the calls beside the text of its last message were not recorded; None without such."""
    parts = node.message.parts
    texts = tuple(part for part in parts if isinstance(part, TextPart) and part.text)
    if not texts or not any(isinstance(part, ToolCallPart) for part in parts):
        return None
    return link(node.parent, with_digest(replace(node.message, parts=texts)))


def without_calls(whole: Chain) -> list[Chain]:
    """The lists that may be replayed in the place of one that ends with calls: without them, or with nothing at all."""
    if not any(isinstance(part, ToolCallPart) for part in whole.message.parts):
        return []
    said = said_beside_calls(whole)
    silent = link(whole.parent, with_digest(replace(whole.message, parts=())))
    return [said, silent] if said is not None else [silent]


def answer_at(node: Chain) -> tuple[Chain | None, Message]:
    """What an answer that ends here goes on from, and the answer, which may be replayed as one message a piece."""
    parts, before = [node.message.parts], node.parent
    while before is not None and before.message.role is Role.ASSISTANT:
        parts.append(before.message.parts)
        before = before.parent
    if len(parts) == 1:
        return before, node.message
    return before, replace(node.message, parts=tuple(part for one in reversed(parts) for part in one))


def goes_unanswered(node: Chain) -> bool:
    """The user speaks again after a list that nobody answered: where a call that failed may be gone on from."""
    if node.message.role is not Role.USER or node.parent is None:
        return False
    return node.parent.message.role is Role.USER and bool(node.parent.message.parts)


def is_beginning(operation: Operation) -> bool:
    """The first words of a conversation, so that nothing but themselves can tell that they were sent before."""
    chain = operation.input
    if operation.kind is not OperationKind.MODEL_CALL or chain is None or chain.message.role is not Role.USER:
        return False
    return bool(chain.message.parts) and next(replies_in(chain), None) is None


def reply_key(operation: Operation) -> bytes | None:
    """An answer that is long enough to be nobody else's; what was asked before it may be replayed in other words."""
    if operation.kind is not OperationKind.MODEL_CALL or operation.input is None or operation.is_internal:
        return None
    return _reply_key(operation.output[0]) if len(operation.output) == 1 else None


def last_reply_in(chain: Chain | None) -> Chain | None:
    """Where a history's latest answer of that length stands."""
    reply = next(replies_in(chain), None)
    return reply if reply is not None and _reply_key(reply.message) is not None else None


def _reply_key(told: Message) -> bytes | None:
    said = sum(len("".join(part.text.split())) for part in told.parts if isinstance(part, TextPart))
    is_text = not any(isinstance(part, ToolCallPart) for part in told.parts)
    return told.digest if is_text and said >= MIN_REPLY else None


def answers_the_same(operation: Operation, reply: Chain) -> bool:
    """Both answer the same words, though a template may be around those of one of them."""
    one, two = user_input_of(operation.input), user_input_of(reply)
    if two is None:
        return True  # the cut fell just before the answer
    return contains(one, two) or contains(two, one)


def is_open(operation: Operation) -> bool:
    """A call whose replay may differ from what is known of it, so that it cannot be found by the whole list: not
    answered, or not fully, or in a form of which an application keeps a part.
    """
    if operation.kind is not OperationKind.MODEL_CALL or operation.input is None or operation.is_internal:
        return False
    parts = [part for message in operation.output for part in message.parts]
    if any(isinstance(part, ToolCallPart) and not part.call_id for part in parts):
        return True
    texts = [part.text for part in parts if isinstance(part, TextPart)]
    return is_unanswered(operation) or any(_is_formal(text) or _is_piece(text) for text in texts)


def _is_piece(text: str) -> bool:
    """Of a stream some instrumentations record the last piece alone."""
    return text[:1].isspace()


def _is_formal(text: str) -> bool:
    """JSON, mark-up or code, with more in it than what is said to the user."""
    return text.lstrip()[:1] in ("{", "[", "<") or "</" in text or "```" in text


def is_unanswered(operation: Operation) -> bool:
    return operation.is_error or not says_anything(operation.output)


def fits(output: Sequence[Message], replay: Message) -> bool:
    """What is known of an answer is in the message that replays it; or that is a part of the answer that is kept."""
    calls = [(part.name, canonical(part.arguments)) for part in replay.parts if isinstance(part, ToolCallPart)]
    text = "".join(map(_dense, replay.parts))
    said = [_dense(part) for message in output for part in message.parts]
    asked = [part for message in output for part in message.parts if isinstance(part, ToolCallPart) and part.name]
    if not all(_is_among(call, calls) for call in asked):
        return False
    return all(told in text for told in said) or (len(text) >= MIN_KEPT and text in "".join(said))


def _dense(part: Part) -> str:
    return "".join(part.text.split()) if isinstance(part, TextPart) else ""


def _is_among(call: ToolCallPart, replayed: Sequence[tuple[str, bytes]]) -> bool:
    if call.arguments == {}:  # a streamed call may be recorded before its arguments have come
        return any(name == call.name for name, _ in replayed)
    return (call.name, canonical(call.arguments)) in replayed


def may_be_of(asked: frozenset[str], ids: frozenset[str]) -> bool:
    """Whether calls with these ids may be those that were asked for; items' ids and calls' own do not compare."""
    return not asked or not ids or bool(asked & ids) or _are_items(asked) != _are_items(ids)


def _are_items(ids: frozenset[str]) -> bool:
    return all(one.startswith("fc_") for one in ids)


def pending_key(operation: Operation) -> bytes | None:
    """OpenAI's Responses API has two ids a call, the item's (fc_) and the call's (call_); some telemetry holds one on
    each side, so that nothing but their order is left to pair them by.
    """
    ids = list(asked_ids(operation.output))
    if not ids or not _are_items(frozenset(ids)):
        return None
    return _program_key(operation, len(ids))


def answering_key(operation: Operation) -> bytes | None:
    """For an input that is nothing but results of such calls."""
    count = 0
    node = operation.input
    while node is not None:
        if node.message.role is not Role.SYSTEM:
            for part in node.message.parts:
                if not isinstance(part, ToolResultPart) or not (part.call_id or "").startswith("call_"):
                    return None
                count += 1
        node = node.parent
    return _program_key(operation, count) if count else None


def _program_key(operation: Operation, count: int) -> bytes:
    instance = (operation.resource or {}).get("service.instance.id", "")
    tools = sorted(tool.name for tool in operation.tool_definitions or ())
    system = operation.system_instructions or ""
    prompts = [message for message in operation.input or () if message.role is Role.SYSTEM]
    texts = [part.text for message in prompts for part in message.parts if isinstance(part, TextPart)]
    return key_of(operation.service, b"wait", "\0".join([instance, system, *texts, *tools, str(count)]))


def answered_ids(chain: Chain | None) -> Iterator[str]:
    """Tool-call ids in an input, latest first."""
    node = chain
    while node is not None:
        for part in reversed(node.message.parts):
            if isinstance(part, (ToolCallPart, ToolResultPart)) and is_id(part.call_id):
                yield part.call_id or ""
        node = node.parent


def asked_ids(output: Sequence[Message]) -> Iterator[str]:
    for message in output:
        for part in message.parts:
            if isinstance(part, ToolCallPart) and is_id(part.call_id):
                yield part.call_id or ""


def is_id(call_id: str | None) -> bool:
    return call_id is not None and len(call_id) >= MIN_CALL_ID


def key_of(service: str | None, kind: bytes, value: str | bytes) -> bytes:
    raw = value.encode("utf-8", "surrogatepass") if isinstance(value, str) else value
    name = (service or "").encode("utf-8", "surrogatepass")
    return blake2b(kind + len(name).to_bytes(4, "big") + name + raw, digest_size=16).digest()
