"""The folder that holds everything durable, and who is where in it."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import secrets
from dataclasses import asdict, dataclass
from pathlib import Path

from adhere.errors import UsageError

_SECRET_BYTES = 32
_SENDER_ID_BYTES = 8
_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


@dataclass(frozen=True, slots=True)
class Addresses:
    """Where a running Adhere listens; ports are the real ones, also where the configuration says 0."""

    grpc: str | None = None
    http: str | None = None
    telemetry: str | None = None


class DataDir:
    """Created with mode 0700 on first use, since conversations are in it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.journal = path / "journal"
        self.dead_letters = path / "dead-letters"
        self.held = path / "held"
        self.conversations = path / "conversations.db"
        self.verdicts = path / "verdicts.db"
        self.outbox = path / "outbox.db"
        self.calibration = path / "calibration.json"
        self.rubrics = path / "rubrics"
        self._addresses = path / "addresses.json"
        self._evaluator_port = path / "evaluator.port"
        self._sender_id = path / "sender.id"
        self._fence_secret = path / "fence.key"

    def create(self) -> None:
        try:
            self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as err:
            raise UsageError(
                f"The data folder {self.path} cannot be made: {err.strerror}; set data_dir to one that can."
            ) from err
        if not os.access(self.path, os.W_OK | os.X_OK):
            raise UsageError(f"The data folder {self.path} is not writable; change its owner, or set data_dir.")

    def fence_secret(self) -> bytes:
        """Made once an installation: judge requests stay the same across restarts, and nobody can guess the fence."""
        with contextlib.suppress(FileNotFoundError):
            known = self._fence_secret.read_bytes()
            # A power loss may leave the name without the bytes, and an empty secret is one that everybody knows.
            if len(known) == _SECRET_BYTES:
                return known
        fresh = secrets.token_bytes(_SECRET_BYTES)
        temporary = self._fence_secret.with_suffix(f".{os.getpid()}")
        temporary.touch(mode=0o600)
        temporary.write_bytes(fresh)
        temporary.replace(self._fence_secret)
        return fresh

    def sender_id(self) -> str:
        """The same for both processes; whoever asks first makes it. A copy of the folder, or of the machine, is another
        sender: what it sends here is no loop.
        """
        try:
            kept, place = self._known_sender_id() or self._new_sender_id(), self._sender_id.stat()
            here = f"{kept} {place.st_dev} {place.st_ino} {_boot_id()}"
            return hashlib.sha256(here.encode()).hexdigest()[: 2 * _SENDER_ID_BYTES]
        except OSError:  # A full disk keeps nobody from starting; this process still knows what itself sent.
            return secrets.token_hex(_SENDER_ID_BYTES)

    def _known_sender_id(self) -> str | None:
        try:
            known = self._sender_id.read_text(errors="replace")
        except FileNotFoundError:
            return None
        if re.fullmatch(f"[0-9a-f]{{{2 * _SENDER_ID_BYTES}}}", known):
            return known
        self._sender_id.unlink()  # A power loss may leave the name without the text.
        return None

    def _new_sender_id(self) -> str:
        temporary = self._sender_id.with_suffix(f".{os.getpid()}")
        temporary.write_text(secrets.token_hex(_SENDER_ID_BYTES))
        with contextlib.suppress(FileExistsError):  # The other process was quicker, and its id is ours as well.
            self._sender_id.hardlink_to(temporary)
        temporary.unlink()
        return self._sender_id.read_text()

    def write_addresses(self, addresses: Addresses) -> None:
        _replace(self._addresses, json.dumps(asdict(addresses)))

    def read_addresses(self) -> Addresses | None:
        """None: no collector runs here, or none is ready yet."""
        try:
            return Addresses(**json.loads(self._addresses.read_text()))
        except (FileNotFoundError, ValueError, TypeError):
            return None

    def clear_addresses(self) -> None:
        self._addresses.unlink(missing_ok=True)

    def write_evaluator_port(self, port: int) -> None:
        """Where the evaluator serves its metrics to the collector, on loopback."""
        _replace(self._evaluator_port, str(port))

    def read_evaluator_port(self) -> int | None:
        try:
            return int(self._evaluator_port.read_text())
        except (FileNotFoundError, ValueError):
            return None

    def clear_evaluator_port(self) -> None:
        self._evaluator_port.unlink(missing_ok=True)


def _boot_id() -> str:
    """Of this machine since it was started, the same in all its containers; empty where the system has none."""
    try:
        return _BOOT_ID.read_text().strip()
    except (OSError, UnicodeError):
        return ""


def _replace(path: Path, text: str) -> None:
    temporary = path.with_suffix(f".{os.getpid()}")
    temporary.write_text(text)
    temporary.replace(path)
