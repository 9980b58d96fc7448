"""What every part of the configuration shares: strict keys, immutable values, descriptions from the docstrings."""

from __future__ import annotations

import ipaddress
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict


class ConfigPart(BaseModel):
    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        use_attribute_docstrings=True,
        validate_default=True,
        hide_input_in_errors=True,
    )


def _endpoint(value: str) -> str:
    host, separator, port = value.rpartition(":")
    if not separator or not port.isdigit() or int(port) > 65535:
        raise ValueError(f"{value!r} is not host:port, such as 127.0.0.1:4317")
    if not host:
        raise ValueError(f"{value!r} names no host; write 0.0.0.0{value} to listen on every address")
    return value


Endpoint = Annotated[str, AfterValidator(_endpoint)]
"""host:port to listen on; port 0 takes a free one."""


def split_endpoint(endpoint: str) -> tuple[str, int]:
    host, _, port = endpoint.rpartition(":")
    return host.strip("[]"), int(port)


def is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
