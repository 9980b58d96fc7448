"""What `/metrics` says, as numbers."""

from __future__ import annotations

from collections.abc import Mapping

import httpx2
from prometheus_client.parser import text_string_to_metric_families

Sample = tuple[str, Mapping[str, str], float]


async def samples(telemetry: str) -> list[Sample]:
    async with httpx2.AsyncClient(trust_env=False) as client:
        page = await client.get(f"http://{telemetry}/metrics")
    page.raise_for_status()
    return [
        (sample.name, sample.labels, sample.value)
        for family in text_string_to_metric_families(page.text)
        for sample in family.samples
    ]


def total(found: list[Sample], name: str, **labels: str) -> float:
    """Of all series of that name with these labels."""
    return sum(value for one, has, value in found if one == name and labels.items() <= has.items())
