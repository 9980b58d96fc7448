"""When groups are compressed."""

from __future__ import annotations

import pytest

from collector.journal.compression import GroupCompression

GROUP_BYTES = 1_000_000


def auto(*, plain_s: float | None = None, compressed_s: float | None = None) -> GroupCompression:
    """That has measured a group of the usual size each way."""
    compression = GroupCompression("auto")
    if plain_s is not None:
        compression.observe(compressed=False, raw_bytes=GROUP_BYTES, seconds=plain_s)
    if compressed_s is not None:
        compression.observe(compressed=True, raw_bytes=GROUP_BYTES, seconds=compressed_s)
    return compression


@pytest.mark.parametrize(
    ("compression", "wanted"),
    [
        (GroupCompression("always"), True),
        (GroupCompression("never"), False),
        (auto(), False),
        (auto(plain_s=0.003), False),
        (auto(plain_s=0.010), True),
        (auto(plain_s=0.010, compressed_s=0.005), True),
        (auto(plain_s=0.010, compressed_s=0.009), False),
        (auto(plain_s=0.010, compressed_s=0.030), False),
        (auto(plain_s=0.003, compressed_s=0.001), False),
    ],
    ids=[
        "always",
        "never",
        "nothing measured",
        "quick disk",
        "lagging disk, zstd not tried",
        "zstd quicker",
        "zstd hardly quicker",
        "zstd slower",
        "nobody waits",
    ],
)
def test_a_group_is_compressed_where_that_is_quicker_than_a_lagging_disk(compression, wanted):
    assert compression.is_wanted(GROUP_BYTES) is wanted


def test_small_groups_are_neither_compressed_nor_measured():
    compression = auto(plain_s=0.010, compressed_s=0.001)

    compression.observe(compressed=True, raw_bytes=1000, seconds=5.0)

    assert not compression.is_wanted(1000)
    assert compression.is_wanted(GROUP_BYTES)


@pytest.mark.parametrize("compressed_s", [0.001, 0.030])
def test_the_other_way_is_tried_now_and_then(compressed_s):
    compression = auto(plain_s=0.010, compressed_s=compressed_s)

    choices = [compression.is_wanted(GROUP_BYTES) for _ in range(128)]

    usual = compressed_s < 0.010
    assert choices.count(not usual) == 2


def test_a_change_of_the_disk_changes_the_choice():
    compression = auto(plain_s=0.010, compressed_s=0.005)

    for _ in range(20):
        compression.observe(compressed=False, raw_bytes=GROUP_BYTES, seconds=0.0045)

    assert not compression.is_wanted(GROUP_BYTES)


@pytest.mark.parametrize(
    ("body", "smaller"),
    [(b"a" * 255, False), (b"a" * 256, True), (bytes(range(256)), False)],
    ids=["short", "text", "noise"],
)
def test_a_body_that_zstd_does_not_help_is_stored_as_it_is(body, smaller):
    assert (GroupCompression("always").compress(body) is not None) is smaller
