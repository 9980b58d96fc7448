"""Checks that `collector`, `evaluators` and `exporters` are ours.

They are plain top-level packages, so another distribution, or a folder of that name where Python looks first, could
take their place unnoticed.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path

import adhere
from adhere.errors import UsageError

_PACKAGES = ("collector", "evaluators", "exporters")


def check_provenance() -> None:
    """Raises UsageError when one of the packages comes from elsewhere than `adhere` itself."""
    home = Path(adhere.__file__).resolve().parents[1]
    for name in _PACKAGES:
        spec = importlib.util.find_spec(name)
        origin = Path(spec.origin).resolve() if spec is not None and spec.origin else None
        if origin is None or origin.parents[1] != home:
            raise UsageError(
                f"The package {name!r} comes from {origin or 'nowhere'}, not from Adhere's own distribution in {home};"
                " install Adhere into an environment of its own, such as `uv tool install adhere`."
            )
