"""How many files and connections this process may have open.

Many systems allow 1024 unless a process asks for more, and two receivers with a thousand connections each would leave
the journal without a file for its next segment. So a process asks for what it may have, and where that is little, its
receivers take fewer connections.
"""

from __future__ import annotations

import contextlib
import resource

import structlog

log = structlog.get_logger(__name__)

_ENOUGH = 65_536
_OWN_FILES = 256
"""For journal, databases, relays, judges and probes."""
_EACH_CONNECTION = 3
"""One of each transport, and HTTP takes as many again for as long as it takes to say that it is full."""
_LEAST_CONNECTIONS = 16


def raise_open_files() -> int:
    """Ask for as many as the system allows this process, within reason; the number that holds from now on."""
    soft, hard = (_ENOUGH if limit == resource.RLIM_INFINITY else limit for limit in _limits())
    wanted = min(hard, _ENOUGH)
    if soft < wanted:
        with contextlib.suppress(OSError, ValueError):  # An init system may forbid it; then it is as it was.
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, _limits()[1]))
            soft = wanted
    return soft


def connections_within(open_files: int, *, wanted: int) -> int:
    """Of each receiver, so that the rest of the process keeps files of its own."""
    most = max(_LEAST_CONNECTIONS, (open_files - _OWN_FILES) // _EACH_CONNECTION)
    if most < wanted:
        log.warning(
            "fewer connections than configured",
            max_connections=most,
            configured=wanted,
            open_files=open_files,
            way_out=f"allow this process {_OWN_FILES + _EACH_CONNECTION * wanted} open files (ulimit -n, LimitNOFILE)",
        )
    return min(most, wanted)


def _limits() -> tuple[int, int]:
    return resource.getrlimit(resource.RLIMIT_NOFILE)
