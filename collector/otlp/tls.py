"""The receivers' side of TLS, 1.2 or newer."""

from __future__ import annotations

import ssl
from collections.abc import Callable
from functools import partial
from pathlib import Path

import grpc

from collector.errors import PermanentError
from collector.otlp.settings import TlsSettings


def ssl_context(tls: TlsSettings) -> ssl.SSLContext:
    """Raises PermanentError that names the file which cannot be used."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    _load(partial(context.load_cert_chain, tls.cert_file, tls.key_file), tls.cert_file, tls.key_file)
    if tls.client_ca_file is not None:
        _load(partial(context.load_verify_locations, tls.client_ca_file), tls.client_ca_file)
        context.verify_mode = ssl.CERT_REQUIRED
    return context


def grpc_credentials(tls: TlsSettings) -> grpc.ServerCredentials:
    """Raises PermanentError as `ssl_context` does; gRPC itself would open no port, and say nothing of the files."""
    ssl_context(tls)
    client_ca = None if tls.client_ca_file is None else tls.client_ca_file.read_bytes()
    return grpc.ssl_server_credentials(
        [(tls.key_file.read_bytes(), tls.cert_file.read_bytes())],
        root_certificates=client_ca,
        require_client_auth=client_ca is not None,
    )


def _load(load: Callable[[], None], *files: Path) -> None:
    """The library's own error says what is wrong, and not with which file."""
    file: Path | None = None
    try:
        for file in files:
            file.read_bytes()
        load()
    except ssl.SSLError as err:
        names = " with ".join(map(str, files))
        raise PermanentError(f"The TLS files cannot be used: {names} ({err.reason}); give PEM that belongs.") from err
    except OSError as err:
        raise PermanentError(f"The TLS file {file} cannot be read: {err.strerror}; give one that can.") from err
