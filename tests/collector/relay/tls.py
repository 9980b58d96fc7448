"""A certificate authority for these tests, with PEM files for clients and bytes for servers."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import trustme

from collector.relay.destination import ClientTls
from tests.support.otlp_sink import ServerTls


@dataclass(frozen=True, slots=True)
class TestAuthority:
    __test__ = False

    folder: Path
    ca: trustme.CA

    @classmethod
    def in_folder(cls, folder: Path) -> TestAuthority:
        ca = trustme.CA()
        ca.cert_pem.write_to_path(str(folder / "ca.pem"))
        certificate = ca.issue_cert("client@example.com")
        certificate.private_key_pem.write_to_path(str(folder / "client.key"))
        certificate.cert_chain_pems[0].write_to_path(str(folder / "client.pem"))
        return cls(folder, ca)

    def server(self, host: str = "127.0.0.1", *, asks_for_client: bool = False) -> ServerTls:
        certificate = self.ca.issue_cert(host)
        return ServerTls(
            certificate=certificate.cert_chain_pems[0].bytes(),
            key=certificate.private_key_pem.bytes(),
            client_ca=self.ca.cert_pem.bytes() if asks_for_client else None,
        )

    def client(self, *, shows_certificate: bool = False) -> ClientTls:
        if not shows_certificate:
            return ClientTls(ca_file=self.folder / "ca.pem")
        return ClientTls(
            ca_file=self.folder / "ca.pem",
            cert_file=self.folder / "client.pem",
            key_file=self.folder / "client.key",
        )
