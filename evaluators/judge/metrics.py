"""What the judge counts. Every question that is asked ends in exactly one outcome."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from evaluators.verdict import JudgeInfo


class JudgeMetrics:
    def __init__(self, registry: CollectorRegistry) -> None:
        self.questions = Counter(
            "adhere_judge_questions_total",
            "Questions to the judge by how they ended: answered, repaired, cached (kept answers), or a type of error.",
            ["evaluator", "outcome"],
            registry=registry,
        )
        self.attempts = Counter(
            "adhere_judge_attempts_total",
            "HTTP attempts by how they ended: answered, or a type of error.",
            ["outcome"],
            registry=registry,
        )
        self.tokens = Counter("adhere_judge_call_tokens_total", "Tokens by kind.", ["kind"], registry=registry)
        self.cost = Counter(
            "adhere_judge_call_cost_usd_total", "Cost in USD, where the price is known.", registry=registry
        )
        self.cached = Counter(
            "adhere_judge_cached_answers_total",
            "Calls that were answered before and not made again.",
            registry=registry,
        )
        self.duration = Histogram(
            "adhere_judge_question_seconds",
            "Time from a free slot to the end of a question.",
            buckets=(0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60, 120),
            registry=registry,
        )
        self.in_flight = Gauge("adhere_judge_in_flight", "Questions being asked.", registry=registry)
        self.limit = Gauge("adhere_judge_concurrency_limit", "Questions that may be asked at once.", registry=registry)
        self.circuit_open = Gauge("adhere_judge_circuit_open", "1 while nothing is sent.", registry=registry)
        limits = ["period", "unit"]
        self.budget_limit = Gauge(
            "adhere_judge_budget_limit",
            "What judging may cost, where that is bounded: by day or month, in usd or tokens.",
            limits,
            registry=registry,
        )
        self.budget_used = Gauge(
            "adhere_judge_budget_used",
            "What it has cost in this day or month of UTC; calls under way count with the most that they may cost.",
            limits,
            registry=registry,
        )

    def ended(self, evaluator: str, outcome: str, info: JudgeInfo) -> None:
        self.questions.labels(evaluator, outcome).inc()
        self.tokens.labels("input").inc(info.input_tokens)
        self.tokens.labels("cached_input").inc(info.cached_input_tokens)
        self.tokens.labels("output").inc(info.output_tokens)
        self.cost.inc(info.cost_usd or 0.0)
        self.cached.inc(info.cached_calls)
        self.duration.observe(info.duration_s)
