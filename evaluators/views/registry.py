"""Views by name."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping

from collector.model import Conversation
from evaluators.errors import EvaluatorConfigError
from evaluators.verdict import Verdict
from evaluators.views import azure, deepeval, galtea, huawei
from evaluators.views.echo import echo_of

_VIEWS: Mapping[str, Callable[[Verdict], dict[str, object]]] = {
    "azure": azure.view,
    "deepeval": deepeval.view,
    "galtea": galtea.view,
    "huawei": huawei.view,
}
VIEW_NAMES = tuple(sorted(_VIEWS))


def view_of(verdict: Verdict, name: str, *, echo: Conversation | None = None) -> dict[str, object]:
    """`echo`: the judged conversation, to have it beside the result; by default no result holds it."""
    if name not in _VIEWS:
        near = difflib.get_close_matches(name, VIEW_NAMES, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"known are {', '.join(VIEW_NAMES)}."
        raise EvaluatorConfigError(f"No view is named {name!r}; {hint}")
    found = _VIEWS[name](verdict)
    return found if echo is None else {**found, "echo": echo_of(echo)}
