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
    while data:
        decompressor = isal_zlib.decompressobj(wbits=wbits)
        try:
            member = decompressor.decompress(data, left + 1)
        except igzip_lib.IsalError as err:  # type: ignore[misc]  # The stubs say it is an instance.
            raise _broken() from err
        if len(member) > left:
            raise _too_large(max_bytes)
        if not decompressor.eof:
            raise _broken()
        members.append(member)
        left -= len(member)
        data = decompressor.unused_data
    return members[0] if len(members) == 1 else b"".join(members)


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
