"""An agent application as a team would write it: OpenTelemetry's own SDK and exporters, configured by environment only.

Run as a process: `python -m tests.support.agent_app`. It prints the ids of its turns' spans as JSON lines. Nothing in
it knows Adhere.
"""

from __future__ import annotations

import json
import sys

from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter as GrpcSpanExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter as HttpSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

SYSTEM = "You are the desk of a library. Check the member with check_member before renew_loan."


def _text(role: str, text: str) -> dict[str, object]:
    return {"role": role, "parts": [{"type": "text", "content": text}]}


def _call(call_id: str, name: str, arguments: dict[str, object]) -> dict[str, object]:
    part = {"type": "tool_call", "id": call_id, "name": name, "arguments": arguments}
    return {"role": "assistant", "parts": [part]}


def _result(call_id: str, result: object) -> dict[str, object]:
    return {"role": "tool", "parts": [{"type": "tool_call_response", "id": call_id, "response": result}]}


class LibraryDesk:
    """Renews a loan without the check that its policy asks for, then answers a second question well."""

    def __init__(self, tracer: trace.Tracer, conversation_id: str) -> None:
        self._tracer = tracer
        self._conversation_id = conversation_id
        self._history: list[dict[str, object]] = []

    def turn(self, user: str, calls: list[tuple[str, dict[str, object], object]], answer: str) -> dict[str, str]:
        self._history.append(_text("user", user))
        with self._tracer.start_as_current_span("invoke_agent desk") as span:
            span.set_attribute("gen_ai.operation.name", "invoke_agent")
            span.set_attribute("gen_ai.agent.name", "desk")
            span.set_attribute("gen_ai.conversation.id", self._conversation_id)
            for number, (name, arguments, result) in enumerate(calls):
                call_id = f"call_{len(self._history)}_{number}"
                self._chat(_call(call_id, name, arguments))
                with self._tracer.start_as_current_span(f"execute_tool {name}") as tool:
                    tool.set_attribute("gen_ai.operation.name", "execute_tool")
                    tool.set_attribute("gen_ai.tool.name", name)
                    tool.set_attribute("gen_ai.tool.call.id", call_id)
                    tool.set_attribute("gen_ai.tool.call.arguments", json.dumps(arguments))
                    tool.set_attribute("gen_ai.tool.call.result", json.dumps(result))
                self._history.append(_result(call_id, result))
            self._chat(_text("assistant", answer))
            context = span.get_span_context()
            return {"trace_id": f"{context.trace_id:032x}", "span_id": f"{context.span_id:016x}"}

    def _chat(self, output: dict[str, object]) -> None:
        with self._tracer.start_as_current_span("chat gpt-4o-mini", kind=trace.SpanKind.CLIENT) as span:
            span.set_attribute("gen_ai.operation.name", "chat")
            span.set_attribute("gen_ai.provider.name", "openai")
            span.set_attribute("gen_ai.request.model", "gpt-4o-mini")
            span.set_attribute("gen_ai.conversation.id", self._conversation_id)
            span.set_attribute("gen_ai.system_instructions", json.dumps([{"type": "text", "content": SYSTEM}]))
            span.set_attribute("gen_ai.input.messages", json.dumps(self._history))
            span.set_attribute("gen_ai.output.messages", json.dumps([output]))
        self._history.append(output)


def main(protocol: str, conversation_id: str) -> None:
    exporter = GrpcSpanExporter() if protocol == "grpc" else HttpSpanExporter()
    provider = TracerProvider(resource=Resource.create())
    provider.add_span_processor(BatchSpanProcessor(exporter))
    desk = LibraryDesk(provider.get_tracer("library.desk", "1.0"), conversation_id)
    turns = [
        desk.turn(
            "Please renew my loan of Dune.",
            [("renew_loan", {"title": "Dune"}, {"renewed": True, "until": "2026-12-20"})],
            "Done: Dune is renewed until 20 December.",
        ),
        desk.turn("When do you close today?", [], "We close at 18:00 today."),
    ]
    provider.shutdown()
    for turn in turns:
        sys.stdout.write(json.dumps(turn) + "\n")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
