"""Options that every exporter to a backend's API takes, and the client that they give."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, SecretStr

from collector.relay.destination import ClientTls
from exporters.http_api import HttpApi
from exporters.registry import ExporterContext, ExporterOptions

Seconds = Annotated[float, Field(gt=0, le=3600)]


class ApiTlsOptions(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True, hide_input_in_errors=True)

    ca_file: Path | None = None
    """CA of the server, PEM; the system's CAs if not set."""
    cert_file: Path | None = None
    """Our own certificate, PEM, for servers that ask for one; goes with `key_file`."""
    key_file: Path | None = None
    """Its private key, PEM."""


class ApiOptions(ExporterOptions):
    headers: dict[str, SecretStr] = Field(default_factory=dict)
    """Sent with every request besides the backend's own, for gateways."""
    timeout_s: Seconds = 10.0
    """Bound of one call (seconds)."""
    target_wait_s: Annotated[float, Field(ge=0, le=7 * 86400)] = 900.0
    """How long a score is tried again whose span, trace or session the backend does not know; then it becomes a dead
    letter (seconds)."""
    content: bool = True
    """Send the explanation and the evidence, which may quote the conversation."""
    tls: ApiTlsOptions = ApiTlsOptions()


def open_api(
    base_url: str, *, name: str, options: ApiOptions, context: ExporterContext, headers: Mapping[str, str] | None = None
) -> HttpApi:
    """`headers` are the backend's own; those of the options win. Raises ExporterConfigError."""
    chosen = {key.lower(): value for key, value in (headers or {}).items()}
    chosen |= {key.lower(): value.get_secret_value() for key, value in options.headers.items()}
    return HttpApi(
        base_url,
        name=name,
        clock=context.clock,
        headers=chosen,
        timeout_s=options.timeout_s,
        target_wait_s=options.target_wait_s,
        tls=ClientTls(ca_file=options.tls.ca_file, cert_file=options.tls.cert_file, key_file=options.tls.key_file),
    )


def bearer(key: SecretStr | None) -> dict[str, str]:
    return {} if key is None else {"authorization": f"Bearer {key.get_secret_value()}"}


def basic(user: str, password: str) -> dict[str, str]:
    return {"authorization": f"Basic {base64.b64encode(f'{user}:{password}'.encode()).decode()}"}
