"""`logfire`: evaluation events in Pydantic Logfire."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Final, Literal

from pydantic import Field, SecretStr

from collector.relay.destination import Destination, DestinationError
from collector.relay.senders import open_sender
from exporters.errors import ExporterConfigError
from exporters.exporter import Exporter
from exporters.logfire import logfire_exporter
from exporters.registry import ExporterContext, ExporterKind, ExporterOptions


class LogfireOptions(ExporterOptions):
    token: SecretStr
    """The project's write token, as in LOGFIRE_TOKEN."""
    region: Literal["us", "eu"] = "us"
    """Where the project is."""
    endpoint: str | None = None
    """The address in full, for a Logfire of one's own."""
    timeout_s: Annotated[float, Field(gt=0, le=3600)] = 10.0
    """Bound of one call (seconds)."""
    content: bool = True
    """Send the explanation and the evidence, which may quote the conversation."""


def _build(name: str, options: LogfireOptions, context: ExporterContext) -> Sequence[Exporter]:
    try:
        destination = Destination(
            endpoint=options.endpoint or f"https://logfire-{options.region}.pydantic.dev",
            name=name,
            protocol="http/protobuf",
            headers={"authorization": options.token.get_secret_value()},
            timeout_s=options.timeout_s,
        )
    except DestinationError as err:
        raise ExporterConfigError(f"The exporter {name!r} cannot work: {err}") from err
    rejected = context.metrics.rejected.labels(name)
    sender = open_sender(destination, clock=context.clock, on_rejected=lambda _, count: rejected.inc(count))
    return [logfire_exporter(name, sender=sender, version=context.version, content=options.content)]


KIND: Final = ExporterKind(LogfireOptions, _build)
