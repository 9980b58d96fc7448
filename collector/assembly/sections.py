"""Message lists cut at what the user said: which of their messages belong to which turn.

Several user messages in a row are one input. System messages belong to no turn.
"""

from __future__ import annotations

from collections.abc import Iterable

from collector.assembly.said import is_cut, is_human, text_in
from collector.operation import Chain, Message, Operation, Role


class Section:
    """One turn within a message list: what the user said, and everything after it up to the next user message."""

    __slots__ = ("anchor", "nodes", "users")

    def __init__(self) -> None:
        self.users: list[Message] = []
        self.nodes: list[Chain] = []
        """The list's ends at each message after the user's."""
        self.anchor = b""
        """Digest of the list up to and with the user's message: the same turn wherever the list is replayed."""

    @property
    def messages(self) -> list[Message]:
        return [node.message for node in self.nodes]

    @property
    def user_text(self) -> str | None:
        return "\n\n".join(text for message in self.users if (text := text_in(message))) or None


def sections_of(chain: Chain | None, *, stop: Iterable[bytes] = ()) -> list[Section]:
    """The list cut at its user messages, first first. Messages before any user message are left out.

    `stop` are anchors already known: of the turns before one of them nothing is looked at again.
    """
    known = frozenset(stop)
    nodes: list[Chain] = []
    node = chain
    while node is not None:
        nodes.append(node)
        if node.digest in known and is_human(node.message):
            # The run of user messages goes on to the left of its anchor's last message.
            node = node.parent
            while node is not None and is_human(node.message):
                nodes.append(node)
                node = node.parent
            break
        node = node.parent
    sections: list[Section] = []
    for node in reversed(nodes):
        message = node.message
        if message.role is Role.SYSTEM:
            continue
        if is_human(message):
            if not sections or sections[-1].nodes:
                sections.append(Section())
            sections[-1].users.append(message)
            sections[-1].anchor = node.digest
        elif sections:
            sections[-1].nodes.append(node)
    return sections


def last_sections_of(chain: Chain | None) -> list[Section]:
    """The last of `sections_of`, if there is one, without walking over what is before it."""
    after: list[Chain] = []
    users: list[Chain] = []
    node = chain
    while node is not None:
        if node.message.role is not Role.SYSTEM:
            if is_human(node.message):
                users.append(node)
            elif users:
                break
            else:
                after.append(node)
        node = node.parent
    if not users:
        return []
    last = Section()
    last.users = [user.message for user in reversed(users)]
    last.nodes = after[::-1]
    last.anchor = users[0].digest
    return [last]


def asked_in(operation: Operation) -> list[Section]:
    """The input's last section; none where it was cut in what may be an earlier turn: the latest words are unknown."""
    if not is_cut(operation):
        return last_sections_of(operation.input)
    sections = sections_of(operation.input)
    return [] if len(sections) > 1 or any(s.messages for s in sections) else sections


def user_input_of(chain: Chain | None) -> str | None:
    """The user's words that end the list: its last run of user messages."""
    sections = last_sections_of(chain)
    return sections[-1].user_text if sections else None


def tail_of(chain: Chain | None) -> list[Chain]:
    """The list's end at each message after the last human one; at all but system messages where there is none."""
    found: list[Chain] = []
    node = chain
    while node is not None and not is_human(node.message):
        if node.message.role is not Role.SYSTEM:
            found.append(node)
        node = node.parent
    return list(reversed(found))


def has_human(chain: Chain | None) -> bool:
    node = chain
    while node is not None:
        if is_human(node.message):
            return True
        node = node.parent
    return False


def has_history(chain: Chain | None) -> bool:
    """Whether anything was said before the user's last words."""
    node = chain
    while node is not None and not is_human(node.message):
        node = node.parent
    while node is not None and (is_human(node.message) or node.message.role is Role.SYSTEM):
        node = node.parent
    return node is not None
