"""What tokens cost. A model that is not in the table has no known price, which is not a price of zero.

List prices of the models' own provider, in USD per million tokens, as published in August 2025; configuration overrides
them and adds others.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

_SNAPSHOT = re.compile(r"-\d{4}-\d{2}-\d{2}$")


@dataclass(frozen=True, slots=True)
class Price:
    """USD per million tokens."""

    input: float
    output: float
    cached_input: float | None = None
    """None: as other input."""


LIST_PRICES: Mapping[str, Price] = {
    "gpt-4.1": Price(2.0, 8.0, 0.5),
    "gpt-4.1-mini": Price(0.4, 1.6, 0.1),
    "gpt-4.1-nano": Price(0.1, 0.4, 0.025),
    "gpt-4o": Price(2.5, 10.0, 1.25),
    "gpt-4o-mini": Price(0.15, 0.6, 0.075),
    "gpt-5": Price(1.25, 10.0, 0.125),
    "gpt-5-mini": Price(0.25, 2.0, 0.025),
    "gpt-5-nano": Price(0.05, 0.4, 0.005),
    "o3": Price(2.0, 8.0, 0.5),
    "o4-mini": Price(1.1, 4.4, 0.275),
}


def price_of(model: str, *, overrides: Mapping[str, Price], list_prices: Mapping[str, Price]) -> Price | None:
    """The price under the model's own name, else under its name without the date of a snapshot."""
    for name in (model, _SNAPSHOT.sub("", model)):
        found = overrides.get(name) or list_prices.get(name)
        if found is not None:
            return found
    return None


def cost_usd(price: Price, *, input_tokens: int, cached_input_tokens: int, output_tokens: int) -> float:
    cached = price.input if price.cached_input is None else price.cached_input
    fresh = input_tokens - cached_input_tokens
    return (fresh * price.input + cached_input_tokens * cached + output_tokens * price.output) / 1e6
