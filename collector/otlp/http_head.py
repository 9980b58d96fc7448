"""The head of an HTTP request: what it asks for, decided before a byte of its body is read."""

from __future__ import annotations

from dataclasses import dataclass, field

from collector.errors import RequestTooLargeError, UnsupportedEncodingError
from collector.otlp.access import BearerCheck
from collector.otlp.inflate import ContentEncoding, content_encoding
from collector.otlp.intake import MediaType
from collector.otlp.refusals import UnknownPathError, WrongMethodError
from collector.telemetry.records import Signal

_SIGNALS = {f"/v1/{signal.value}".encode(): signal for signal in Signal}
_MEDIA_TYPES = {
    b"application/x-protobuf": MediaType.PROTOBUF,
    b"application/protobuf": MediaType.PROTOBUF,
    b"application/json": MediaType.JSON,
}


@dataclass(slots=True)
class Head:
    """Filled by the parser's callbacks, header by header."""

    target: bytes = b""
    method: bytes = b""
    headers: dict[bytes, bytes] = field(default_factory=dict)
    """Lower-case names; of a repeated header the values are joined with a comma."""
    size: int = 0
    keep_alive: bool = True

    def add(self, name: bytes, value: bytes) -> None:
        name = name.lower()
        known = self.headers.get(name)
        self.headers[name] = value if known is None else known + b", " + value

    @property
    def answer_media(self) -> MediaType:
        """An answer has the request's content type; who sends neither of ours can probably read JSON."""
        return _media_type(self) or MediaType.JSON

    @property
    def expects_continue(self) -> bool:
        return self.headers.get(b"expect", b"").lower() == b"100-continue"

    @property
    def content_length(self) -> int | None:
        """None: chunked, so unknown until it has arrived."""
        return int(self.headers[b"content-length"]) if b"content-length" in self.headers else None


@dataclass(frozen=True, slots=True)
class Target:
    """What an acceptable head asks for."""

    signal: Signal
    media: MediaType
    encoding: ContentEncoding


def check_head(head: Head, *, bearer: BearerCheck, max_request_bytes: int) -> Target:
    """Raise the error that refuses this request, the caller's identity first."""
    bearer.check(head.headers.get(b"authorization"))
    path = head.target.partition(b"?")[0]
    signal = _SIGNALS.get(path)
    if signal is None:
        raise UnknownPathError(f"Nothing is served at this path; send OTLP to one of {_paths()}.")
    if head.method != b"POST":
        raise WrongMethodError("OTLP requests are sent with POST; use it.")
    media = _media_type(head)
    if media is None:
        raise UnsupportedEncodingError(f"The content type is not supported; use one of {', '.join(MediaType)}.")
    encoding = content_encoding(head.headers.get(b"content-encoding", b""))
    length = head.content_length
    if length is not None and length > max_request_bytes:
        raise RequestTooLargeError(
            f"The request announces {length} bytes and {max_request_bytes} are allowed; send it in smaller batches."
        )
    return Target(signal, media, encoding)


def _media_type(head: Head) -> MediaType | None:
    name = head.headers.get(b"content-type", b"").partition(b";")[0].strip().lower()
    return _MEDIA_TYPES.get(name)


def _paths() -> str:
    return ", ".join(path.decode() for path in _SIGNALS)
