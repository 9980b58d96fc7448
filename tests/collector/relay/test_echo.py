from __future__ import annotations

import pytest

from collector.relay.echo import without_echo
from tests.support.otlp_requests import span, trace_request

SENT = trace_request(span(text="My card is 4111 1111 1111 1111, und grüße an 小雨说话轻声细语的助理。"))

CASES = {
    "nothing said": ("", ""),
    "nothing repeated": ("no such tenant", "no such tenant"),
    "repeated": ("Bad value 'card is 4111 1111 1111 1111' in span", "Bad value '…' in span"),
    "repeated twice": ("4111 1111 1111, that is 4111 1111 1111", "…that…"),
    "only that": ("4111 1111 1111 1111", "…"),
    "too short to tell": ("invalid is 41", "invalid is 41"),
    "short text": ("4111", "…"),
    "beyond ASCII": ("rejected: grüße an!", "rejected:…!"),
    "three bytes a character": ("不行小雨说话轻声细语的助理", "不行…"),
    "secret": ("unknown key k-12345678", "unknown key …"),
    "beginning of a secret": ("unknown key k-1234567*", "unknown key …*"),
    "lone surrogate": ("bad \udc80 value", "bad \udc80 value"),
}


@pytest.mark.parametrize(("text", "expected"), CASES.values(), ids=CASES)
def test_what_is_repeated_is_masked(text: str, expected: str) -> None:
    assert without_echo(text, sent=SENT, secrets=["k-12345678"]) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("no such tenant", ""),
        (
            "Received message larger than max (5242880 vs. 4194304)",
            "Received message larger than max (5242880 vs. 4194304)",
        ),
        ("Received message larger than max (5242880 vs. 4194304): Hello", ""),
    ],
    ids=["other words", "its size", "its size and more"],
)
def test_words_about_a_large_request_are_left_out_unless_they_are_about_its_size(text: str, expected: str) -> None:
    assert without_echo(text, sent=bytes(2 << 20), secrets=[]) == expected
