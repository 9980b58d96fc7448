"""Bounded decompression of request bodies: a bomb is refused once it has grown over the limit, never later.

Runs without the GIL for the most part, so it may be called in a thread.
"""

from __future__ import annotations

from enum import StrEnum
from functools import cache

import zstandard
from isal import igzip_lib, isal_zlib

from collector.errors import MalformedRequestError, RequestTooLargeError, UnsupportedEncodingError

_GZIP_WBITS = 31
_ZLIB_WBITS = 15
_ZLIB_PIECE_BYTES = 256 << 10
_MAX_MEMBERS = 4096
"""A member of 16 KiB is the smallest that any compressor writes by itself; a million empty ones take minutes."""
_ZSTD_WINDOW_BYTES = 32 << 20
_ZSTD_CHUNK_BYTES = 1 << 20
_ZSTD_END_TEXT = b"the end of the request"


class ContentEncoding(StrEnum):
    IDENTITY = "identity"
    GZIP = "gzip"
    DEFLATE = "deflate"
    """The zlib format, as HTTP means it."""
    ZSTD = "zstd"


def content_encoding(header: bytes) -> ContentEncoding:
    """Of a Content-Encoding header, empty if there is none."""
    name = header.strip().lower().decode("latin-1") or ContentEncoding.IDENTITY
    try:
        return ContentEncoding(name)
    except ValueError as err:
        accepted = ", ".join(ContentEncoding)
        raise UnsupportedEncodingError(f"The content encoding is not supported; use one of {accepted}.") from err


def inflate(data: bytes, encoding: ContentEncoding, *, max_bytes: int) -> bytes:
    """Raise RequestTooLargeError over `max_bytes` and MalformedRequestError for what is broken or cut."""
    match encoding:
        case ContentEncoding.IDENTITY:
            return data
        case ContentEncoding.GZIP:
            return _inflate_zlib(data, wbits=_GZIP_WBITS, max_bytes=max_bytes)
        case ContentEncoding.DEFLATE:
            return _inflate_zlib(data, wbits=_ZLIB_WBITS, max_bytes=max_bytes)
        case ContentEncoding.ZSTD:
            return _inflate_zstd(data, max_bytes=max_bytes)


def _inflate_zlib(data: bytes, *, wbits: int, max_bytes: int) -> bytes:
    members: list[bytes] = []
    left = max_bytes
    view = memoryview(data)
    while view:
        if len(members) == _MAX_MEMBERS:
            raise MalformedRequestError(
                f"The request has more than {_MAX_MEMBERS} compressed members; send it as one member."
            )
        member, used = _inflate_member(view, wbits=wbits, left=left, max_bytes=max_bytes)
        members.append(member)
        left -= len(member)
        view = view[used:]
    return members[0] if len(members) == 1 else b"".join(members)


def _inflate_member(view: memoryview, *, wbits: int, left: int, max_bytes: int) -> tuple[bytes, int]:
    """What one member holds, and its length. Fed in pieces, since the library copies all that follows a member."""
    decompressor = isal_zlib.decompressobj(wbits=wbits)
    chunks: list[bytes] = []
    size = used = 0
    while not decompressor.eof:
        piece = view[used : used + _ZLIB_PIECE_BYTES]
        if not piece:
            raise _broken()
        try:
            chunk = decompressor.decompress(piece, left + 1 - size)
        except igzip_lib.IsalError as err:  # type: ignore[misc]  # The stubs say it is an instance.
            raise _broken() from err
        size += len(chunk)
        if size > left:
            raise _too_large(max_bytes)
        chunks.append(chunk)
        used += len(piece) - len(decompressor.unconsumed_tail) - len(decompressor.unused_data)
    return chunks[0] if len(chunks) == 1 else b"".join(chunks), used


def _inflate_zstd(data: bytes, *, max_bytes: int) -> bytes:
    decompressor = zstandard.ZstdDecompressor(max_window_size=_ZSTD_WINDOW_BYTES)
    reader = decompressor.stream_reader(data + _zstd_end(), read_across_frames=True)
    chunks: list[bytes] = []
    size = 0
    try:
        while chunk := reader.read(_ZSTD_CHUNK_BYTES):
            chunks.append(chunk)
            size += len(chunk)
            if size > max_bytes + len(_ZSTD_END_TEXT):
                raise _too_large(max_bytes)
    except zstandard.ZstdError as err:
        raise _broken() from err
    body = b"".join(chunks)
    if not body.endswith(_ZSTD_END_TEXT):
        raise _broken()
    return body[: -len(_ZSTD_END_TEXT)]


@cache
def _zstd_end() -> bytes:
    """A frame put after the request's own: it comes out last only if the request's frames were complete."""
    return zstandard.ZstdCompressor().compress(_ZSTD_END_TEXT)


def _broken() -> MalformedRequestError:
    return MalformedRequestError("The request does not decompress as its content encoding says; send it again whole.")


def _too_large(max_bytes: int) -> RequestTooLargeError:
    return RequestTooLargeError(
        f"The request has more than {max_bytes} bytes after decompression; send it in smaller batches."
    )
