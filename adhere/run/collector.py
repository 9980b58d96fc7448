"""The collector process: receivers, journal, relays, and the port of metrics and probes.

The composition root of this process; it alone knows which classes are behind the protocols. It ends upstream first:
the receivers stop, then the relays, then the journal.
"""

from __future__ import annotations

import asyncio
import errno
import os
import random
import socket
from collections.abc import Awaitable, Callable, Sequence
from functools import partial

import structlog
from prometheus_client import CollectorRegistry, PlatformCollector, ProcessCollector

from adhere.config.base import split_endpoint
from adhere.config.model import Config
from adhere.errors import UsageError
from adhere.run import plan
from adhere.run.data_dir import Addresses, DataDir
from adhere.run.destinations import relay_destinations
from adhere.run.lifetime import Lifetime
from adhere.run.loop_lag import measure_loop_lag
from adhere.run.open_files import raise_open_files
from adhere.run.peer_metrics import PeerMetrics
from adhere.run.relaying import KeptRelay
from adhere.run.role_lock import RoleLock
from adhere.run.stopping import Steps
from adhere.run.tuning import settle_in
from collector.clock import Clock, SystemClock
from collector.errors import PermanentError
from collector.journal.metrics import JournalMetrics
from collector.journal.reader import JournalReader
from collector.journal.writer import JournalWriter
from collector.otlp.grpc import GrpcReceiver
from collector.otlp.http import HttpReceiver
from collector.otlp.intake import Intake
from collector.otlp.metrics import ReceiverMetrics
from collector.relay.metrics import RelayMetrics
from exporters.exposition import registry_source
from exporters.server import OperationsServer

log = structlog.get_logger(__name__)

_RECEIVERS_SHARE = 0.6


async def run_collector(config: Config, lifetime: Lifetime) -> None:
    clock = SystemClock()
    data = DataDir(config.data_dir)
    data.create()
    with RoleLock(data.path, "collector"):
        await _run(config, lifetime, data, clock=clock)


async def _run(config: Config, lifetime: Lifetime, data: DataDir, *, clock: Clock) -> None:
    stopping = Steps(clock)
    registry = CollectorRegistry()
    ProcessCollector(registry=registry)
    PlatformCollector(registry=registry)
    sender_id = data.sender_id()
    destinations = relay_destinations(config.relay, environ=os.environ, sender_id=sender_id)
    journal_metrics = JournalMetrics(registry)
    journal = JournalWriter(
        plan.journal_settings(config, directory=data.journal),
        cursors=[plan.EVALUATOR_CURSOR],
        yielding=[plan.relay_cursor(destination) for destination in destinations],
        clock=clock,
        metrics=journal_metrics,
    )
    limits = plan.limits(config, open_files=raise_open_files())
    intake = Intake(journal, limits=limits, metrics=ReceiverMetrics(registry), clock=clock)
    http_settings = plan.http_settings(config, sender_id=sender_id)
    grpc_settings = plan.grpc_settings(config, sender_id=sender_id)
    http = HttpReceiver(http_settings, intake=intake) if config.receivers.http.enabled else None
    grpc = GrpcReceiver(grpc_settings, intake=intake) if config.receivers.grpc.enabled else None
    wanted = ((grpc, config.receivers.grpc.endpoint), (http, config.receivers.http.endpoint))
    receiving = asyncio.Event()
    host, port = split_endpoint(config.telemetry.endpoint)
    peer = PeerMetrics(data)
    operations = OperationsServer(
        sources={"collector": registry_source(registry), "evaluator": peer},
        alive=lambda: True,
        ready=lambda: receiving.is_set() and journal.is_accepting,
        clock=clock,
        host=host,
        port=port,
        allowed_hosts=plan.telemetry_hosts(config),
        token=plan.secret(config.telemetry.bearer_token),
    )
    tasks: list[asyncio.Task[None]] = []
    try:
        await _start("telemetry", config.telemetry.endpoint, operations.start)
        stopping.add("telemetry", operations.shutdown)
        stopping.add("peer metrics", lambda _: peer.close())
        await _start("journal", str(data.journal), journal.start)
        stopping.add("journal", lambda left_s: journal.close(deadline_s=left_s))
        data.clear_addresses()  # a killed one left its own behind
        relay_metrics = RelayMetrics(registry)
        for destination, relay in plan.relays(config, destinations, enrich=False):
            kept = KeptRelay(
                destination,
                signals=relay.signals,
                open_reader=partial(
                    JournalReader,
                    data.journal,
                    plan.relay_cursor(destination),
                    clock=clock,
                    metrics=journal_metrics,
                ),
                dead_letters=data.dead_letters,
                metrics=relay_metrics,
                clock=clock,
                rng=random.SystemRandom(),
            )
            tasks.append(asyncio.create_task(kept.run(), name=f"relay {destination.name}"))
            stopping.add(f"relay {destination.name}", kept.shutdown)
        tasks.append(asyncio.create_task(measure_loop_lag(registry, process="collector", clock=clock)))
        receivers = [(receiver, endpoint) for receiver, endpoint in wanted if receiver is not None]
        stopping.add("receivers", partial(_stop_receivers, [receiver for receiver, _ in receivers]))
        for receiver, endpoint in receivers:
            await _start("receiver", endpoint, receiver.start)
        receiving.set()
        data.write_addresses(
            Addresses(
                grpc=_address(config.receivers.grpc.endpoint, grpc.port) if grpc else None,
                http=_address(config.receivers.http.endpoint, http.port) if http else None,
                telemetry=_address(config.telemetry.endpoint, operations.port),
            )
        )
        stopping.add("addresses", partial(_clear, data, operations))
        settle_in()
        relayed = [destination.name for destination, _ in plan.relays(config, destinations, enrich=False)]
        log.info("collector ready", relays=relayed)
        await lifetime.ended()
        log.info("collector stopping")
    finally:
        await stopping.run(config.shutdown_s)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _stop_receivers(receivers: Sequence[GrpcReceiver | HttpReceiver], left_s: float) -> None:
    """All at once, and not with all the time: a client that trickles must not take it from the relays."""
    await asyncio.gather(*(receiver.shutdown(left_s * _RECEIVERS_SHARE) for receiver in receivers))


def _reason(err: OSError | RuntimeError) -> str:
    """In the system's own words, without the library's around them."""
    if not isinstance(err, OSError):
        return str(err)
    is_of_system = err.errno is not None and err.errno in errno.errorcode and not isinstance(err, socket.gaierror)
    return os.strerror(err.errno or 0) if is_of_system else err.strerror or str(err)


async def _clear(data: DataDir, operations: OperationsServer, _left_s: float) -> None:
    operations.drain()
    data.clear_addresses()


async def _start(what: str, where: str, start: Callable[[], Awaitable[None]]) -> None:
    """What cannot start here will not start when it is tried again: a port taken, a file of a newer version."""
    try:
        await start()
    except (OSError, RuntimeError) as err:
        is_taken = isinstance(err, OSError) and err.errno == errno.EADDRINUSE
        way_out = "is another Adhere running here?" if is_taken else f"choose another for the {what}."
        raise UsageError(f"The {what} {where} cannot be opened: {_reason(err)}; {way_out}") from err
    except PermanentError as err:
        raise UsageError(str(err)) from err


def _address(endpoint: str, port: int) -> str:
    host, _ = split_endpoint(endpoint)
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
