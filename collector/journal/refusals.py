"""What a sender is told when the journal takes nothing. It never says where the journal is: that is in the log."""

from __future__ import annotations

from collector.errors import JournalFullError, JournalUnavailableError, OverloadedError, RequestTooLargeError

RETRY_AFTER_S = 1.0


def full(max_bytes: int) -> JournalFullError:
    return JournalFullError(
        f"The journal holds its {max_bytes} bytes; send again when readers have caught up, or raise max_bytes.",
        retry_after_s=RETRY_AFTER_S,
    )


def disk_refused(operation: str, err: OSError) -> JournalUnavailableError:
    """The words are the system's for the number, since an OSError's own may name a file."""
    return JournalUnavailableError(
        f"The journal could not {operation} ({err.strerror}); send again later.", retry_after_s=RETRY_AFTER_S
    )


def failed(err: Exception) -> JournalUnavailableError:
    return JournalUnavailableError(
        f"The journal failed unexpectedly ({type(err).__name__}); send again later.", retry_after_s=RETRY_AFTER_S
    )


def not_open() -> JournalUnavailableError:
    return JournalUnavailableError("The journal is not open; send again later.", retry_after_s=RETRY_AFTER_S)


def overloaded(waiting_bytes: int) -> OverloadedError:
    return OverloadedError(
        f"The journal has {waiting_bytes} bytes waiting; send again later.", retry_after_s=RETRY_AFTER_S
    )


def too_large(size: int, *, max_bytes: int) -> RequestTooLargeError:
    return RequestTooLargeError(
        f"Request of {size} bytes can never fit the journal's {max_bytes} bytes; send smaller batches, or raise "
        "max_bytes."
    )
