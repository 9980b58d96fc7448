from __future__ import annotations

import pytest

from exporters.text import clean_line, clean_text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain", "plain"),
        ("你好 海盗\nline\ttab", "你好 海盗\nline\ttab"),
        ("\x1b[31mred\x1b[0m", "[31mred[0m"),
        ("\x9b2Jgone", "2Jgone"),
        ("\x1b]8;;http://evil\x07link", "]8;;http://evillink"),
        ("bell\x07 null\x00 del\x7f", "bell null del"),
        ("\r\nwindows\rmac\u2028sep\x0bvt", "\nwindows\nmac\nsep\nvt"),
        ("abc\u202edcba\u2066x", "abcdcbax"),
        ("seen\U000e0041\U000e0042", "seen"),
        ("half \ud800 pair", "half \ufffd pair"),
        ("family 👨‍👩‍👧 stays", "family 👨‍👩‍👧 stays"),
    ],
    ids=[
        "plain",
        "other_scripts",
        "ansi_colour",
        "c1_control",
        "hyperlink",
        "other_controls",
        "line_breaks",
        "bidi",
        "tags",
        "surrogate",
        "joiners",
    ],
)
def test_text_is_made_harmless(text: str, expected: str):
    assert clean_text(text, max_chars=1000) == expected


@pytest.mark.parametrize("size", [101, 5000])
def test_a_cut_is_visible_and_within_the_bound(size: int):
    cut = clean_text("x" * size, max_chars=100)

    assert len(cut) == 100
    assert cut.endswith(f"… [cut: {size} characters in all]")


def test_text_at_the_bound_is_whole():
    assert clean_text("x" * 100, max_chars=100) == "x" * 100


def test_a_bound_without_room_for_the_note_is_kept_all_the_same():
    assert clean_text("x" * 100, max_chars=5) == "xxxxx"


def test_a_line_is_one_line():
    assert clean_line(" a\r\n\x1b[1m b\tc ", max_chars=50) == "a [1m b c"
