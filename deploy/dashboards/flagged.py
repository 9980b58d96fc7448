"""Flagged turns: every failed verdict with its reason, its evidence and its trace.

The list is a search of Tempo for the evaluation spans, which the exporter `otlp` writes into the trace that was judged.
"""

from __future__ import annotations

from typing import Any

from deploy.dashboards.adherence import CHOSEN, variables, verdicts
from deploy.dashboards.layout import board, source
from deploy.dashboards.panels import Query, figure, graph, row, table, traces

_INJECTIONS = """{ span.gen_ai.operation.name = "evaluation"
  && span.adhere.injection.suspected = true
  && resource.service.name =~ "$service" }
| select(
    resource.service.name,
    span.gen_ai.agent.name,
    span.gen_ai.evaluation.name,
    span.gen_ai.evaluation.explanation,
    span.gen_ai.conversation.id
  )"""
_FAILED_SPANS = """{ span.gen_ai.operation.name = "evaluation"
  && span.adhere.outcome = "fail"
  && resource.service.name =~ "$service"
  && span.gen_ai.evaluation.name =~ "$evaluator" }
| select(
    resource.service.name,
    span.gen_ai.agent.name,
    span.gen_ai.agent.version,
    span.gen_ai.evaluation.name,
    span.gen_ai.evaluation.score.value,
    span.gen_ai.evaluation.explanation,
    span.adhere.evidence,
    span.gen_ai.conversation.id
  )"""
_LEVEL = "service, agent, version, evaluator"


def dashboard() -> Any:
    panels = [
        figure(
            "Failed verdicts",
            Query(f"sum({verdicts('fail')}) or vector(0)"),
            says="Over the chosen time.",
            thresholds=((None, "green"), (1, "orange")),
        ),
        figure(
            "Agents with failures",
            Query(f"count(sum by (service, agent) ({verdicts('fail')}) > 0) or vector(0)"),
            says="Agents of which at least one unit failed.",
        ),
        figure(
            "Suspected injections",
            Query("sum(increase(adhere_judging_injections_suspected_total[$__range])) or vector(0)"),
            says="Verdicts whose judge saw text that tries to steer it, or orders in a tool's result.",
            thresholds=((None, "green"), (1, "orange")),
        ),
        row("Each one"),
        traces(
            "Flagged turns",
            _FAILED_SPANS,
            says=(
                "Failed verdicts with reason and evidence; the link leads to the trace that was judged. "
                "Needs the exporter otlp with spans, and a Tempo that gets them."
            ),
        ),
        traces(
            "Suspected injections, each one",
            _INJECTIONS,
            says="Units in which somebody tries to steer the judge or the agent. Needs the same as the list above.",
        ),
        row("Where they come from"),
        graph(
            "Failures",
            Query(
                "sum by (service, agent, evaluator) "
                f'(increase(adhere_verdicts_total{{{CHOSEN}, outcome="fail"}}[$__rate_interval]))',
                "{{service}} · {{agent}} · {{evaluator}}",
                exemplars=True,
            ),
            says="Points are single verdicts and lead to their traces, where Prometheus keeps exemplars.",
            stacked=True,
            width=24,
        ),
        table(
            "Failures by version",
            {"failures": (f"sort_desc(sum by ({_LEVEL}) ({verdicts('fail')}) > 0)", "short")},
            says="Over the chosen time.",
        ),
    ]
    return board(
        "adhere-flagged-turns",
        "Adhere / Flagged turns",
        "Every turn and conversation that failed, with its reason, its evidence and its trace.",
        [source("tempo", "tempo"), *variables()],
        panels,
    )
