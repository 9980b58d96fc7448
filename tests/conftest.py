"""What holds for every test."""

from __future__ import annotations


def pytest_make_parametrize_id(val: object) -> str | None:
    """Ids that are the same in every process, so that workers agree on what there is to run."""
    if isinstance(val, bytes):
        return f"{len(val)}-bytes"
    if callable(val):
        return getattr(val, "__name__", None)
    return None
