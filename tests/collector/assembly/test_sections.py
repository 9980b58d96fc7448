"""The last section of a list, found from its end, is the last of all sections."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from collector.assembly.sections import last_sections_of, sections_of
from collector.messages.digests import extend, with_digest
from collector.operation import Message, Role, TextPart, ToolResultPart

messages = st.builds(
    lambda role, text, is_result: with_digest(
        Message(role=role, parts=(ToolResultPart(text) if is_result else TextPart(text),))
    ),
    st.sampled_from(list(Role)),
    st.sampled_from(["", "hello", "order 7", "yes"]),
    st.booleans(),
)


@settings(max_examples=400, deadline=None)
@given(st.lists(messages, max_size=12))
def test_the_last_section_is_found_from_the_end(history) -> None:
    chain = extend(None, history)
    every = sections_of(chain)

    found = last_sections_of(chain)

    def shown(section):
        return section.users, section.messages, section.anchor, section.user_text

    assert [shown(section) for section in found] == [shown(section) for section in every[-1:]]
