"""The judge: does it answer, how long does it take, what waits, and what does it cost."""

from __future__ import annotations

from typing import Any

from deploy.dashboards.layout import board, choice, source
from deploy.dashboards.panels import RED_FROM_ONE, Query, figure, graph, quantile, row, table

_HERE = 'instance=~"$instance"'
_EVALUATORS = f'{_HERE}, evaluator=~"$evaluator"'
_COSTS = 'evaluator=~"$evaluator"'


def _tokens(direction: str) -> str:
    labels = f'{_COSTS}, direction="{direction}"'
    return f"sum by (service, agent, evaluator) (increase(adhere_judge_tokens_total{{{labels}}}[$__range]))"


def dashboard() -> Any:
    panels = [
        figure(
            "Left alone",
            Query(f"max(adhere_judge_circuit_open{{{_HERE}}}) or max(adhere_judging_judge_paused{{{_HERE}}})"),
            says="1 while nothing is sent to the judge, since it fails or refuses. Units wait on disk.",
            thresholds=RED_FROM_ONE,
        ),
        figure(
            "Units that wait",
            Query(f"sum(adhere_judging_waiting{{{_HERE}}})"),
            says="Judgings that wait on disk.",
            thresholds=((None, "green"), (1000, "orange")),
        ),
        figure(
            "Waiting for",
            Query(f"max(adhere_judging_oldest_pending_seconds{{{_HERE}}})"),
            says="Age of the oldest unit that waits to be judged.",
            unit="s",
            thresholds=((None, "green"), (600, "orange"), (1800, "red")),
        ),
        figure(
            "Cost",
            Query(f"sum(increase(adhere_judge_cost_usd_total{{{_COSTS}}}[$__range]))"),
            says="Over the chosen time, of models whose price is known.",
            unit="currencyUSD",
        ),
        row("Health"),
        graph(
            "Attempts",
            Query(f"sum by (outcome) (rate(adhere_judge_attempts_total{{{_HERE}}}[$__rate_interval]))", "{{outcome}}"),
            says="HTTP attempts by how they ended: answered, or the type of error.",
            unit="reqps",
            stacked=True,
        ),
        graph(
            "Questions",
            Query(
                f"sum by (outcome) (rate(adhere_judge_questions_total{{{_EVALUATORS}}}[$__rate_interval]))",
                "{{outcome}}",
            ),
            says="Questions by how they ended, retries included: answered, repaired, or the type of error.",
            unit="reqps",
            stacked=True,
        ),
        graph(
            "Time of a question",
            Query(quantile(0.5, "adhere_judge_question_seconds", _HERE), "median"),
            Query(quantile(0.95, "adhere_judge_question_seconds", _HERE), "95 %"),
            says="From a free slot to the end of a question, retries included.",
            unit="s",
        ),
        graph(
            "Questions at one time",
            Query(f"sum(adhere_judge_in_flight{{{_HERE}}})", "asked"),
            Query(f"sum(adhere_judge_concurrency_limit{{{_HERE}}})", "may be asked"),
            says="The limit falls by itself while the judge says that it is too much.",
        ),
        graph(
            "Errors",
            Query(f"evaluator:adhere_evaluation_errors:ratio30m{{{_COSTS}}}", "{{evaluator}}"),
            says="Share of evaluations of the last half hour that ended as errors, which are no scores.",
            unit="percentunit",
            bounds=(0, 1),
        ),
        graph(
            "Decisions",
            Query(
                f"sum by (kind, reason) (increase(adhere_judging_decisions_total{{{_EVALUATORS}}}[$__rate_interval]))",
                "{{kind}} {{reason}}",
            ),
            says="Why units were or were not judged.",
            stacked=True,
        ),
        graph(
            "Put off",
            Query(
                f"sum by (kind) (increase(adhere_judging_deferrals_total{{{_EVALUATORS}}}[$__rate_interval]))",
                "{{kind}}",
            ),
            says="Judgings put off because the judge is down or the budget is spent.",
        ),
        graph(
            "Waiting over time",
            Query(f"sum by (instance) (adhere_judging_waiting{{{_HERE}}})", "{{instance}}"),
            says="Judgings that wait on disk.",
        ),
        graph(
            "Passes by model",
            Query(
                f'sum by (model) (increase(adhere_verdicts_total{{{_COSTS}, outcome="pass"}}[1h]))'
                f' / (sum by (model) (increase(adhere_verdicts_total{{{_COSTS}, outcome=~"pass|fail"}}[1h])) > 0)',
                "{{model}}",
            ),
            says="Share of passes over the last hour by the model that judged: another judge may judge otherwise.",
            unit="percentunit",
            bounds=(0, 1),
        ),
        graph(
            "Against people's labels",
            Query(
                f'adhere_judge_calibration{{{_EVALUATORS}, measure=~"kappa|sensitivity|specificity"}}',
                "{{evaluator}} {{judge}} {{measure}}",
            ),
            says="How well the judge agrees with people, where it was calibrated.",
            bounds=(-1, 1),
        ),
        row("Cost"),
        graph(
            "Cost of an hour",
            Query(
                f"service_agent_evaluator:adhere_judge_cost_usd:increase1h{{{_COSTS}}}",
                "{{service}} · {{agent}} · {{evaluator}}",
            ),
            says="What judging cost in the last hour, by agent and evaluator.",
            unit="currencyUSD",
            stacked=True,
        ),
        graph(
            "Budget",
            Query(
                f"adhere_judge_budget_used{{{_HERE}}} / adhere_judge_budget_limit{{{_HERE}}}",
                "{{instance}} {{unit}} of a {{period}}",
            ),
            says="Share of judge.budget that is used, where judging is bounded.",
            unit="percentunit",
        ),
        graph(
            "Tokens",
            Query("direction:adhere_judge_tokens:rate5m", "{{direction}}"),
            says="Tokens a second; cached_input is a part of input.",
        ),
        table(
            "Cost by agent and evaluator",
            {
                "cost": (
                    f"sum by (service, agent, evaluator) (increase(adhere_judge_cost_usd_total{{{_COSTS}}}[$__range]))",
                    "currencyUSD",
                ),
                "tokens in": (
                    _tokens("input"),
                    "short",
                ),
                "tokens out": (
                    _tokens("output"),
                    "short",
                ),
            },
            says="Over the chosen time.",
        ),
    ]
    variables = [
        source("prometheus", "prometheus"),
        choice("instance", "adhere_judging_waiting"),
        choice("evaluator", "adhere_judging_verdicts_total"),
    ]
    return board(
        "adhere-judge",
        "Adhere / Judge",
        "Whether the judge answers, what waits for it, and its cost.",
        variables,
        panels,
    )
