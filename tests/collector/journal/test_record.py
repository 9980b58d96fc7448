"""The form of one record."""

from __future__ import annotations

import pytest

from collector.journal.record import RECORD_HEADER_BYTES, RecordCodec, RecordHeader
from collector.telemetry.records import Signal

CODEC = RecordCodec(salt=0x1234_5678_9ABC_DEF0)


def pack(payload: bytes = b"payload", *, offset: int = 1024, codec: RecordCodec = CODEC) -> bytes:
    header = codec.pack(
        payload, offset=offset, record_id=9, signal=Signal.LOGS, received_ns=77, raw_bytes=20, compressed=True
    )
    return header + payload


def test_a_header_says_what_was_packed():
    packed = pack(b"payload")

    header = CODEC.unpack(packed, offset=1024)

    assert header is not None
    assert header == RecordHeader(
        record_id=9,
        signal=Signal.LOGS,
        received_ns=77,
        stored_bytes=7,
        raw_bytes=20,
        compressed=True,
        payload_check=header.payload_check,
    )
    assert CODEC.is_intact(header, b"payload")


@pytest.mark.parametrize("signal", list(Signal))
def test_every_signal_comes_back(signal):
    packed = CODEC.pack(b"", offset=0, record_id=1, signal=signal, received_ns=0, raw_bytes=0, compressed=False)

    header = CODEC.unpack(packed, offset=0)

    assert header is not None
    assert header.signal is signal


def test_no_flipped_bit_passes_for_a_header():
    packed = pack()

    passed = [bit for bit in range(RECORD_HEADER_BYTES * 8) if CODEC.unpack(flipped(packed, bit), offset=1024)]

    assert passed == []


@pytest.mark.parametrize("payload", [b"Payload", b"payloa", b"payload!", b""], ids=["flipped", "cut", "longer", "none"])
def test_another_payload_is_not_intact(payload):
    header = CODEC.unpack(pack(b"payload"), offset=1024)

    assert header is not None
    assert not CODEC.is_intact(header, payload)


def test_a_record_is_valid_at_its_own_offset_only():
    assert CODEC.unpack(pack(offset=1024), offset=1025) is None


def test_a_record_is_valid_in_its_own_segment_only():
    assert CODEC.unpack(pack(codec=RecordCodec(salt=1)), offset=1024) is None


@pytest.mark.parametrize("length", [0, 3, 4, RECORD_HEADER_BYTES - 1])
def test_a_cut_header_is_none(length):
    assert CODEC.unpack(pack()[:length], offset=1024) is None


def flipped(data: bytes, bit: int) -> bytes:
    changed = bytearray(data)
    changed[bit // 8] ^= 1 << bit % 8
    return bytes(changed)
