"""What is carried from turn to turn, kept in memory."""

from __future__ import annotations

from collections.abc import Sequence

from evaluators.store.states import KeptState


class StatesInMemory:
    """A ledger without a file, for so many conversations, and so many states of each."""

    def __init__(self, *, max_chains: int = 1000, max_states: int = 8) -> None:
        self._max_chains = max_chains
        self._max_states = max_states
        self._chains: dict[str, dict[str, KeptState]] = {}

    async def recall(self, chain: str, prefixes: Sequence[str]) -> KeptState | None:
        known = self._chains.get(chain, {})
        return next((known[prefix] for prefix in reversed(prefixes) if prefix in known), None)

    async def keep(self, chain: str, prefix: str, state: KeptState) -> None:
        kept = self._chains.pop(chain, {})
        kept.pop(prefix, None)
        kept[prefix] = state
        self._chains[chain] = dict(list(kept.items())[-self._max_states :])
        if len(self._chains) > self._max_chains:
            del self._chains[next(iter(self._chains))]
