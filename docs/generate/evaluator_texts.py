"""What each option of an evaluator and each key of a rule does, in words. A test finds what is missing here."""

from __future__ import annotations

from collections.abc import Mapping

COMMON: Mapping[str, tuple[str, str]] = {
    "on": ("the evaluator's own, see above", "What is judged: each turn, or the conversation as a whole."),
    "sample": (
        "`1`",
        "Share of conversations that are judged, by a hash of their id: all turns of one are in, or none, everywhere.",
    ),
    "agents": ("all", "Only agents of these names."),
    "services": ("all", "Only services (`service.name`) of these names."),
    "resource": ("all", "Only conversations whose resource has these attributes, such as the environment."),
    "messages": ("any", "Only conversations with so many messages of user and agent, up to and with what is judged."),
    "user_messages": ("any", "Only conversations with so many messages of the user."),
    "applies": (
        "always",
        (
            "Only where a pattern is found in what the `user`, the `agent` or `any` of them said, in at least that "
            "share of the judged turns, or else in one of them. What it does not apply to costs nothing."
        ),
    ),
    "after_close": (
        "`rescore`",
        (
            "A turn that comes to a conversation which was judged as a whole: judge the whole anew, `ignore` the turn "
            "and let the score stand, or `reject` it, so that the decision says that it came too late."
        ),
    ),
    "incomplete": (
        "`skip`; `judge` for `rules`",
        "Whether a turn whose end never arrived is judged. `skip` gives the decision `incomplete`.",
    ),
    "as": ("the evaluator's name", "Another name, so that one evaluator can be configured twice."),
}
"""Default and description."""

_INCLUDE_REASON = "Ask the judge for a short summary. Without it the reason is made of its answers."

_RUBRIC = {"include_reason": _INCLUDE_REASON, "threshold": "Least score that passes, over the rubric's own."}

OPTIONS: Mapping[str, Mapping[str, str]] = {
    "agent_rubric": {
        "max_criteria": "Most criteria of a compiled rubric.",
        "max_versions": "Most rubrics compiled for one agent; a prompt made anew for each conversation needs a bound.",
        "threshold": "Least score that passes, over the rubric's own, which is 1 when compiled.",
        "include_reason": _INCLUDE_REASON,
    },
    "conversation_completeness": {
        "threshold": "Least score that passes.",
        "strict_mode": "The threshold is 1, and a score below it becomes 0.",
        "include_reason": _INCLUDE_REASON,
        "without_intention": (
            "What a conversation is in which the user wanted nothing: no score, or a pass with a score of 1."
        ),
    },
    "role_adherence": {
        "role": "The role, in words. It wins over the system prompt.",
        "product_description": "What the agent is for; a part of the role, in the place of `role` or besides.",
        "capabilities": "What the agent can do; a part of the role.",
        "policies": "What the agent must keep to; a part of the role.",
        "inabilities": "What the agent cannot do; a part of the role.",
        "scale": "`graded`: the score is the share of turns that adhere. `binary`: it is 1 if all do, else 0.",
        "threshold": "Least score that passes. Only for `graded`.",
        "include_reason": _INCLUDE_REASON,
    },
    "rules": {
        "rules": "Declared rules, see below.",
        "checks": "Which built-in checks run: all, none, or those in the list.",
    },
    "rubric": {
        "file": "A rubric in YAML; without it the keys of a rubric stand here, see rubrics.md.",
        **_RUBRIC,
    },
    "goal_accuracy": _RUBRIC,
    "intent_resolution": _RUBRIC,
    "tool_call_accuracy": _RUBRIC,
    "tool_use": _RUBRIC,
    "topic_adherence": {**_RUBRIC, "topics": "Allowed topics; required."},
    "task_adherence": {
        "doubt": "What real doubt is: a pass, or a fail with what raises it as evidence.",
        "safety_refusal": "What a refusal for safety is that the system prompt does not demand.",
        "include_reason": _INCLUDE_REASON,
    },
}

REQUIRED: Mapping[str, Mapping[str, object]] = {
    "rubric": {"criteria": ["The agent is polite."]},
    "topic_adherence": {"topics": ["orders"]},
}
"""What an evaluator cannot be made without."""

RULE_KEYS: Mapping[str, str] = {
    "name": "What the rule is called in verdicts; else its place, such as `rules[0]`.",
    "message": "What to tell people when it is broken; stands first in the reason.",
    "where": "Conditions on the arguments of the call (for `turn`: on the turn) that the rule is about.",
    "tool": "Only calls of these tools count; without it all calls do.",
    "require": "The call that must be there as well: a tool's name or glob, or a list of which one suffices.",
    "require_where": "Conditions on the arguments of the required call.",
    "require_result": "Conditions on the result of the required call.",
    "same": "Arguments that must have the same value in both calls.",
    "result": "Conditions on the result of the call: only calls with such a result are forbidden.",
    "within": "`turn` or `conversation`: how far the rule looks.",
    "mention": "Arguments whose values the agent's proposal must have stated.",
    "arguments": "Which arguments are checked; without it every text in the arguments that looks like an identifier.",
    "from": "Where values may come from: `user`, `system`, `tool`, `agent`, or `tool:NAME`. Default: the first three.",
}
