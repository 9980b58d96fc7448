"""`adhere`, and `python -m adhere`."""

from __future__ import annotations

import os
import sys

from adhere.errors import UsageError
from adhere.run.provenance import check_provenance
from collector.errors import AdhereError


def main() -> None:
    try:
        check_provenance()
        from adhere.cli.app import app  # noqa: PLC0415 - after the check that the packages are ours

        app()
    except UsageError as err:
        _fail(str(err), code=2)
    except AdhereError as err:
        _fail(str(err), code=1)
    except BrokenPipeError:
        # The reader of our output has gone (`adhere reconstruct ... | head`); Python must not complain at exit either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)


def _fail(message: str, *, code: int) -> None:
    for line in message.splitlines():
        sys.stderr.write(f"Error: {line}\n")
    sys.exit(code)


if __name__ == "__main__":
    main()
