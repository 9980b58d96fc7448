"""One HTTP request on its way: head, what arrived of its body, and why it is refused, if it is."""

from __future__ import annotations

from collector.errors import AdhereError, RequestTooLargeError
from collector.otlp.admission import Ticket
from collector.otlp.http_head import Head, Target
from collector.otlp.intake import Intake


class Exchange:
    __slots__ = ("_chunks", "_size", "drained_bytes", "error", "head", "is_cut", "target", "ticket")

    def __init__(self, head: Head) -> None:
        self.head = head
        self.target: Target | None = None
        self.ticket: Ticket | None = None
        self.error: AdhereError | None = None
        self.is_cut = False
        """Answered before it had arrived in full, so the connection cannot be used again."""
        self.drained_bytes = 0
        self._chunks: list[bytes] = []
        self._size = 0

    def add(self, chunk: bytes, *, max_bytes: int) -> None:
        """Keep a part of the body, unless the request is refused already."""
        if self.ticket is None:
            return
        size = self._size + len(chunk)
        if size > max_bytes:
            raise RequestTooLargeError(f"The request has more than {max_bytes} bytes; send it in smaller batches.")
        self.ticket.resize(size)
        self._size = size
        self._chunks.append(chunk)

    def refuse(self, error: AdhereError) -> None:
        self.error = error
        self.release()

    def release(self) -> None:
        """Give back the place and the bytes."""
        self._chunks.clear()
        if self.ticket is not None:
            self.ticket.close()
            self.ticket = None

    async def take(self, intake: Intake, *, transport: str) -> None:
        assert self.target is not None
        assert self.ticket is not None
        self.ticket.take_place()
        body = self._chunks[0] if len(self._chunks) == 1 else b"".join(self._chunks)
        self._chunks.clear()
        await intake.take(
            self.target.signal,
            body,
            ticket=self.ticket,
            transport=transport,
            media=self.target.media,
            encoding=self.target.encoding,
        )
