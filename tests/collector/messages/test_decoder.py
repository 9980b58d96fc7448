from __future__ import annotations

import json
from typing import Any

import pytest

from collector.messages.decoder import MessageDecoder
from collector.model import GapKind
from collector.operation import Role, TextPart, ToolResultPart


def history(turns: int) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = [{"role": "system", "content": "Be brief."}]
    for turn in range(turns):
        found += [{"role": "user", "content": f"question {turn}"}, {"role": "assistant", "content": f"answer {turn}"}]
    return found


@pytest.mark.parametrize("turns", [20, 400])
@pytest.mark.parametrize("spaced", [True, False], ids=["spaces", "compact"])
def test_each_message_of_a_replayed_history_is_decoded_once(turns: int, *, spaced: bool) -> None:
    decoder = MessageDecoder()
    separators = (", ", ": ") if spaced else (",", ":")
    messages = history(turns)

    for turn in range(turns):
        decoder.read(json.dumps(messages[: 2 + 2 * turn], separators=separators))
        decoder.read(json.dumps([messages[2 + 2 * turn]], separators=separators), default=Role.ASSISTANT)

    assert decoder.decoded == 1 + 2 * turns


def test_lists_out_of_order_are_decoded_once_as_well() -> None:
    decoder = MessageDecoder()
    messages = history(50)

    for length in (101, 3, 51, 100, 2, 101):
        decoder.read(json.dumps(messages[:length]))

    assert decoder.decoded == 101


def test_equal_lists_are_one_chain() -> None:
    decoder = MessageDecoder()
    messages = history(3)

    whole = decoder.read(json.dumps(messages)).chain
    longer = decoder.read(json.dumps([*messages, {"role": "user", "content": "more"}])).chain

    assert longer is not None
    assert longer.parent is whole


def test_structured_values_and_json_text_are_the_same_list() -> None:
    messages = history(2)

    structured = MessageDecoder().read(messages)
    text = MessageDecoder().read(json.dumps(messages))
    twice = MessageDecoder().read(json.dumps(json.dumps(messages)))

    assert structured.chain == text.chain == twice.chain


def test_a_small_memory_costs_time_only() -> None:
    messages = history(30)
    small = MessageDecoder(max_bytes=4_000)

    for length in range(1, len(messages) + 1):
        found = small.read(json.dumps(messages[:length]))

    assert found.chain == MessageDecoder().read(json.dumps(messages)).chain


@pytest.mark.parametrize("cut", [3, 20, 45])
def test_a_list_cut_at_its_end_gives_what_is_there_and_a_gap(cut: int) -> None:
    text = json.dumps(history(2))[:-cut]

    found = MessageDecoder().read(text)

    assert found.messages[0].parts == (TextPart("Be brief."),)
    assert found.messages[-1].gaps == (GapKind.TRUNCATED,)
    assert all(message.gaps == () for message in found.messages[:-1])


@pytest.mark.parametrize("value", ["[1, 2", '[{"role": }]', "[nope]", "{{{{"])
def test_what_cannot_be_read_is_a_gap(value: str) -> None:
    found = MessageDecoder().read(value)

    assert found.chain is None
    assert found.gaps == (GapKind.UNDECODABLE,)


@pytest.mark.parametrize("value", [None, "", "[]", [], {}, "   "])
def test_nothing_is_no_gap(value: object) -> None:
    found = MessageDecoder().read(value)

    assert found.chain is None
    assert found.gaps == ()


def test_a_streamed_answer_replayed_in_pieces_is_the_same_list() -> None:
    decoder = MessageDecoder()
    whole = [{"role": "user", "content": "Why?"}, {"role": "assistant", "content": "Light is scattered."}]
    pieces = [whole[0], *({"role": "assistant", "content": piece} for piece in ("Light is", " scat", "tered."))]

    one, two = decoder.read(whole).chain, decoder.read(pieces).chain

    assert one is not None
    assert two is not None
    assert one.digest == two.digest


@pytest.mark.parametrize("escape", ["\\ud83d", "\\uDE00", "\\ud83d\\ud83d"], ids=["high", "low", "two"])
def test_half_a_character_costs_itself_and_no_more(escape: str) -> None:
    text = (
        f'[{{"role": "user", "content": "Hi {escape}"}}, {{"role": "assistant", "content": "A smile \\ud83d\\ude00"}}]'
    )

    found = MessageDecoder().read(text)

    first, second = [message.parts for message in found.messages]
    assert first[0].text.startswith("Hi \ufffd")
    assert second == (TextPart("A smile \U0001f600"),)
    assert found.gaps == ()


def test_numbers_that_json_does_not_have_cost_themselves_and_no_more() -> None:
    told = '{"high": NaN, "low": -Infinity, "note": "NaN or Infinity"}'
    text = f'[{{"role": "tool", "tool_call_id": "c-1", "content": {told}}}]'

    found = MessageDecoder().read(text)

    (message,) = found.messages
    assert message.parts == (
        ToolResultPart({"high": "NaN", "low": "-Infinity", "note": "NaN or Infinity"}, call_id="c-1"),
    )
    assert found.gaps == ()
