"""What to do about each gap: which option of which instrumentation to set."""

from __future__ import annotations

from collections.abc import Mapping

from collector.model import GapKind

ADVICE: Mapping[GapKind, str] = {
    GapKind.CONTENT_OFF: (
        "the instrumentation sends no message content; set OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT to"
        " SPAN_AND_EVENT (older releases: true), TRACELOOP_TRACE_CONTENT=true, or unset OPENINFERENCE_HIDE_INPUTS and"
        " OPENINFERENCE_HIDE_OUTPUTS."
    ),
    GapKind.CONTENT_ELSEWHERE: (
        "content was uploaded and only referred to; unset OTEL_INSTRUMENTATION_GENAI_COMPLETION_HOOK to have it in the"
        " telemetry."
    ),
    GapKind.USER_INPUT_MISSING: (
        "no user message came with this turn; record the input on the agent span, or send the whole message list."
    ),
    GapKind.OUTPUT_MISSING: (
        "no answer came: the turn failed or was cut off, or its output is not recorded. OpenLLMetry with message events"
        " sends the answer of a stream that is read outside of any span without trace and span id, so that nothing"
        " says whose it is; put a span around the reading, or record messages as attributes (use_legacy_attributes)."
    ),
    GapKind.TOOL_RESULT_MISSING: (
        "a tool's result is in no span and no later model call; instrument the tool (execute_tool span with"
        " gen_ai.tool.call.result)."
    ),
    GapKind.TOOL_ARGUMENTS_MISSING: "a tool call came without arguments; record gen_ai.tool.call.arguments.",
    GapKind.ORPHAN_RESULT: "a tool result came without its call: the model call before it was not recorded.",
    GapKind.TRUNCATED: (
        "a value was cut; raise OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT and OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT in the"
        " application."
    ),
    GapKind.ATTRIBUTES_DROPPED: (
        "the SDK dropped attributes; raise OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT (default 128) in the application."
    ),
    GapKind.REDACTED: "a value was redacted before it was sent; the judge sees the placeholder.",
    GapKind.HISTORY_EDITED: "the replayed history differs from what was sent earlier: the application edits it.",
    GapKind.HISTORY_COMPACTED: "the agent summarised earlier messages; they are known only from earlier calls.",
    GapKind.HISTORY_UNSEEN: (
        "earlier turns are known from replayed history only; their own spans were sampled out, or sent before"
        " Adhere ran."
    ),
    GapKind.SPANS_MISSING: "a parent span never arrived: still open, sampled out, or sent to another receiver.",
    GapKind.UNDECODABLE: "a content attribute could not be decoded; report the instrumentation and its version.",
}
