from __future__ import annotations

import json
from typing import Any

import pytest

from collector.messages.bodies import read_request, read_response
from collector.messages.decoder import MessageDecoder

MESSAGES = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]


@pytest.mark.parametrize(
    "body",
    [
        {"messages": MESSAGES, "model": "m-1"},
        {"messages": [MESSAGES], "model": "m-1"},
        {"agent": {"messages": MESSAGES, "model": "m-1"}, "callback": None},
        {"args": [{"messages": MESSAGES, "model": "m-1"}], "kwargs": {}},
    ],
    ids=["plain", "batch-of-one", "under-a-name", "a-python-call"],
)
def test_a_message_list_is_taken_out_of_its_body_and_what_is_beside_it_is_kept(body: dict[str, Any]) -> None:
    found = read_request(json.dumps(body), MessageDecoder())

    assert [message.role.value for message in found.messages] == ["user", "assistant"]
    assert found.rest == {"model": "m-1"}  # a list that was decoded with its body would be here as well


def test_a_replayed_body_decodes_what_is_new_only() -> None:
    decoder = MessageDecoder()
    history: list[dict[str, str]] = []

    for number in range(100):
        history += [{"role": "user", "content": f"Q{number}"}, {"role": "assistant", "content": f"A{number}"}]
        read_request(json.dumps({"messages": history, "tools": []}), decoder)

    assert decoder.decoded == len(history)


def test_of_several_names_for_what_was_said_each_is_read() -> None:
    for name in ("messages", "output", "replies"):
        found = read_response(json.dumps({name: MESSAGES[1:], "meta": {}}), MessageDecoder())

        assert [message.role.value for message in found.messages] == ["assistant"]
