from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exporters.echo import Echo

SENT = {
    "data": [{"span_id": "b7ad6b7169203331", "result": {"explanation": "Anna's card 4111 was charged twice."}}],
    "metadata": ("a" * 100,),
}


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("Spans with IDs b7ad6b7169203331 do not exist.", "Spans with IDs b7ad6b7169203331 do not exist."),
        ("Bad value: Anna's card 4111 was charged twice.", "Bad value: …"),
        ("Bad value: 'card 4111 was c'", "Bad value: '…'"),
        ("explanation: too long", "explanation: too long"),
        (f"key {'a' * 20} is long", "key … is long"),
        ("the key s3cret-key-1 is wrong", "the key… is wrong"),
        ("", ""),
    ],
    ids=["ids_stay", "content", "part_of_it", "names_stay", "long_text", "secret", "nothing"],
)
def test_what_was_sent_is_not_repeated(message: str, expected: str):
    assert Echo(SENT, secrets=["Bearer s3cret-key-1"]).masked(message) == expected


@given(before=st.text(max_size=20), after=st.text(max_size=20), cut=st.integers(0, 25))
def test_no_long_part_of_content_survives(before: str, after: str, cut: int):
    content = "Anna's card 4111 was charged twice."
    found = Echo(SENT).masked(before + content[cut:] + after)

    assert not any(content[start : start + 8] in found for start in range(len(content) - 7))
