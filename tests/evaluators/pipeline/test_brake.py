from __future__ import annotations

from random import Random

from evaluators.pipeline.brake import Brake


def brake():
    return Brake(first_pause_s=10, max_pause_s=40, random=Random(1))


def refuse(found, *, times, now_s):
    found.sent(times)
    for _ in range(times):
        found.refused(now_s=now_s)
        found.ended()


def test_single_refusals_between_answers_do_not_pause():
    found = brake()
    for _ in range(10):
        refuse(found, times=2, now_s=0)
        found.sent(1)
        found.answered()
        found.ended()

    assert found.free(now_s=0, wanted=8) == 8


def test_after_refusals_in_a_row_nothing_is_sent_until_the_pause_is_over():
    found = brake()
    refuse(found, times=3, now_s=100)

    resumes_s = found.resumes_s(now_s=100)

    assert 108 <= resumes_s <= 112
    assert found.free(now_s=resumes_s - 0.1, wanted=8) == 0
    assert found.free(now_s=resumes_s, wanted=8) == 1


def test_while_a_probe_is_under_way_no_other_is_sent():
    found = brake()
    refuse(found, times=3, now_s=0)
    found.sent(1)

    assert found.free(now_s=1000, wanted=8) == 0
    assert found.resumes_s(now_s=1000) is None


def test_a_probe_that_is_refused_doubles_the_pause_up_to_its_bound():
    found = brake()
    refuse(found, times=3, now_s=0)
    pauses = []
    now_s = 0.0
    for _ in range(4):
        resumes_s = found.resumes_s(now_s=now_s)
        pauses.append(round(resumes_s - now_s, -1))
        now_s = resumes_s
        refuse(found, times=1, now_s=now_s)

    assert pauses == [10, 20, 40, 40]


def test_refusals_of_what_was_under_way_already_do_not_lengthen_the_pause():
    found = brake()
    found.sent(8)
    for _ in range(8):
        found.refused(now_s=0)
        found.ended()

    assert found.resumes_s(now_s=0) <= 12


def test_one_answer_releases_the_brake():
    found = brake()
    refuse(found, times=5, now_s=0)
    found.sent(1)
    found.answered()
    found.ended()

    assert not found.is_on
    assert found.free(now_s=0, wanted=8) == 8
