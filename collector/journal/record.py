"""The form of one record: a fixed header, then the payload as stored.

    magic 4 | segment tag 4 | version 1 | flags 1 | signal 1 | 0 | id 8 | received_ns 8 | stored 4 | raw 4
    | payload check 8 | header check 8                                                   (little endian, 52 bytes)

Both checks are xxh3-64 seeded with the segment's random salt, the header's also with its offset, and the tag comes
from the salt too. So a record is valid at its own place only: neither bytes left from another file nor a record-
like body that somebody sends can pass for one when reading resumes after damage. The header has its own check so
that a damaged payload costs one record and no search. Ids count up by one over the whole journal: a jump is the
exact number of lost records.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

import xxhash

from collector.journal.files import Buffer
from collector.telemetry.records import Signal

RECORD_VERSION = 1
FLAG_ZSTD = 1

_MAGIC = b"\xadHR\n"
_FIELDS = struct.Struct("<4sIBBBxQQIIQ")
_CHECK = struct.Struct("<Q")
RECORD_HEADER_BYTES = _FIELDS.size + _CHECK.size

_MASK = 2**64 - 1
_CODES = {Signal.TRACES: 1, Signal.LOGS: 2, Signal.METRICS: 3}
_SIGNALS = {code: signal for signal, code in _CODES.items()}


@dataclass(frozen=True, slots=True)
class RecordHeader:
    record_id: int
    signal: Signal
    received_ns: int
    stored_bytes: int
    raw_bytes: int
    compressed: bool
    payload_check: int


@dataclass(frozen=True, slots=True)
class RecordCodec:
    """Packs and checks the records of the one segment that has this salt."""

    salt: int

    @property
    def _tag(self) -> int:
        return xxhash.xxh32_intdigest(_CHECK.pack(self.salt))

    @property
    def search_key(self) -> bytes:
        """What every header of this segment starts with, and nothing sent from outside can know."""
        return _MAGIC + struct.pack("<I", self._tag)

    def pack(
        self,
        payload: Buffer,
        *,
        offset: int,
        record_id: int,
        signal: Signal,
        received_ns: int,
        raw_bytes: int,
        compressed: bool,
    ) -> bytes:
        fields = _FIELDS.pack(
            _MAGIC,
            self._tag,
            RECORD_VERSION,
            FLAG_ZSTD if compressed else 0,
            _CODES[signal],
            record_id,
            received_ns,
            len(payload),
            raw_bytes,
            self._payload_check(payload),
        )
        return fields + _CHECK.pack(self._header_check(fields, offset))

    def unpack(self, data: Buffer, *, offset: int) -> RecordHeader | None:
        """None where no valid header of this version starts."""
        fields = bytes(data[: _FIELDS.size])
        if len(data) < RECORD_HEADER_BYTES or fields[:4] != _MAGIC:
            return None
        (check,) = _CHECK.unpack_from(data, _FIELDS.size)
        if check != self._header_check(fields, offset):
            return None
        _, _, version, flags, code, record_id, received_ns, stored, raw, payload_check = _FIELDS.unpack(fields)
        signal = _SIGNALS.get(code)
        if version != RECORD_VERSION or signal is None or flags & ~FLAG_ZSTD:
            return None
        return RecordHeader(
            record_id=record_id,
            signal=signal,
            received_ns=received_ns,
            stored_bytes=stored,
            raw_bytes=raw,
            compressed=bool(flags & FLAG_ZSTD),
            payload_check=payload_check,
        )

    def is_intact(self, header: RecordHeader, payload: Buffer) -> bool:
        return len(payload) == header.stored_bytes and self._payload_check(payload) == header.payload_check

    def _payload_check(self, payload: Buffer) -> int:
        return xxhash.xxh3_64_intdigest(payload, self.salt)

    def _header_check(self, fields: bytes, offset: int) -> int:
        return xxhash.xxh3_64_intdigest(fields, (self.salt + offset) & _MASK)
