from __future__ import annotations

import pytest

from collector.messages.values import MAX_DEPTH, TOO_DEEP, as_int, canonical, decode, object_or_text, plain, text_of


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        pytest.param('{"a": 1}', {"a": 1}, id="json"),
        pytest.param('"{\\"a\\": 1}"', {"a": 1}, id="json-in-json"),
        pytest.param('"\\"[1]\\""', [1], id="twice"),
        pytest.param("1001", "1001", id="a-number-stays-a-text"),
        pytest.param("{not json", "{not json", id="no-json"),
        pytest.param({"a": 1}, {"a": 1}, id="structured"),
        pytest.param(None, None, id="absent"),
        pytest.param(b'{"a": 1}', {"a": 1}, id="bytes"),
    ],
)
def test_decode_undoes_every_encoding(value: object, expected: object) -> None:
    assert decode(value) == expected


def test_equal_values_have_equal_canonical_bytes() -> None:
    assert canonical('{"b": 1, "a": [2]}') == canonical({"a": [2], "b": 1})
    assert canonical("two  words") == canonical("two words")


def test_plain_bounds_depth() -> None:
    deep: object = "bottom"
    for _ in range(500):
        deep = [deep]

    copied = plain(deep)

    for _ in range(MAX_DEPTH):
        assert isinstance(copied, list)
        copied = copied[0]
    assert copied == TOO_DEEP


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        pytest.param([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}], "a\nb", id="blocks"),
        pytest.param([{"type": "text", "content": "a"}], "a", id="parts"),
        pytest.param({"n": 1}, '{"n":1}', id="object"),
        pytest.param(None, "", id="absent"),
    ],
)
def test_text_is_what_a_person_would_read(value: object, expected: str) -> None:
    assert text_of(value) == expected


def test_arguments_that_are_no_object_stay_a_text() -> None:
    assert object_or_text("B-2040") == "B-2040"
    assert object_or_text('{"id": "B-2040"}') == {"id": "B-2040"}


@pytest.mark.parametrize(
    ("value", "expected"), [("12", 12), (12.0, 12), (True, None), ("x", None), (float("inf"), None)]
)
def test_integers_come_in_many_types(value: object, expected: int | None) -> None:
    assert as_int(value) == expected
