from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from collector.messages.decoder import MessageDecoder
from collector.messages.reprs import decode_repr, is_printed_object


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("{'a': 1, 'b': None}", {"a": 1, "b": None}, id="dict"),
        pytest.param("[('x', True), {1, 2}]", [["x", True], [1, 2]], id="containers"),
        pytest.param(
            "Msg(role=<Role.USER: 'user'>, text='it\\'s \"so\"')",
            {"__class__": "Msg", "role": "user", "text": 'it\'s "so"'},
            id="object",
        ),
        pytest.param(
            "Outer(_inner=pkg.Inner(x=1.5))",
            {"__class__": "Outer", "inner": {"__class__": "Inner", "x": 1.5}},
            id="nested",
        ),
        pytest.param("[<function f at 0x7f>]", ["<function f at 0x7f>"], id="opaque"),
        pytest.param("OrderedDict([('a', 1)])", [["a", 1]], id="positional"),
        pytest.param("{'t': 'a\\nb\\u00e4\\x41' 'c'}", {"t": "a\nbäAc"}, id="escapes"),
    ],
)
def test_printed_values_are_read(text: str, expected: object) -> None:
    assert decode_repr(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("Hello (world)", id="prose"),
        pytest.param("Msg(text='cut", id="cut"),
        pytest.param("[" * 5_000, id="deep"),
        pytest.param("__import__('os').system('x')", id="code"),
        pytest.param("{'a': 1} and more", id="trailing"),
        pytest.param("", id="empty"),
    ],
)
def test_anything_else_is_none(text: str) -> None:
    assert decode_repr(text) is None


def test_prose_is_no_printed_object() -> None:
    assert not is_printed_object("Order (A-1) is fine")
    assert is_printed_object("StopEvent(result=AgentOutput(response=Chat")


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("{'messages': [Msg(text='a ) [ \\' b'), Msg(text=\"it's\", parts=[Part(n=1)])]}", id="messages"),
        pytest.param("[Id('a'), Id('b'), 3, name, Empty()]", id="no-objects"),
        pytest.param(
            "[Msg(f=<function <lambda> at 0x7f>), Msg(g=<bound method A.b of <A object at 0x8>>)]", id="opaque"
        ),
        pytest.param("[Msg(text='cut', Msg(", id="cut"),
        pytest.param("[Msg(a=1) Msg(b=2)]", id="no-comma"),
        pytest.param("[Msg(a=1), Msg(b=)]", id="broken-object"),
    ],
)
def test_remembering_objects_changes_nothing_of_what_is_read(text: str) -> None:
    decoder = MessageDecoder()

    assert decode_repr(text, once=decoder.once) == decode_repr(text)
    assert decode_repr(text, once=decoder.once) == decode_repr(text)


def test_a_replayed_object_is_parsed_once() -> None:
    parsed: list[object] = []
    known: dict[object, object] = {}

    def once(read: Callable[[object], Any], text: object) -> Any:
        if text not in known:
            parsed.append(text)
            known[text] = read(text)
        return known[text]

    for count in range(1, 6):
        decode_repr(f"{{'messages': [{', '.join(f'Msg(n={n})' for n in range(count))}]}}", once=once)

    assert parsed == [f"Msg(n={n})" for n in range(5)]
