"""What providers and frameworks call their content blocks: by `type`, or by the only key of one that has no type."""

from __future__ import annotations

APPROVAL_CALL, APPROVAL_RESULT = "mcp_approval_request", "mcp_approval_response"
TEXT = {
    "text_content", "text_block", "text_part", "text", "input_text", "output_text", "summary_text", "refusal",
    "markdown", "str",
}  # fmt: skip
REASONING = {"reasoning", "thinking", "redacted_thinking", "reasoning_content", "thought", "encrypted_reasoning"}
CALL = {
    "tool_call", "tool_use", "tool-call", "function_call", "server_tool_use", "server_tool_call", "function",
    "tool_call_block", "tool_call_part", "mcp_call", "mcp_tool_use", "custom_tool_call", "tool_request",
    "tool-invocation", "toolcall", "openapi_call", APPROVAL_CALL }  # fmt: skip
RESULT = {
    "tool_call_response", "tool_call_result", "tool_return_part", "tool_result", "tool-result",
    "function_call_output", "server_tool_call_response", "function_response", "mcp_tool_result",
    "custom_tool_call_output", "web_search_tool_result", "tool-return", "retry-prompt", "tool_response",
    "code_execution_tool_result", "tool-error", "openapi_call_output", APPROVAL_RESULT }  # fmt: skip
CALL_KEYS = {"toolUse", "toolRequest", "functionCall", "function_call", "tool_call", "tool_use"}
RESULT_KEYS = {
    "toolResult", "toolResponse", "functionResponse", "function_response", "tool_call_result", "tool_result",
}  # fmt: skip
REASONING_KEYS = {"reasoningContent", "reasoning", "thinking"}
MEDIA_KEYS = {
    "inline_data", "inlineData", "file_data", "fileData", "image", "document", "video", "audio", "file",
}  # fmt: skip
KEYED = frozenset({*CALL_KEYS, *RESULT_KEYS, *REASONING_KEYS, *MEDIA_KEYS, "message_content"})
COMPACTION = {"compaction", "summary", "context_compaction"}
MEDIA = {
    "image": "image", "image_url": "image", "input_image": "image", "image-url": "image", "audio": "audio",
    "input_audio": "audio", "video": "video", "video_url": "video", "file": "file", "input_file": "file",
    "document": "file", "blob": "file", "uri": "file", "file_data": "file", "file_search": "file", "binary": "file",
}  # fmt: skip
