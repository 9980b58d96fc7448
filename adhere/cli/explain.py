"""`adhere explain`: one conversation, and why it was or was not judged."""

from __future__ import annotations

import shlex
from typing import Annotated

import typer

from adhere.cli.options import ConfigOption, command_app
from adhere.cli.verdict_text import decision_line, for_terminal, short, verdict_lines
from adhere.config import load_config
from adhere.errors import CommandError
from adhere.run.data_dir import DataDir
from adhere.run.plan import known_calibrations
from collector.assembly.render import to_text
from collector.errors import AdhereError
from collector.live.archive import open_archive as open_conversations
from collector.live.standard import StandardReconstruction
from collector.model import Conversation, Turn
from evaluators.measuring.calibration import Calibrations
from evaluators.store.explain import ConversationRecord
from evaluators.store.explain import open_archive as open_verdicts

app = command_app()


@app.command()
def explain(
    conversation_id: Annotated[
        str, typer.Argument(help="A conversation id or a trace id, or the beginning of either.", show_default=False)
    ],
    config: ConfigOption = None,
) -> None:
    """Show a conversation with its gaps, every verdict with its evidence, and why each unit was or was not judged.

    Reads the data folder of a running or stopped Adhere, and changes nothing in it.
    """
    loaded = load_config(config)
    data = DataDir(loaded.data_dir)
    try:
        with open_conversations(data.conversations, reconstruction=StandardReconstruction()) as conversations:
            conversation = conversations.get(conversation_id)
        record = None
        if data.verdicts.exists():
            with open_verdicts(data.verdicts) as verdicts:
                record = verdicts.explain(conversation.conversation_id, service=conversation.service)
    except AdhereError as err:
        raise CommandError(str(err)) from err
    typer.echo(for_terminal(to_text(conversation)))
    for line in _advice(conversation.turns):
        typer.echo(line)
    typer.echo("")
    for line in _judging(conversation, record, known_calibrations(loaded)):
        typer.echo(line)


def _judging(conversation: Conversation, record: ConversationRecord | None, known: Calibrations) -> list[str]:
    if record is None or not (record.decisions or record.waiting):
        return [
            "judging",
            "  Nothing is decided yet: a turn is judged once it ended and was quiet, a conversation once it is idle.",
        ]
    lines = ["judging"]
    turns = {turn.index: turn for turn in conversation.turns}
    for decided in record.decisions:
        if not decided.current:
            continue
        lines.append(f"  {decision_line(decided, turns.get(decided.turn_index))}")
        if decided.verdict is not None:
            lines += [f"    {line}" for line in verdict_lines(decided.verdict)]
            measured = known.of(decided.verdict)
            lines += [f"    this judge is {measured.text}"] if measured is not None else []
    earlier = sum(not decided.current for decided in record.decisions)
    if earlier:
        lines.append(f"  {earlier} earlier decisions were superseded by later data.")
    lines += [f"  {job.evaluator} waits for its judge: {job.unit_key}" for job in record.waiting]
    if record.dead:
        names = ", ".join(sorted({job.evaluator for job in record.dead}))
        chosen = short(shlex.quote(record.conversation_id))
        lines.append(f"  What {names} gave up is asked again by: adhere judging retry --all --conversation {chosen}")
    return lines


def _advice(turns: tuple[Turn, ...]) -> list[str]:
    from adhere.cli.gap_advice import ADVICE  # noqa: PLC0415 - only where there is a gap to speak of

    found = sorted({gap for turn in turns for gap in turn.gaps})
    return [f"  gap {gap.value}: {ADVICE[gap]}" for gap in found]
