"""Records that could not be read, kept for whoever looks into it: the newest ones, within bounds."""

from __future__ import annotations

import sqlite3

import structlog

from collector.journal.protocol import JournalRecord

log = structlog.get_logger(__name__)


class PoisonStore:
    def __init__(self, database: sqlite3.Connection, *, max_items: int, max_bytes: int) -> None:
        self._database = database
        self._max_items = max_items
        self._max_bytes = max_bytes

    def add(self, record: JournalRecord, *, reason: str) -> None:
        """In the caller's transaction. A body over the bound is cut: its beginning says most."""
        where = record.position
        log.warning("record set aside", segment=where.segment, offset=where.offset, reason=reason)
        self._database.execute(
            "INSERT INTO poison (segment, offset, signal, reason, body) VALUES (?, ?, ?, ?, ?)",
            (where.segment, where.offset, record.signal.value, reason, record.body[: self._max_bytes // 4]),
        )
        self._database.execute(
            "DELETE FROM poison WHERE id IN (SELECT id FROM (SELECT id, row_number() OVER newest AS place,"
            " sum(length(body)) OVER newest AS bytes FROM poison WINDOW newest AS (ORDER BY id DESC))"
            " WHERE place > ? OR bytes > ?)",
            (self._max_items, self._max_bytes),
        )
