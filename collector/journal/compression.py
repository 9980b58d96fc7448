"""Decides group by group whether to compress, from what either way was measured to take.

`auto` compresses where writing a group as it is takes long enough to matter and compressing it first has been clearly
quicker, from the first byte packed to the end of the sync. An idle disk is thus never made to wait for zstd, and a
lagging one is relieved of the bytes that zstd saves, which at 1 KiB messages is most of them. The way not taken is
tried again now and then, since traffic, disk and processor change.
"""

from __future__ import annotations

import zstandard

from collector.journal.settings import Compression

_LEVEL = 1
_MIN_BODY_BYTES = 256
_MIN_GROUP_BYTES = 64 * 1024
"""What smaller groups take is the disk's latency, which compressing does not change."""
_LAG_S = 0.004
"""Below this, a group's write is nobody's bottleneck."""
_MIN_GAIN = 0.8
"""Of the time as it is; zstd costs processor time that others may want."""
_WEIGHT = 0.2
"""Of the newest measurement in each running mean."""
_PROBE_GROUPS = 64


class GroupCompression:
    """Used by the writer thread only."""

    def __init__(self, mode: Compression) -> None:
        self._mode = mode
        self._compressor = zstandard.ZstdCompressor(level=_LEVEL, write_content_size=True)
        self._plain_s_per_byte: float | None = None
        self._compressed_s_per_byte: float | None = None
        self._since_probe = 0

    def is_wanted(self, raw_bytes: int) -> bool:
        """For a group with this many bytes of bodies."""
        if self._mode != "auto":
            return self._mode == "always"
        plain = self._plain_s_per_byte
        if raw_bytes < _MIN_GROUP_BYTES or plain is None or raw_bytes * plain < _LAG_S:
            return False
        compressed = self._compressed_s_per_byte
        if compressed is None:
            return True
        is_quicker = compressed < _MIN_GAIN * plain
        self._since_probe += 1
        if self._since_probe >= _PROBE_GROUPS:
            self._since_probe = 0
            return not is_quicker
        return is_quicker

    def compress(self, body: bytes) -> bytes | None:
        """None where the body is better stored as it is."""
        if len(body) < _MIN_BODY_BYTES:
            return None
        smaller = self._compressor.compress(body)
        return smaller if len(smaller) < len(body) else None

    def observe(self, *, compressed: bool, raw_bytes: int, seconds: float) -> None:
        """What a group took, packing and sync included."""
        if raw_bytes < _MIN_GROUP_BYTES:
            return
        if compressed:
            self._compressed_s_per_byte = _mean(self._compressed_s_per_byte, seconds / raw_bytes)
        else:
            self._plain_s_per_byte = _mean(self._plain_s_per_byte, seconds / raw_bytes)


def _mean(before: float | None, now: float) -> float:
    return now if before is None else before + _WEIGHT * (now - before)
