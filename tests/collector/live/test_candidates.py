"""Items that may hold GenAI telemetry are told by their bytes, none of them missed."""

from __future__ import annotations

import random

import pytest

from collector.dialects.registry import is_candidate, markers
from collector.live.candidates import CandidateFilter


@pytest.mark.parametrize("seed", range(20))
def test_it_says_what_looking_for_every_marker_in_every_item_says(seed):
    rng = random.Random(seed)
    known = markers()
    filtered = CandidateFilter(known)
    for _ in range(20):
        items = []
        for _ in range(rng.randint(0, 30)):
            item = rng.randbytes(rng.randint(0, 60))
            if rng.random() < 0.2:
                item += rng.choice(known) + rng.randbytes(5)
            items.append(item)

        assert filtered.flags(items) == [is_candidate(item, known) for item in items]


def test_a_marker_cut_over_two_items_is_none():
    assert CandidateFilter([b"gen_ai."]).flags([b"..gen_", b"ai..."]) == [False, False]


def test_without_markers_nothing_is_of_interest():
    assert CandidateFilter([]).flags([b"anything"]) == [False]
