"""Read-only view of the live state, for a process of its own such as `adhere explain`; the state may be in use."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random

from collector.live.codec import decode_fragment
from collector.live.content_reader import ContentReader
from collector.live.database import open_for_reading
from collector.live.find import find_conversation
from collector.live.reconstruction import Reconstruction
from collector.live.store import StateStore
from collector.model import Conversation

_CACHE_BYTES = 8 << 20
_MAX_COMPONENTS = 1_000_000


class ConversationArchive:
    def __init__(self, store: StateStore, reader: ContentReader, *, reconstruction: Reconstruction) -> None:
        self._store = store
        self._reader = reader
        self._reconstruction = reconstruction

    def get(self, name: str) -> Conversation:
        """By conversation id, trace id, or the beginning of either. Raises ConversationNotFoundError."""
        return find_conversation(self._store, self._conversations, name)

    def sample(self, random: Random) -> Iterator[Conversation]:
        """All conversations in random order, each read when it is asked for."""
        components = self._store.components_matching("", limit=_MAX_COMPONENTS)
        for component in random.sample(components, len(components)):
            yield from self._conversations(component)

    def _conversations(self, component: int) -> list[Conversation]:
        operations = [decode_fragment(data, self._reader) for _, _, data in self._store.fragments_of(component)]
        return [conversation for conversation, _ in self._reconstruction.conversations(operations)]


@contextmanager
def open_archive(path: Path, *, reconstruction: Reconstruction) -> Iterator[ConversationArchive]:
    """Raises StateUnavailableError where there is none."""
    database = open_for_reading(path)
    try:
        yield ConversationArchive(
            StateStore(database), ContentReader(database, cache_bytes=_CACHE_BYTES), reconstruction=reconstruction
        )
    finally:
        database.close()
