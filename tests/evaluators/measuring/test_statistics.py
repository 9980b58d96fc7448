import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluators.measuring.statistics import (
    Confusion,
    confusion_of,
    corrected_share,
    quantile,
    wilson,
)

counts = st.integers(min_value=0, max_value=200)


def test_kappa_of_a_textbook_table():
    found = Confusion(caught=20, missed=5, false_alarms=10, cleared=15)

    assert found.kappa == pytest.approx(0.4)


def test_the_interval_of_kappa_is_the_delta_methods():
    """The published formula against the variance of the multinomial, carried through kappa by numeric derivatives."""
    cells = {"caught": 45, "missed": 7, "false_alarms": 4, "cleared": 44}
    n = sum(cells.values())

    def kappa(values):
        (a, b), (c, d) = values[:2], values[2:]
        expected = (a + b) * (a + c) + (c + d) * (b + d)
        return (a + d - expected) / (1 - expected)

    shares = [value / n for value in cells.values()]
    step = 1e-6
    slopes = [
        (kappa([s + step * (i == j) for j, s in enumerate(shares)]) - kappa(shares)) / step for i in range(len(shares))
    ]
    mean = sum(p * g for p, g in zip(shares, slopes, strict=True))
    variance = sum(p * g * g for p, g in zip(shares, slopes, strict=True)) - mean**2
    low, high = Confusion(**cells).kappa_interval

    assert (high - low) / 2 == pytest.approx(1.959964 * math.sqrt(variance / n), rel=1e-3)


@pytest.mark.parametrize(
    ("successes", "total", "low", "high"),
    [
        pytest.param(9, 10, 0.5958, 0.9821, id="nine of ten"),
        pytest.param(0, 20, 0.0, 0.1611, id="none of twenty"),
        pytest.param(20, 20, 0.8389, 1.0, id="all of twenty"),
        pytest.param(95, 100, 0.8882, 0.9785, id="ninety-five of a hundred"),
    ],
)
def test_wilson_intervals(successes, total, low, high):
    assert wilson(successes, total) == pytest.approx((low, high), abs=5e-5)


def test_nothing_has_no_share_and_no_interval():
    empty = Confusion(faulty_unanswered=2)

    assert (empty.sensitivity, empty.specificity, empty.kappa, empty.kappa_interval) == (None, None, None, None)
    assert wilson(0, 0) is None
    assert quantile([], 0.5) is None


def test_kappa_of_labels_without_any_variety_is_unknown():
    assert Confusion(caught=5).kappa is None
    assert Confusion(missed=3).kappa is None
    assert Confusion(cleared=3, false_alarms=2).kappa_interval is None


def test_no_interval_of_kappa_claims_to_be_certain():
    for found, kappa in ((Confusion(caught=2, cleared=2), 1.0), (Confusion(missed=2, cleared=2), 0.0)):
        assert (found.kappa, found.kappa_interval) == (kappa, None)


def test_what_has_no_answer_is_in_no_share():
    found = confusion_of([(True, True), (True, None), (False, None), (False, False), (False, True)])

    assert (found.caught, found.faulty_unanswered, found.clean_unanswered) == (1, 1, 1)
    assert (found.sensitivity, found.specificity) == (1.0, 0.5)


@given(counts, counts, counts, counts)
@settings(max_examples=100, deadline=None)
def test_kappa_and_its_interval_stay_in_their_bounds(caught, missed, false_alarms, cleared):
    found = Confusion(caught, missed, false_alarms, cleared)

    if found.kappa_interval is not None:
        low, high = found.kappa_interval
        assert -1 <= low <= found.kappa + 1e-9
        assert found.kappa - 1e-9 <= high <= 1


@given(st.floats(0, 1), st.floats(0.5, 1), st.floats(0.51, 1))
@settings(max_examples=100, deadline=None)
def test_the_corrected_share_undoes_the_judges_errors(true_share, sensitivity, specificity):
    seen = true_share * sensitivity + (1 - true_share) * (1 - specificity)

    assert corrected_share(seen, sensitivity=sensitivity, specificity=specificity) == pytest.approx(true_share)


def test_a_judge_no_better_than_chance_corrects_nothing():
    assert corrected_share(0.3, sensitivity=0.4, specificity=0.6) is None


def test_quantiles_are_values_that_occurred():
    assert [quantile([3.0, 1.0, 2.0, 4.0], share) for share in (0.0, 0.5, 0.95, 1.0)] == [1.0, 2.0, 4.0, 4.0]
