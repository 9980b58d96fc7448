"""Values in the forms in which people and tools write them."""
# ruff: noqa: RUF001 - other languages have other punctuation and signs.

from __future__ import annotations

import pytest

from evaluators.rules.mentions import Book, Reading


def holds(value, *texts):
    return Book(map(Reading, texts)).holds(value)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("B-2040", "bestellung b 2040"),
        ("B2040", "Ｂ２０４０ bitte"),
        ("Anna@example.com", "ANNA@EXAMPLE.COM"),
        ("window_seat", "A window seat, please"),
        ("4111111111111111", "4111 1111 1111 1111"),
        ("12 Main St\nBerlin", "12 Main St, Berlin"),
        (["B-1", "B-2"], "B-1 and B-2"),
        ({"order": '{"id": "B-2040"}'}, "order B-2040"),
        (True, "anything"),
        ("---", "anything"),
    ],
    ids=str,
)
def test_texts_are_found_whatever_their_case_width_and_punctuation(value, text):
    assert holds(value, text) is True


@pytest.mark.parametrize(
    ("value", "text"),
    [
        pytest.param("B-20", "order B-2040", id="the beginning of an id"),
        pytest.param("2040", "order 12040", id="the end of a number"),
        pytest.param(5, "in 2025", id="a digit of a year"),
        pytest.param("1234", "order 12, 34 items", id="two numbers"),
        pytest.param("1234", "order 12\n34 items", id="two lines"),
        pytest.param("B-2041", "order B-2040", id="another id"),
        pytest.param(25.9, "24.90", id="another amount"),
        pytest.param(["B-1", "C-1"], "B-1", id="one of two"),
        pytest.param("+4915112345679", "0151 1234 5678", id="another telephone"),
        pytest.param("77001234567", "number 1234567", id="an id that ends like another one"),
    ],
)
def test_a_part_of_a_value_is_not_the_value(value, text):
    assert holds(value, text) is False


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (24.9, "24,90 €"),
        ("24.90", "24.9"),
        (1200, "$1,200"),
        (1234.5, "CHF 1'234.50"),
        (1234567, "12,34,567 rupees"),
        (2490, "24.90 EUR"),
        (-5, "minus 5"),
        (25, "٢٥ من فضلك"),
        (5000, "up to 5k"),
        (2_500_000, "2.5 million"),
        (50_000, "5万元"),
        (0.15, "15 % off"),
        (2, "a table for two"),
        (3, "drei Karten"),
        (2, "两张票"),
        (1, "a ticket"),
    ],
    ids=str,
)
def test_numbers_are_found_by_their_value(value, text):
    assert holds(value, text) is True


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("+14155550132", "(415) 555-0132"),
        ("+4915112345678", "0151 1234 5678"),
        ("004915112345678", "+49 151 12345678"),
        ("0151 12345678", "+49-151-12345678"),
    ],
)
def test_telephone_numbers_are_found_without_the_code_of_the_country(value, text):
    assert holds(value, text) is True


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("2026-03-05", "2026-3-5"),
        ("2026-03-05", "on March 5th, 2026"),
        ("2026-03-05", "5 March"),
        ("2026-03-05", "am 5. März 2026"),
        ("2026-03-05", "el 5 de marzo de 2026"),
        ("2026-03-05", "5 марта"),
        ("2026-03-05", "am 05.03.2026"),
        ("2026-03-05", "am 5.3. bitte"),
        ("2026-03-05", "on 3/5/26"),
        ("2026-03-05", "3月5日"),
        ("2026-03-05", "2026年3月5日"),
        ("05/03/2026", "2026-03-05"),
        ("2026-03-05T20:00:00", "2026-03-05 20:00"),
        ("2026-03-05T20:00", "Thursday March 5 at 8pm"),
        ("2026-03-05T00:00:00Z", "March 5"),
        ("20:00", "at 8 p.m."),
        ("20:00", "um 20 Uhr"),
        ("08:30", "half past, 8:30 am"),
        ("20:00", "晚上8点"),
    ],
)
def test_dates_and_times_are_found_as_people_write_them(value, text):
    assert holds(value, text) is True


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("2026-03-06", "tomorrow"),
        ("2026-03-06", "March 5"),
        ("2026-03-06", "am 6.3.2025"),
        ("2026-05-12", "for 12.5 EUR"),
        ("2026-03-05T21:00", "March 5 at 8 pm"),
        ("20:00", "at 8 am"),
        ("20:00", "in the evening"),
        ("2026-03", "next month"),
        ("2026-W10", "next week"),
        (["2026-03-06", "B-2040"], "B-2040, tomorrow"),
    ],
    ids=str,
)
def test_a_date_or_time_that_stands_nowhere_may_have_been_worked_out(value, text):
    assert holds(value, text) is None


def test_what_is_made_up_beside_a_date_is_made_up():
    assert holds(["2026-03-06", "B-2041"], "B-2040, tomorrow") is False


def test_only_the_first_texts_count_where_that_is_asked():
    book = Book(map(Reading, ["order B-1", "order B-2", "12.50", "March 5", "+49 151 12345678"]))

    assert [book.holds("B-2", first=count) for count in (1, 2)] == [False, True]
    assert [book.holds(12.5, first=count) for count in (2, 3)] == [False, True]
    assert [book.holds("2026-03-05", first=count) for count in (3, 4)] == [None, True]
    assert [book.holds("015112345678", first=count) for count in (4, 5)] == [False, True]
    assert Book().holds("B-1") is False


@pytest.mark.parametrize(
    "text", ["1" * 100_000, "1." * 50_000, "0151 1234567 " * 8000], ids=["digits", "points", "phones"]
)
@pytest.mark.parametrize("value", [1111, "11", "+49151999999999"])
def test_a_text_of_nothing_but_numbers_is_read_in_bounded_time(text, value):
    """Any of these once took minutes, and would hang here."""
    assert holds(value, text) in (True, False)


def test_many_values_are_looked_for_in_such_a_text_in_bounded_time():
    """Each once read the whole text anew, for half a minute in all."""
    book = Book([Reading("1k " * 66_000)])

    assert [book.holds(value) for value in (1000, *range(5000, 5150))] == [True] + [False] * 150
