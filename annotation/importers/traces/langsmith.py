"""Runs of LangSmith: the calls of models and tools of one trace as a conversation."""

from __future__ import annotations

from typing import Any

from ..conversion import Conversation, SourceLabel
from ..parts.content_blocks import as_json
from ..parts.conversation_builder import ConversationBuilder
from ..parts.model_calls import ModelCall, ToolRun, stitch
from .langchain_messages import add_messages, fields_of, is_message, models_of

__all__ = ["by_trace", "is_run", "runs_in", "trace_conversation", "trace_of"]

Run = dict[str, Any]


def is_run(record: Run) -> bool:
    """Whether this is a run."""
    return isinstance(record.get("run_type"), str) and "trace_id" in record and "dotted_order" in record


def runs_in(record: dict[str, Any]) -> list[Run]:
    """The runs in an answer of the API's query."""
    held = record.get("runs")
    return [run for run in held if isinstance(run, dict) and is_run(run)] if isinstance(held, list) else []


def by_trace(runs: list[Run]) -> list[list[Run]]:
    """The runs of each trace, in the order in which traces first come."""
    traces: dict[str, list[Run]] = {}
    for run in runs:
        traces.setdefault(trace_of(run), []).append(run)
    return list(traces.values())


def trace_of(run: Run) -> str:
    """The trace that a run belongs to."""
    return as_json(run.get("trace_id"))


def trace_conversation(runs: list[Run]) -> Conversation:
    """The runs of one trace, in whatever order: each call of a model is a step, by the id of its run.

    `dotted_order` gives the order. What a call was given repeats what came before it; `stitch` takes what is
    new. The outermost run says the task (`reference_example_id`), feedback becomes labels of the file.
    """
    ordered = sorted(runs, key=lambda run: as_json(run.get("dotted_order")))
    calls = [_call(run, (rank, 0)) for rank, run in enumerate(ordered) if run["run_type"] == "llm"]
    tools = [_tool(run, (rank, 0)) for rank, run in enumerate(ordered) if run["run_type"] == "tool"]
    conversation = stitch(calls, tools)
    conversation.record_id = trace_of(runs[0])
    root = next((run for run in ordered if not run.get("parent_run_id")), ordered[0])
    conversation.task_key = as_json(root.get("reference_example_id"))
    for key in ("name", "error", "tags"):
        if root.get(key):
            conversation.hints[key] = root[key]
    steps = {address: index for index, address in conversation.source_steps.items()}
    for run in ordered:
        message = None if run is root else steps.get(as_json(run.get("id")))
        if run is root or message is not None:
            _add_feedback(conversation, run, message)
    return conversation


def _held(run: Run, *path: str) -> Any:
    value: Any = run
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _call(run: Run, start: tuple[int, int]) -> ModelCall:
    messages = _held(run, "inputs", "messages")
    if isinstance(messages, list) and messages and isinstance(messages[0], list):
        messages = messages[0]  # one prompt of a batch
    answer = _answer(run)
    model = _held(run, "extra", "metadata", "ls_model_name") or _held(
        run, "extra", "invocation_params", "model"
    )
    tools = _held(run, "extra", "invocation_params", "tools")
    named = models_of([answer]) if isinstance(answer, dict) else []
    return ModelCall(
        address=as_json(run.get("id")),
        start=start,
        input=_read(messages if isinstance(messages, list) else [_held(run, "inputs", "prompt")]),
        output=_read([answer]) if answer is not None else [],
        model=model if isinstance(model, str) else next(iter(named), ""),
        tools=tools if isinstance(tools, list) else [],
        error=as_json(run.get("error")),
    )


def _answer(run: Run) -> Any:
    """The response of a model, however the library that called it reports it."""
    generations = _held(run, "outputs", "generations")
    while isinstance(generations, list) and generations:
        generations = generations[0]
    if isinstance(generations, dict):
        return generations.get("message", {"role": "assistant", "content": generations.get("text")})
    choices = _held(run, "outputs", "choices")
    if isinstance(choices, list) and choices:
        return _held(choices[0], "message") if isinstance(choices[0], dict) else None
    outputs = run.get("outputs")
    if isinstance(outputs, dict) and ("role" in outputs or is_message(outputs)):
        return outputs
    return _held(run, "outputs", "message")


def _read(messages: list[Any]) -> list[dict[str, Any]]:
    conversation = Conversation()
    add_messages(ConversationBuilder(conversation), [message for message in messages if message is not None])
    return conversation.messages


def _tool(run: Run, start: tuple[int, int]) -> ToolRun:
    output = _held(run, "outputs", "output")
    fields = fields_of(output) if isinstance(output, dict) else {}
    inputs = run.get("inputs")
    return ToolRun(
        address=as_json(run.get("id")),
        start=start,
        name=as_json(run.get("name")),
        call_id=as_json(fields.get("tool_call_id")),
        arguments=_held(run, "inputs", "input") if isinstance(inputs, dict) and "input" in inputs else inputs,
        result=fields.get("content", output) if output is not None else run.get("outputs"),
        error=as_json(run.get("error")),
    )


def _add_feedback(conversation: Conversation, run: Run, message: int | None) -> None:
    feedback = run.get("feedback_stats")
    for name, value in sorted(feedback.items()) if isinstance(feedback, dict) else ():
        conversation.labels.append(SourceLabel(message, name, value))
