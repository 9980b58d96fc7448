"""Output views: one verdict in the fields that other evaluation tools give, for whoever reads those already."""

from evaluators.views.registry import VIEW_NAMES, view_of
from evaluators.views.status import Status, status_of, status_of_decision

__all__ = ["VIEW_NAMES", "Status", "status_of", "status_of_decision", "view_of"]
