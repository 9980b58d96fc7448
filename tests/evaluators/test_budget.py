import pytest

from evaluators.budget import NANO, BudgetConfig, Limit, Periods, renews_in_s
from evaluators.errors import EvaluatorConfigError

DAY, MONTH = Limit("day", "usd", 20 * NANO), Limit("month", "tokens", 1_000_000)
END_OF_LEAP_FEBRUARY_NS = 1_709_251_199 * NANO  # 2024-02-29T23:59:59Z


def test_days_and_months_are_those_of_utc():
    periods = Periods.at(END_OF_LEAP_FEBRUARY_NS)

    assert (periods.of(DAY), periods.of(MONTH)) == ("2024-02-29", "2024-02")
    assert Periods.at(END_OF_LEAP_FEBRUARY_NS + NANO) == Periods("2024-03-01", "2024-03")


@pytest.mark.parametrize(
    ("limit", "now_s", "expected"),
    [
        (DAY, 1_709_251_199, 1),
        (MONTH, 1_709_251_199, 1),
        (DAY, 1_709_251_200, 86_400),
        (MONTH, 1_709_251_200, 31 * 86_400),
        (MONTH, 1_735_603_200, 86_400),  # 2024-12-31
    ],
)
def test_it_is_known_when_a_budget_renews(limit, now_s, expected):
    assert renews_in_s(limit, now_ns=now_s * NANO) == expected


def test_each_limit_that_is_set_counts():
    budget = BudgetConfig(usd_per_day=0.5, usd_per_month=10, tokens_per_day=7, tokens_per_month=8)

    assert [(limit.setting, limit.amount) for limit in budget.limits] == [
        ("judge.budget.usd_per_day", NANO // 2),
        ("judge.budget.usd_per_month", 10 * NANO),
        ("judge.budget.tokens_per_day", 7),
        ("judge.budget.tokens_per_month", 8),
    ]
    assert BudgetConfig().limits == ()


@pytest.mark.parametrize("senseless", [{"usd_per_day": 0}, {"tokens_per_month": -1}, {"wait": 1.5}])
def test_a_senseless_budget_is_refused(senseless):
    with pytest.raises(EvaluatorConfigError, match=r"judge\.budget"):
        BudgetConfig(**senseless)
