"""What every part of the configuration shares: strict keys, immutable values, descriptions from the docstrings."""

from __future__ import annotations

import ipaddress
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, SecretStr


class ConfigPart(BaseModel):
    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        use_attribute_docstrings=True,
        validate_default=True,
        hide_input_in_errors=True,
        # Without an end a wait is not a bound.
        allow_inf_nan=False,
    )


def _endpoint(value: str) -> str:
    host, separator, port = value.rpartition(":")
    if not separator or not port.isdigit() or int(port) > 65535:
        raise ValueError(f"{value!r} is not host:port, such as 127.0.0.1:4317")
    if not host:
        raise ValueError(f"{value!r} names no host; write 0.0.0.0{value} to listen on every address")
    if "/" in host:
        raise ValueError(f"{value!r} is a URL; write host:port alone, such as 127.0.0.1:4317")
    return value


Endpoint = Annotated[str, AfterValidator(_endpoint)]
"""host:port to listen on; port 0 takes a free one."""


def _token(value: SecretStr) -> SecretStr:
    if not value.get_secret_value().strip():
        raise ValueError("the token is empty, which would let everyone in; set one, or leave the key out")
    return value


Token = Annotated[SecretStr, AfterValidator(_token)]
"""A secret that callers must show."""


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
