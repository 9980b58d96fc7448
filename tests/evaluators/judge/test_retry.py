from itertools import pairwise
from random import Random

import pytest

from evaluators.judge.retry import delay_s, retry_after_s

NOW_NS = 1_800_000_000_000_000_000  # 2027-01-15T08:00:00Z


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        pytest.param({}, None, id="absent"),
        pytest.param({"retry-after": "3"}, 3.0, id="seconds"),
        pytest.param({"retry-after": "0.5"}, 0.5, id="fraction"),
        pytest.param({"retry-after-ms": "250", "retry-after": "9"}, 0.25, id="milliseconds win"),
        pytest.param({"retry-after": "Fri, 15 Jan 2027 08:00:30 GMT"}, 30.0, id="date"),
        pytest.param({"retry-after": "Fri, 15 Jan 2027 07:00:00 GMT"}, 0.0, id="date in the past"),
        pytest.param({"retry-after": "soon"}, None, id="a word"),
        pytest.param({"retry-after": "-5"}, None, id="negative"),
        pytest.param({"retry-after": "nan"}, None, id="no number"),
        pytest.param({"retry-after": "inf"}, None, id="infinite"),
        pytest.param({"retry-after": "Fri, 99 Jan 2027 08:00:30 GMT"}, None, id="no date"),
    ],
)
def test_retry_after_is_read_in_all_its_forms(headers, expected):
    assert retry_after_s(headers, now_ns=NOW_NS) == expected


def test_a_providers_wait_is_kept_and_spread_upwards():
    waits = [delay_s(0, retry_after_s=10, random=Random(seed)) for seed in range(100)]

    assert all(10 <= wait <= 11 for wait in waits)
    assert len(set(waits)) == 100


def test_back_off_grows_to_a_ceiling_and_is_spread():
    waits = [[delay_s(attempt, retry_after_s=None, random=Random(seed)) for seed in range(50)] for attempt in range(9)]

    assert all(0.25 <= wait <= 0.5 for wait in waits[0])
    assert all(max(later) > max(earlier) for earlier, later in pairwise(waits[:6]))
    assert all(10 <= wait <= 20 for wait in waits[8])


def test_any_attempt_number_has_a_delay():
    assert delay_s(10_000, retry_after_s=None, random=Random(1)) <= 20
