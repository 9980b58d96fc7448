from __future__ import annotations

import pytest

from collector.messages.stack_traces import without_stack

STACK = 'Traceback (most recent call last):\n  File "a.py", line 1, in run\n    go()\n'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("No such parcel.", "No such parcel."),
        ("line one\nline two", "line one\nline two"),
        (f"{STACK}shop.NoParcel: P-9 is unknown", "shop.NoParcel: P-9 is unknown"),
        (f"{STACK}shop.NoParcel: P-9 is unknown\nask the depot", "shop.NoParcel: P-9 is unknown\nask the depot"),
        (f"NoParcel('P-9 is unknown'){STACK}shop.NoParcel: P-9 is unknown", "NoParcel('P-9 is unknown')"),
        (f"{STACK}KeyError: 'a'\n\nDuring it:\n\n{STACK}NoParcel: P-9", "NoParcel: P-9"),
        ("Error: P-9\n    at find (shop.js:1:2)\n    at run (a.js:3:4)", "Error: P-9"),
        ("java.lang.IllegalState: P-9\n\tat shop.Find.run(Find.java:7)", "java.lang.IllegalState: P-9"),
        ("P-9\n\nError: P-9\n    at find (shop.js:1:2)", "P-9\n\nError: P-9"),
        ("Arrives\nat noon", "Arrives\nat noon"),
        (STACK, ""),
        ("", ""),
    ],
    ids=[
        "plain", "lines", "python", "python-message-of-two-lines", "message-first", "python-chained", "javascript",
        "java", "message-then-javascript", "words-that-begin-like-a-frame", "stack-only", "empty",
    ],
)  # fmt: skip
def test_the_message_is_kept_and_the_stack_is_not(text: str, message: str) -> None:
    assert without_stack(text) == message
