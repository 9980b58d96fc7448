"""Views by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from collector.model import Conversation
from evaluators.errors import EvaluatorConfigError
from evaluators.nearest import did_you_mean
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
        raise EvaluatorConfigError(f"No view is named {name!r}; {did_you_mean(name, VIEW_NAMES)}")
    found = _VIEWS[name](verdict)
    return found if echo is None else {**found, "echo": echo_of(echo)}
