"""The receivers' side of TLS, 1.2 or newer."""

from __future__ import annotations

import ssl

import grpc

from collector.otlp.settings import TlsSettings


def ssl_context(tls: TlsSettings) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.load_cert_chain(tls.cert_file, tls.key_file)
    if tls.client_ca_file is not None:
        context.load_verify_locations(tls.client_ca_file)
        context.verify_mode = ssl.CERT_REQUIRED
    return context


def grpc_credentials(tls: TlsSettings) -> grpc.ServerCredentials:
    client_ca = None if tls.client_ca_file is None else tls.client_ca_file.read_bytes()
    return grpc.ssl_server_credentials(
        [(tls.key_file.read_bytes(), tls.cert_file.read_bytes())],
        root_certificates=client_ca,
        require_client_auth=client_ca is not None,
    )
