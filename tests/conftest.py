"""What holds for every test."""

from __future__ import annotations

import os

from hypothesis import settings

# The same examples in every run; ADHERE_EXPLORE=1 looks for new ones.
settings.register_profile("fixed", derandomize=True)
settings.register_profile("explore", derandomize=False)
settings.load_profile("explore" if os.environ.get("ADHERE_EXPLORE") == "1" else "fixed")


def pytest_make_parametrize_id(val: object) -> str | None:
    """Ids that are the same in every process, so that workers agree on what there is to run."""
    if isinstance(val, bytes):
        return f"{len(val)}-bytes"
    if callable(val):
        return getattr(val, "__name__", None)
    return None
