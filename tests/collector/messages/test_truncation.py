from __future__ import annotations

import json

import pytest

from collector.messages.truncation import decode_or_mend, mend

WHOLE = {"a": [{"b": 'x"y\u00e4\n', "c": None, "d": {"e": True, "f": 1500}}, {"g": []}], "h": "z"}
TEXTS = [
    pytest.param(json.dumps(WHOLE), id="escaped"),
    pytest.param(json.dumps(WHOLE, ensure_ascii=False), id="plain"),
    pytest.param(json.dumps(WHOLE, separators=(",", ":")), id="compact"),
]


@pytest.mark.parametrize("text", TEXTS)
def test_wherever_it_was_cut_what_is_there_is_kept_and_nothing_is_added(text: str) -> None:
    for length in range(1, len(text)):
        found = mend(text[:length])

        assert found is None or is_part(found, WHOLE), text[:length]
        assert found is not None or length < text.index('"b"') + 4, text[:length]


def is_part(found: object, whole: object) -> bool:
    """The same as far as it goes; only texts may be shorter."""
    if isinstance(found, str):
        return isinstance(whole, str) and whole.startswith(found)
    if isinstance(found, list) and isinstance(whole, list):
        return all(is_part(one, other) for one, other in zip(found, whole, strict=False))
    if isinstance(found, dict) and isinstance(whole, dict):
        return all(key in whole and is_part(value, whole[key]) for key, value in found.items())
    return found == whole


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="empty"),
        pytest.param("Hello", id="no-json"),
        pytest.param('{"a": 1}', id="whole"),
        pytest.param("[1]]", id="too-many-brackets"),
        pytest.param("[}", id="brackets-that-do-not-fit"),
        pytest.param("{'printed': [", id="python"),
        pytest.param("[" * 10_000, id="too-deep"),
        pytest.param('["' + "x" * (3 << 20), id="too-long"),
    ],
)
def test_what_cannot_be_mended_is_nothing(text: str) -> None:
    assert mend(text) is None


def test_a_number_at_the_cut_may_be_half_and_is_left_out() -> None:
    assert mend('{"total": 24, "paid": 31') == {"total": 24}


def test_whole_values_are_told_from_mended_ones() -> None:
    assert decode_or_mend('"{\\"a\\": 1}"') == ({"a": 1}, False)
    assert decode_or_mend('{"a": "b') == ({"a": "b"}, True)
    assert decode_or_mend("just words") == ("just words", False)
