"""`adhere`, and `python -m adhere`."""

from __future__ import annotations

import os
import sys

from adhere.errors import IncompleteError, UsageError
from adhere.run.provenance import check_provenance
from collector.errors import AdhereError

_MAX_LINE_CHARS = 4000


def main() -> None:
    try:
        check_provenance()
        from adhere.cli.app import app  # noqa: PLC0415 - after the check that the packages are ours

        app(prog_name="adhere")
    except UsageError as err:
        _fail(str(err), code=2)
    except IncompleteError as err:
        _fail(str(err), code=3)
    except AdhereError as err:
        _fail(str(err), code=1)
    except BrokenPipeError:
        # The reader of our output has gone (`adhere reconstruct ... | head`); Python must not complain at exit either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)


def _fail(message: str, *, code: int) -> None:
    from exporters.text import clean_text  # noqa: PLC0415 - after the check as well

    for line in message.splitlines():
        # A file's name, an id or a server's answer may hold what a terminal obeys.
        sys.stderr.write(f"Error: {clean_text(line, max_chars=_MAX_LINE_CHARS)}\n")
    sys.exit(code)


if __name__ == "__main__":
    main()
