"""The head of an HTTP request: what it asks for, decided before a byte of its body is read."""

from __future__ import annotations

from dataclasses import dataclass, field

from collector.errors import RequestTooLargeError, UnsupportedEncodingError
from collector.otlp.access import CallerCheck
from collector.otlp.inflate import ContentEncoding, content_encoding
from collector.otlp.intake import MediaType
from collector.otlp.refusals import UnknownPathError, WrongMethodError
from collector.sender_id import SENDER_HEADER
from collector.telemetry.records import Signal

_SIGNALS = {f"/v1/{signal.value}".encode(): signal for signal in Signal}
_SENDER = SENDER_HEADER.encode()
_OFFER = frozenset({b"upgrade", b"http2-settings"})
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
    version: str = "1.1"
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
        """HTTP/1.0 knows no such expectation (RFC 9110, 10.1.1)."""
        return self.version != "1.0" and self.headers.get(b"expect", b"").lower() == b"100-continue"

    @property
    def content_length(self) -> int | None:
        """None: chunked, so unknown until it has arrived."""
        return int(self.headers[b"content-length"]) if b"content-length" in self.headers else None

    def without_offer(self) -> bytes:
        """The head as it would be if it offered no upgrade to another protocol."""
        left = {name: value for name, value in self.headers.items() if name not in _OFFER}
        options = [option.strip() for option in left.pop(b"connection", b"").lower().split(b",")]
        if b"close" in options:
            left[b"connection"] = b"close"
        lines = b"".join(b"%b: %b\r\n" % line for line in left.items())
        return b"%b %b HTTP/%b\r\n%b\r\n" % (self.method, self.target, self.version.encode(), lines)


@dataclass(frozen=True, slots=True)
class Target:
    """What an acceptable head asks for."""

    signal: Signal
    media: MediaType
    encoding: ContentEncoding


def check_head(head: Head, *, caller: CallerCheck, max_request_bytes: int) -> Target:
    """Raise the error that refuses this request, the caller's identity first."""
    caller.check(authorization=head.headers.get(b"authorization"), sender=head.headers.get(_SENDER))
    signal = _SIGNALS.get(_path(head.target))
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


def _path(target: bytes) -> bytes:
    """Also of a target with scheme and host, which a server must take (RFC 9112, 3.2.2)."""
    path = target.partition(b"?")[0]
    if path.startswith(b"/"):
        return path
    return b"/" + path.partition(b"://")[2].partition(b"/")[2]


def _media_type(head: Head) -> MediaType | None:
    name = head.headers.get(b"content-type", b"").partition(b";")[0].strip().lower()
    return _MEDIA_TYPES.get(name)


def _paths() -> str:
    return ", ".join(path.decode() for path in _SIGNALS)
