"""How the interpreter works in a process that runs for months, set once it is up.

What start-up made stays for good, so the garbage collector need not look at it again and again; and as nearly nothing
of what a span makes is cyclic, looking for cycles a tenth as often costs little memory and saves a tenth of the time.
"""

from __future__ import annotations

import gc
import sys

_YOUNG_OBJECTS = 10_000
_YOUNG_ROUNDS = 20
_MIDDLE_ROUNDS = 20
_SWITCH_S = 0.001
"""A writer thread that comes back from the disk waits at most this long for the event loop to let it on."""


def settle_in() -> None:
    """Call it once everything that stays has been made."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(_YOUNG_OBJECTS, _YOUNG_ROUNDS, _MIDDLE_ROUNDS)
    sys.setswitchinterval(_SWITCH_S)
