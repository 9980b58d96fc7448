"""Decides group by group whether to compress, from what the disk and zstd were measured to do.

`auto` compresses a group when writing it as it is would take long enough to matter, and compressing it first is
quicker. An idle disk is thus never made to wait for zstd, and a lagging one is relieved of the bytes that zstd
saves (at 1 KiB messages most of them). Nothing is decided before both have been measured once.
"""

from __future__ import annotations

import zstandard

from collector.journal.settings import Compression

_LEVEL = 1
_MIN_BODY_BYTES = 256
_MIN_GROUP_BYTES = 64 * 1024
_LAG_S = 0.004
"""Below this, a group's write is nobody's bottleneck."""
_WEIGHT = 0.2
"""Of the newest measurement in each running mean."""
_PROBE_GROUPS = 64
"""Measure the ratio anew at least this often while the disk lags; traffic changes."""


class GroupCompression:
    """Used by the writer thread only."""

    def __init__(self, mode: Compression) -> None:
        self._mode = mode
        self._compressor = zstandard.ZstdCompressor(level=_LEVEL, write_content_size=True)
        self._disk_s_per_byte: float | None = None
        self._zstd_s_per_byte: float | None = None
        self._ratio: float | None = None
        self._since_probe = 0

    def is_wanted(self, raw_bytes: int) -> bool:
        """For a group with this many bytes of bodies."""
        if self._mode != "auto":
            return self._mode == "always"
        if raw_bytes < _MIN_GROUP_BYTES or self._disk_s_per_byte is None:
            return False
        plain_s = raw_bytes * self._disk_s_per_byte
        if plain_s < _LAG_S:
            return False
        self._since_probe += 1
        if self._zstd_s_per_byte is None or self._ratio is None or self._since_probe >= _PROBE_GROUPS:
            return True
        compressed_s = raw_bytes * (self._zstd_s_per_byte + self._disk_s_per_byte / self._ratio)
        return compressed_s < plain_s

    def compress(self, body: bytes) -> bytes | None:
        """None where the body is better stored as it is."""
        if len(body) < _MIN_BODY_BYTES:
            return None
        smaller = self._compressor.compress(body)
        return smaller if len(smaller) < len(body) else None

    def observe_zstd(self, *, raw_bytes: int, stored_bytes: int, seconds: float) -> None:
        if raw_bytes == 0 or stored_bytes == 0:
            return
        self._since_probe = 0
        self._zstd_s_per_byte = _mean(self._zstd_s_per_byte, seconds / raw_bytes)
        self._ratio = _mean(self._ratio, raw_bytes / stored_bytes)

    def observe_disk(self, *, stored_bytes: int, seconds: float) -> None:
        """Small writes are left out: what they take is the disk's latency, which compressing does not change."""
        if stored_bytes >= _MIN_GROUP_BYTES // 4:
            self._disk_s_per_byte = _mean(self._disk_s_per_byte, seconds / stored_bytes)


def _mean(before: float | None, now: float) -> float:
    return now if before is None else before + _WEIGHT * (now - before)
