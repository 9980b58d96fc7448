# ruff: noqa: RUF001 - other languages have other punctuation.
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluators.quoting import find_quote

TEXT = 'Fine: **HA412** on 17 March, 120 USD in total. Shall I "make" that change?'


@pytest.mark.parametrize(
    ("quote", "text", "words"),
    [
        pytest.param("HA412 on 17 March; 120 USD in total", TEXT, "HA412** on 17 March, 120 USD in total", id="marks"),
        pytest.param("Shall I make that change.", TEXT, 'Shall I "make" that change', id="another end"),
        pytest.param("on 17 March … make that change", TEXT, 'on 17 March … make" that change', id="two pieces"),
        pytest.param("已为您，把预订延到周日", "好的。已为您把预订延到周日！", "已为您把预订延到周日", id="chinese"),
        pytest.param("ｗａｉｖｅ ｆｅｅ１２", "waive fee 12 USD", "waive fee 12", id="wide letters"),
        pytest.param("Grosse Strasse 12", "Große Straße, 12!", "Große Straße, 12", id="german"),
        pytest.param("क्या आप किसान हैं", "नमस्ते, क्या आप किसान हैं?", "क्या आप किसान हैं", id="hindi"),
        pytest.param(
            'book(guest_name="Öz", nights=-2)', 'book {"guest_name": "Öz", "nights": -2}', None, id="arguments"
        ),
    ],
)
def test_words_are_found_as_they_stand(quote, text, words):
    found = find_quote(quote, text)

    assert found is not None
    assert words is None or found == words


@pytest.mark.parametrize(
    "quote",
    [
        pytest.param("HA413 on 17 March, 120 USD", id="another number"),
        pytest.param("HA412 on 17 March, 12 USD", id="a part of a number"),
        pytest.param("on 17 March for 120 USD", id="a word more"),
        pytest.param("make that change … on 17 March", id="pieces in another order"),
        pytest.param("17 March", id="too little"),
        pytest.param("...", id="an ellipsis"),
        pytest.param("", id="nothing"),
    ],
)
def test_other_words_are_not_found(quote):
    assert find_quote(quote, TEXT) is None


@given(st.text(max_size=80), st.text(max_size=80))
@settings(max_examples=60, deadline=None)
def test_what_is_found_stands_in_the_text(quote, text):
    found = find_quote(quote, text)

    assert found is None or all(piece in text for piece in found.split(" … "))


def test_a_long_text_of_one_letter_is_read_once():
    assert find_quote("a " * 1500 + "b", "a" * 150_000) is None
