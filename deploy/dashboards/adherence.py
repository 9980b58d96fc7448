"""Adherence by agent and version: does it hold, since when not, and which version changed it."""

from __future__ import annotations

from typing import Any

from deploy.dashboards.layout import board, choice, source
from deploy.dashboards.panels import GREEN_FROM_NINE_TENTHS, Query, figure, graph, heatmap, row, table

CHOSEN = 'service=~"$service", agent=~"$agent", version=~"$version", evaluator=~"$evaluator"'
_AGENTS = 'service=~"$service", agent=~"$agent", evaluator=~"$evaluator"'
_LEVEL = "service, agent, version, evaluator"


def variables() -> list[dict[str, Any]]:
    return [
        source("prometheus", "prometheus"),
        choice("service", "adhere_verdicts_total"),
        choice("agent", 'adhere_verdicts_total{service=~"$service"}', "agent"),
        choice("version", 'adhere_verdicts_total{service=~"$service", agent=~"$agent"}', "version"),
        choice("evaluator", "adhere_verdicts_total"),
    ]


def verdicts(outcome: str, window: str = "$__range") -> str:
    """Of the chosen agents, in a window."""
    return f'increase(adhere_verdicts_total{{{CHOSEN}, outcome=~"{outcome}"}}[{window}])'


def share_of_passes(by: str) -> str:
    scored = f"sum by ({by}) ({verdicts('pass|fail')})"
    return f"(sum by ({by}) ({verdicts('pass')}) or 0 * {scored}) / ({scored} > 0)"


def dashboard() -> Any:
    scored = verdicts("pass|fail")
    panels = [
        figure(
            "Passes",
            Query(f"sum({verdicts('pass')}) / (sum({scored}) > 0)"),
            says="Share of passes among the verdicts that passed or failed.",
            unit="percentunit",
            thresholds=GREEN_FROM_NINE_TENTHS,
        ),
        figure("Verdicts", Query(f"sum({scored})"), says="Verdicts that passed or failed."),
        figure(
            "Failures",
            Query(f"sum({verdicts('fail')}) or vector(0)"),
            says="Verdicts that failed; the dashboard of flagged turns has each with its trace.",
            thresholds=((None, "green"), (1, "orange")),
        ),
        figure(
            "No verdict possible",
            Query(f"sum({verdicts('error|not_assessable|abstain')}) or vector(0)"),
            says="Evaluations that failed, units that could not be assessed, and abstentions. None of them is a score.",
        ),
        row("Over time"),
        graph(
            "Passes by agent",
            Query(
                f"service_agent_evaluator:adhere_pass:ratio1h{{{_AGENTS}}}", "{{service}} · {{agent}} · {{evaluator}}"
            ),
            says="Share of passes over the last hour. A gap is an hour without verdicts.",
            unit="percentunit",
            bounds=(0, 1),
        ),
        graph(
            "Passes by version",
            Query(
                f"service_agent_version_evaluator:adhere_pass:ratio1h{{{CHOSEN}}}",
                "{{agent}} {{version}} · {{evaluator}}",
            ),
            says="The same for each version: a new version that does worse shows as a second, lower line.",
            unit="percentunit",
            bounds=(0, 1),
        ),
        graph(
            "Mean score by version",
            Query(
                f"service_agent_version_evaluator:adhere_score:mean1h{{{CHOSEN}}}",
                "{{agent}} {{version}} · {{evaluator}}",
            ),
            says="Mean of the scores over the last hour, for evaluators with graded scores.",
            bounds=(0, 1),
        ),
        heatmap(
            "Scores",
            Query(
                f"sum by (le) (increase(adhere_score_bucket{{{CHOSEN}}}[$__rate_interval]))", "{{le}}", exemplars=True
            ),
            says="How the scores are spread. Points are single verdicts and lead to their traces.",
        ),
        graph(
            "Outcomes",
            Query(f"sum by (outcome) (increase(adhere_verdicts_total{{{CHOSEN}}}[$__rate_interval]))", "{{outcome}}"),
            says="All verdicts by outcome.",
            stacked=True,
        ),
        graph(
            "Against the day before",
            Query(
                f"service_agent_evaluator:adhere_pass:ratio1h{{{_AGENTS}}}"
                f" - service_agent_evaluator:adhere_pass:ratio1d_before{{{_AGENTS}}}",
                "{{agent}} · {{evaluator}}",
            ),
            says="Change of the share of passes; the alert AdhereAdherenceDropped watches it.",
            unit="percentunit",
            bounds=(-1, 1),
        ),
        row("By version"),
        table(
            "Agents and versions",
            {
                "passes": (share_of_passes(_LEVEL), "percentunit"),
                "verdicts": (f"sum by ({_LEVEL}) ({scored})", "short"),
                "failures": (f"sum by ({_LEVEL}) ({verdicts('fail')})", "short"),
            },
            says="Over the chosen time.",
        ),
    ]
    return board(
        "adhere-adherence",
        "Adhere / Adherence",
        "Whether agents keep to their task, their role and their rules, by agent and version.",
        variables(),
        panels,
    )
