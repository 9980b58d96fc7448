"""Judges of other packages: a factory in the entry point group `adhere.judges` makes an `OwnModel` of its options."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib.metadata import EntryPoint, entry_points

from evaluators.errors import EvaluatorConfigError
from evaluators.judge.own_model import OwnModel

ENTRY_POINT_GROUP = "adhere.judges"


def load_plugin(name: str, options: Mapping[str, object], *, plugins: Iterable[EntryPoint] | None = None) -> OwnModel:
    """Raises `EvaluatorConfigError` for one that is not installed or cannot be made."""
    found = {one.name: one for one in (entry_points(group=ENTRY_POINT_GROUP) if plugins is None else plugins)}
    if name not in found:
        known = ", ".join(sorted(found)) or "none"
        raise EvaluatorConfigError(f"judge.plugin {name!r} is not installed; installed are: {known}.")
    where = f"judge.plugin {name!r} ({found[name].value})"
    try:
        model: OwnModel = found[name].load()(**options)
        named, answers = isinstance(model.name, str), callable(model.answer)
    except Exception as err:  # A plug-in may raise anything; it is named.
        raise EvaluatorConfigError(f"{where} cannot be made: {type(err).__name__}: {err}.") from err
    if not named or not answers:
        raise EvaluatorConfigError(f"{where} gave no model with a name and an answer().")
    return model
