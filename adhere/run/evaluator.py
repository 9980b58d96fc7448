"""The evaluator process: reads the journal, rebuilds conversations, judges them, hands the verdicts on.

The composition root of this process. It ends upstream first: the tail stops reading, the pipeline decides on what it
has, the outbox delivers what it can; the rest is on disk.
"""

from __future__ import annotations

import asyncio
import os
import random

import structlog
from prometheus_client import CollectorRegistry, ProcessCollector

from adhere.config.model import Config
from adhere.errors import UsageError
from adhere.run import judging, plan
from adhere.run.data_dir import DataDir
from adhere.run.destinations import relay_destinations
from adhere.run.enriching import Enriching, PokingSink
from adhere.run.enriching_relays import EnrichingRelays
from adhere.run.exporting import exporter_context
from adhere.run.handing_over import HandOver
from adhere.run.lifetime import Lifetime
from adhere.run.loop_lag import measure_loop_lag
from adhere.run.open_files import raise_open_files
from adhere.run.role_lock import RoleLock
from adhere.run.stopping import Steps
from adhere.run.tuning import settle_in
from collector.clock import Clock, SystemClock
from collector.errors import PermanentError
from collector.journal.metrics import JournalMetrics
from collector.journal.reader import JournalReader
from collector.live.metrics import LiveMetrics
from collector.live.schema import NewerStateError
from collector.live.standard import StandardReconstruction
from collector.live.tail import JournalTail
from collector.live.tracker import ConversationTracker
from evaluators.agent_rubric.shelf import RubricShelf
from evaluators.judge.judge import Judge
from evaluators.judge.metrics import JudgeMetrics
from evaluators.measuring.calibration_metrics import show_calibrations
from evaluators.pipeline.pipeline import JudgingPipeline
from evaluators.pipeline.setup import make_setups
from evaluators.registry import EvaluatorRegistry
from evaluators.store.states import StoredStates
from evaluators.store.thread import StoreThread
from evaluators.verdict import UnitKind
from exporters.exporter import Exporter
from exporters.exposition import of_process, registry_source
from exporters.metrics import ExportMetrics
from exporters.outbox.outbox import Outbox
from exporters.outbox.runner import OutboxRunner
from exporters.registry import build_exporters
from exporters.server import OperationsServer

log = structlog.get_logger(__name__)


async def run_evaluator(config: Config, lifetime: Lifetime) -> None:
    raise_open_files()
    data = DataDir(config.data_dir)
    data.create()
    with RoleLock(data.path, "evaluator"):
        stopping = Steps(SystemClock())
        try:
            await _run(config, lifetime, data, stopping)
        except (PermanentError, NewerStateError) as err:
            # A file of a newer release, an option that cannot work: starting again would not help.
            raise UsageError(str(err)) from err
        finally:
            await stopping.run(config.shutdown_s)


async def _run(config: Config, lifetime: Lifetime, data: DataDir, stopping: Steps) -> None:
    clock = SystemClock()
    rng = random.SystemRandom()
    registry, shared_registry = CollectorRegistry(), CollectorRegistry()
    ProcessCollector(registry=shared_registry)
    await _serve_metrics(data, registry, shared_registry, clock=clock, stopping=stopping)

    store = await asyncio.to_thread(StoreThread, data.verdicts, clock=clock)
    stopping.add("verdict store", lambda _: asyncio.to_thread(store.close))
    judge = await _judge(config, data, registry, store=store, clock=clock, rng=rng)
    if judge is not None:
        stopping.add("judge", lambda _: judge.shutdown())
    setups = make_setups(
        [(entry.name, entry.options) for entry in config.evaluators],
        registry=EvaluatorRegistry(),
        judge=judge,
        states=StoredStates(store, clock=clock),
        rubrics=RubricShelf(data.rubrics),
    )
    show_calibrations(registry, [setup.evaluator for setup in setups], plan.known_calibrations(config))
    outbox = await _outbox(config, data, registry, clock=clock, rng=rng, stopping=stopping)
    journal_metrics = JournalMetrics(shared_registry)
    relaying = EnrichingRelays(
        data,
        clock=clock,
        rng=rng,
        journal_metrics=journal_metrics,
        registry=registry,
        shared_registry=shared_registry,
        declared=plan.declared_spans(config),
    )
    destinations = relay_destinations(config.relay, environ=os.environ, sender_id=data.sender_id())
    enriched = [
        await relaying.open(destination, relay, stopping=stopping)
        for destination, relay in plan.relays(config, destinations, enrich=True)
    ]
    for destination, relay in plan.relays(config, destinations, enrich=False):
        await relaying.send_what_is_left(destination, relay, stopping=stopping)
    enriching = Enriching(
        enriched,
        store=store,
        evaluators=[setup.name for setup in setups if setup.evaluator.unit_kind is UnitKind.TURN],
        clock=clock,
    )
    bringing = asyncio.create_task(enriching.run(), name="scores for held spans")
    stopping.add("scores for held spans", lambda _: _cancel(bringing))
    pipeline = JudgingPipeline(
        setups,
        store=store,
        sink=PokingSink(outbox, enriching),
        clock=clock,
        random=rng,
        registry=registry,
        limits=judging.pipeline_limits(config),
        retention=judging.retention(config),
    )
    await pipeline.start()
    stopping.add("pipeline", pipeline.shutdown)

    live_metrics = LiveMetrics(registry)
    tracker = await asyncio.to_thread(
        ConversationTracker,
        data.conversations,
        reconstruction=StandardReconstruction(declared=plan.declared_spans(config)),
        clock=clock,
        metrics=live_metrics,
        config=plan.live_config(config),
    )
    stopping.add("conversations", lambda _: asyncio.to_thread(tracker.close))
    reader = await asyncio.to_thread(
        JournalReader, data.journal, plan.EVALUATOR_CURSOR, clock=clock, metrics=journal_metrics
    )
    stopping.add("journal reader", lambda _: asyncio.to_thread(reader.close))
    tail = JournalTail(
        reader, tracker, deliver=HandOver(pipeline, on_turn=enriching.turn_ready), clock=clock, metrics=live_metrics
    )
    reading = asyncio.create_task(tail.run(), name="tail")
    stopping.add("tail task", lambda _: _cancel(reading))
    stopping.add("tail", tail.shutdown)
    running = asyncio.create_task(pipeline.wait(), name="pipeline")
    lagging = asyncio.create_task(measure_loop_lag(registry, process="evaluator", clock=clock), name="loop lag")
    ended = asyncio.create_task(lifetime.ended(), name="lifetime")
    stopping.add("background", lambda _: _cancel(running, lagging, ended))

    settle_in()
    log.info(
        "evaluator ready",
        evaluators=[setup.name for setup in setups],
        exporters=list(outbox.destinations),
        relays=relaying.names,
        judge=judge.name if judge else None,
    )
    if judge is None:
        log.warning(
            "no judge configured",
            effect="task_adherence, role_adherence and conversation_completeness answer not_assessable; rules run",
            way_out="set judge.model and judge.base_url in the configuration, or OPENAI_API_KEY in the environment",
        )
    await _first_end(ended, reading, running, lagging, *([bringing] if enriched else []))
    log.info("evaluator stopping")


async def _first_end(*tasks: asyncio.Task[None]) -> None:
    """Until one of them ends; raises what ended it, for the supervisor to start the process again."""
    done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    for task in done:
        task.result()


async def _cancel(*tasks: asyncio.Task[None]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def _judge(
    config: Config,
    data: DataDir,
    registry: CollectorRegistry,
    *,
    store: StoreThread,
    clock: Clock,
    rng: random.Random,
) -> Judge | None:
    settings = judging.judge_settings(config, environ=os.environ)
    if settings is None:
        return None
    from evaluators.judge.connect import connect  # noqa: PLC0415 - loads the HTTP client, for those who have a judge

    metrics = JudgeMetrics(registry)
    ledger = await judging.open_ledger(config, store, clock=clock, metrics=metrics)
    return connect(settings, fence_secret=data.fence_secret(), clock=clock, random=rng, metrics=metrics, ledger=ledger)


async def _outbox(
    config: Config, data: DataDir, registry: CollectorRegistry, *, clock: Clock, rng: random.Random, stopping: Steps
) -> Outbox:
    metrics = ExportMetrics(registry)
    context = exporter_context(
        data.path,
        clock=clock,
        registry=registry,
        metrics=metrics,
        environ=os.environ,
        sender_id=data.sender_id(),
    )
    exporters: list[Exporter] = []
    for entry in config.exporters:
        exporters += build_exporters(entry.name, entry.options, context=context)
    outbox = Outbox(data.outbox, destinations=[one.name for one in exporters], clock=clock, metrics=metrics)
    await outbox.start()
    stopping.add("outbox", outbox.shutdown)
    runner = OutboxRunner(exporters, outbox=outbox, clock=clock, random=rng, metrics=metrics)
    await runner.start()
    stopping.add("exporters", runner.shutdown)
    return outbox


async def _serve_metrics(
    data: DataDir,
    registry: CollectorRegistry,
    shared_registry: CollectorRegistry,
    *,
    clock: Clock,
    stopping: Steps,
) -> None:
    """For the collector, which shows both processes on one page. Journal families have the same names in both."""
    server = OperationsServer(
        sources={
            "scores": registry_source(registry),
            "journal": of_process(registry_source(shared_registry), "evaluator"),
        },
        alive=lambda: True,
        ready=lambda: True,
        clock=clock,
    )
    await server.start()
    stopping.add("metrics", server.shutdown)
    data.write_evaluator_port(server.port)
    stopping.add("metrics port", lambda _: asyncio.to_thread(data.clear_evaluator_port))
