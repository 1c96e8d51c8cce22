"""ATIF, the Agent Trajectory Interchange Format: steps as messages, and any trajectory as a document of it.

A document of ours says in `extra.tristep` what ATIF has no place for, so that reading it gives back exactly
the record it was made from: whatever of a step ATIF's own fields do not give back stands there as it is.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from ..jsonio.jsonlines import MAX_DEPTH, BadJson, depth_of, parse_text
from .step_costs import StepCost, cost_in, cost_of, total

SCHEMA: Final = "ATIF-v1.7"
OURS: Final = "tristep"
MAX_ARGUMENTS_DEPTH: Final = MAX_DEPTH // 2
OURS_VERSION: Final = 1
CONTEXT_ROLE: Final = "context"
"""The role of what no model call of this trajectory wrote: turns copied from another one, dispatches."""

_ROLES: Final = {"user": "user", "system": "system", "agent": "assistant"}
_RESULTS: Final = frozenset({"tool", "function"})
_CONTENT: Final = (
    "answer_text", "data_source", "hints", "query_index", "question", "reference_answer", "sample_index",
    "task_description", "task_key",
)  # fmt: skip

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class StepLabel:
    """The consensus on one step, or (`message` None) on the outcome: its value and how it was reached."""

    message: int | None
    value: int
    kind: str


def step_messages(step: Mapping[str, Any]) -> list[Json]:
    """The messages of one ATIF step: what was said, then the results of its calls. Any JSON is taken."""
    own = _ours(step).get("messages")
    if isinstance(own, list) and all(isinstance(message, dict) for message in own):
        return own
    source = step.get("source")
    role = _ROLES.get(source, "") if isinstance(source, str) else ""
    if role == "assistant" and (step.get("is_copied_context") is True or step.get("llm_call_count") == 0):
        role = CONTEXT_ROLE
    message: Json = {"role": role or str(source), "content": _content(step.get("message"))}
    reasoning = step.get("reasoning_content")
    if reasoning:
        message["reasoning_content"] = reasoning if isinstance(reasoning, str) else _text(reasoning)
    metrics = step.get("metrics")
    if role == "assistant" and isinstance(metrics, dict) and (cost := cost_in(metrics)):
        message["usage"] = cost.as_json()
    calls = step.get("tool_calls")
    if isinstance(calls, list) and calls:
        message["tool_calls"] = [_call(call) for call in calls]
    observation = step.get("observation")
    results = observation.get("results") if isinstance(observation, dict) else None
    output = [_result(result) for result in results] if isinstance(results, list) else []
    nothing_said = role == "system" and step.get("message") in (None, "") and output
    return output if nothing_said else [message, *output]


def document(
    content: Mapping[str, Any], *, record_id: str, policy_model: str, labels: Sequence[StepLabel] = ()
) -> Json:
    """A stored content (core.trajectories.trajectory.TrajectoryDraft.content) as an ATIF document, with its
    labels."""
    by_message = {label.message: label for label in labels}
    tools = content.get("tools") or []
    agent: Json = {"name": policy_model or "unknown", "version": "unknown", "model_name": policy_model}
    ours: Json = {"version": OURS_VERSION, "record_id": record_id, "policy_model": policy_model}
    if tools and all(isinstance(tool, dict) for tool in tools):
        agent["tool_definitions"] = tools
    elif tools:
        ours["tools"] = tools
    ours.update({key: content.get(key) for key in _CONTENT})
    if None in by_message:
        ours["outcome"] = _label(by_message[None])
    steps = [
        _step(number, start, messages, by_message)
        for number, (start, messages) in enumerate(_turns(content["messages"]), start=1)
    ]
    whole: Json = {
        "schema_version": SCHEMA,
        "session_id": record_id,
        "trajectory_id": record_id,
        "agent": agent,
        "steps": steps,
        "extra": {OURS: ours},
    }
    if metrics := _metrics(total(map(cost_of, content["messages"])), "total_"):
        whole["final_metrics"] = metrics
    return whole


def own_record(document: Mapping[str, Any]) -> Json | None:
    """The record that Tristep wrote into a document of its own, or `None`."""
    ours = _ours(document)
    return ours if ours.get("version") == OURS_VERSION and isinstance(ours.get("hints"), dict) else None


def own_label(step: Mapping[str, Any]) -> Json | None:
    """The label that Tristep wrote into a step, or `None`."""
    label = _ours(step).get("label")
    return label if isinstance(label, dict) else None


def _ours(holder: Mapping[str, Any]) -> Json:
    extra = holder.get("extra")
    ours = extra.get(OURS) if isinstance(extra, dict) else None
    return ours if isinstance(ours, dict) else {}


def _turns(messages: Sequence[Json]) -> Iterator[tuple[int, list[Json]]]:
    """The messages that make one step each, with the index of the first: a message and its results."""
    start = 0
    for index in range(1, len(messages) + 1):
        follows = index < len(messages) and messages[index].get("role") in _RESULTS
        before = messages[start].get("role")
        if not (follows and before in ("assistant", "system", CONTEXT_ROLE, *_RESULTS)):
            yield start, list(messages[start:index])
            start = index


def _step(number: int, start: int, messages: list[Json], labels: Mapping[int | None, StepLabel]) -> Json:
    first = messages[0]
    role = first.get("role")
    results = messages if role in _RESULTS else messages[1:]
    step: Json = {"step_id": number, "source": "system", "message": ""}
    if role not in _RESULTS:
        step["source"] = {"assistant": "agent", CONTEXT_ROLE: "agent", "user": "user"}.get(
            str(role), "system"
        )
        step["message"] = _message(first.get("content"))
        if role == CONTEXT_ROLE:
            step["is_copied_context"] = True
        if isinstance(first.get("reasoning_content"), str) and step["source"] == "agent":
            step["reasoning_content"] = first["reasoning_content"]
        if step["source"] == "agent" and isinstance(first.get("tool_calls"), list):
            step["tool_calls"] = [_atif_call(call) for call in first["tool_calls"]]
        if (cost := cost_of(first)) is not None and (metrics := _metrics(cost, "")):
            step["metrics"] = metrics
    if results:
        step["observation"] = {"results": [_atif_result(result) for result in results]}
    ours: Json = {}
    if step_messages(step) != messages:
        ours["messages"] = messages
    if start in labels and role == "assistant":
        ours["label"] = _label(labels[start])
    if ours:
        step["extra"] = {OURS: ours}
    return step


def _metrics(cost: StepCost, prefix: str) -> Json:
    """Tokens and cost by ATIF's names; durations have none there."""
    metrics = {
        "prompt_tokens": cost.input_tokens,
        "completion_tokens": cost.output_tokens,
        "cost_usd": cost.cost_usd,
    }
    return {f"{prefix}{name}": value for name, value in metrics.items() if value is not None}


def _label(label: StepLabel) -> Json:
    return {"value": label.value, "kind": label.kind}


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _content(value: Any) -> Any:
    """An ATIF message as content in OpenAI's shape."""
    if not isinstance(value, list):
        return value if isinstance(value, str) or value is None else _text(value)
    return [_part(part) for part in value]


def _part(part: Any) -> Any:
    source = part.get("source") if isinstance(part, dict) and part.get("type") == "image" else None
    if isinstance(source, dict) and isinstance(source.get("path"), str):
        return {"type": "image_url", "image_url": {"url": source["path"]}}
    return part


def _call(call: Any) -> Any:
    if not isinstance(call, dict):
        return call
    arguments = call.get("arguments")
    return {
        "id": call.get("tool_call_id"),
        "type": "function",
        "function": {
            "name": call.get("function_name"),
            "arguments": arguments if isinstance(arguments, str) else _text(arguments),
        },
    }


def _result(result: Any) -> Json:
    if not isinstance(result, dict):
        return {"role": "tool", "content": result}
    content = _content(result.get("content"))
    reference = result.get("subagent_trajectory_ref")
    if reference:
        kept = {"type": "subagent_trajectory_ref", "subagent_trajectory_ref": reference}
        parts = (
            content if isinstance(content, list) else [{"type": "text", "text": content}] if content else []
        )
        content = [*parts, kept]
    message: Json = {"role": "tool", "content": content}
    if result.get("source_call_id"):
        message["tool_call_id"] = result["source_call_id"]
    return message


def _message(content: Any) -> Any:
    """Content in OpenAI's shape as an ATIF message: a text, or parts of text and images."""
    if content is None or isinstance(content, str):
        return content or ""
    if not isinstance(content, list):
        return _text(content)
    return [_atif_part(part) for part in content]


def _atif_part(part: Any) -> Json:
    if isinstance(part, str):
        return {"type": "text", "text": part}
    if isinstance(part, dict):
        if part.get("type") == "text" and isinstance(part.get("text"), str):
            return {"type": "text", "text": part["text"]}
        address = part.get("image_url")
        address = address.get("url") if isinstance(address, dict) else address
        if part.get("type") == "image_url" and isinstance(address, str):
            media = address[5:].split(";")[0] if address[:5] == "data:" else "image/*"
            return {"type": "image", "source": {"media_type": media, "path": address}}
    return {"type": "text", "text": _text(part)}


def _atif_call(call: Any) -> Json:
    function = call.get("function") if isinstance(call, dict) else None
    spec = function if isinstance(function, dict) else call if isinstance(call, dict) else {}
    arguments = spec.get("arguments")
    if isinstance(arguments, str):
        arguments = _parsed_arguments(arguments)
    return {
        "tool_call_id": str(call.get("id") or "") if isinstance(call, dict) else "",
        "function_name": str(spec.get("name") or ""),
        "arguments": arguments if isinstance(arguments, dict) else {"arguments": arguments},
    }


def _parsed_arguments(text: str) -> Any:
    """The value of a call's arguments. What is no JSON stays text, and so does what would make the document
    too deep to be read back."""
    deep = depth_of(text.encode("utf-8", "surrogatepass")) > MAX_ARGUMENTS_DEPTH
    try:
        return {"arguments": text} if deep else parse_text(text)
    except BadJson:
        return {"arguments": text}


def _atif_result(message: Json) -> Json:
    result: Json = {"content": _message(message.get("content"))}
    if isinstance(message.get("tool_call_id"), str) and message["tool_call_id"]:
        result = {"source_call_id": message["tool_call_id"], **result}
    return result
