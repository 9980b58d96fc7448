from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluators.rubric.model import Answer, Combine, Criterion, Rubric
from evaluators.rubric.score import Tally, rating_of, score_of

ANSWERS = ("yes", "no", "not_applicable", "cannot_assess")


def scored(*answers, combine: Combine = "all", weights=None, required=()):
    """One tuple of answers (or a single answer) a criterion."""
    criteria = tuple(
        Criterion(f"c{i}", "x", weight=(weights or [1.0] * len(answers))[i], required=i in required)
        for i in range(len(answers))
    )
    rubric = Rubric(None, criteria, combine=combine)
    tallies = [
        Tally(criterion, (given,) if isinstance(given, str) else given)
        for criterion, given in zip(criteria, answers, strict=True)
    ]
    return score_of(rubric, tallies)


@pytest.mark.parametrize(
    ("answers", "options", "score"),
    [
        (("yes", "yes"), {}, 1.0),
        (("yes", "no"), {}, 0.0),
        (("yes", "not_applicable"), {}, 1.0),
        (("not_applicable", "not_applicable"), {}, None),
        (("yes", "cannot_assess"), {}, 1.0),
        (("yes", "cannot_assess", "cannot_assess"), {}, None),
        (("no", "cannot_assess", "cannot_assess"), {}, 0.0),
        (("yes", "no"), {"combine": "mean"}, 0.5),
        (("yes", "no"), {"combine": "mean", "weights": [3.0, 1.0]}, 0.75),
        (("yes", "no", "not_applicable"), {"combine": "mean"}, 0.5),
        (("yes", "no", "cannot_assess"), {"combine": "mean"}, 0.5),
        (("no", "cannot_assess", "cannot_assess"), {"combine": "mean"}, None),
        (("yes", "no"), {"combine": "mean", "required": {1}}, 0.0),
        (("yes", "no"), {"combine": "mean", "required": {0}}, 0.5),
        ((("yes", "no", "not_applicable"), ("yes", "yes", "no")), {"combine": "min"}, 0.5),
        ((("yes", "no"), ("yes", "yes")), {"combine": "mean"}, 0.75),
        ((("yes", "no"), ("yes", "yes")), {}, 0.0),
    ],
    ids=str,
)
def test_the_score_follows_from_the_answers(answers, options, score):
    assert scored(*answers, **options).score == score


def test_what_is_broken_is_named():
    assert scored("yes", "no", ("yes", "no"), "cannot_assess", combine="mean").broken == ("c1", "c2")


@pytest.mark.parametrize(
    ("score", "rating"), [(0.0, 1), (0.25, 2), (0.5, 3), (0.75, 4), (1.0, 5), (0.12, 1), (0.13, 2), (0.99, 5)]
)
def test_a_rating_is_the_score_on_five_steps(score, rating):
    assert rating_of(score) == rating


@given(
    st.lists(st.lists(st.sampled_from(ANSWERS), min_size=1, max_size=4).map(tuple), min_size=1, max_size=6),
    st.sampled_from(["all", "mean", "min"]),
)
def test_a_score_is_a_share_and_one_more_yes_never_lowers_it(answers: list[tuple[Answer, ...]], combine: Combine):
    result = scored(*answers, combine=combine)

    assert result.score is None or 0 <= result.score <= 1
    for index, answered in enumerate(answers):
        if "no" in answered:
            better = list(answered)
            better[better.index("no")] = "yes"
            improved = scored(*[tuple(better) if i == index else one for i, one in enumerate(answers)], combine=combine)
            assert result.score is None or improved.score is None or improved.score >= result.score
