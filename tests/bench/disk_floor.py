"""What a bare write and fdatasync takes on a disk at the moment: what acknowledgement times are to be read against."""

from __future__ import annotations

import os
import time
from pathlib import Path


def sync_times_ms(folder: Path, *, size: int, seconds: float = 0.5) -> tuple[float, float]:
    """Median and 99th percentile of appending so many bytes and syncing them."""
    path = folder / "floor"
    body = os.urandom(size)
    took_s: list[float] = []
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        end_s = time.perf_counter() + seconds
        while time.perf_counter() < end_s or len(took_s) < 10:
            began_s = time.perf_counter()
            os.write(fd, body)
            os.fdatasync(fd)
            took_s.append(time.perf_counter() - began_s)
    finally:
        os.close(fd)
        path.unlink()
    took_s.sort()
    return took_s[len(took_s) // 2] * 1e3, took_s[int(len(took_s) * 0.99)] * 1e3
