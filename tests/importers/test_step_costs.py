"""Tokens, cost and duration of steps, under the names that the documents of each program give them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from annotation.core.trajectories.atif import document
from annotation.core.trajectories.step_costs import StepCost, cost_of, total

from .reading import draft

START = 1_772_000_000_000_000_000
SAID = [{"role": "assistant", "parts": [{"type": "text", "content": "A."}]}]
ASKED = [{"role": "user", "parts": [{"type": "text", "content": "Q?"}]}]
TOOK = StepCost(1204, 230, 0.004, 2.3)


def otlp(**attributes: Any) -> dict[str, Any]:
    """A chat span of OTLP's JSON, in which whole numbers are texts."""
    told = {
        "gen_ai.operation.name": "chat",
        "gen_ai.input.messages": json.dumps(ASKED),
        "gen_ai.output.messages": json.dumps(SAID),
        **attributes,
    }
    kinds = {str: "stringValue", int: "intValue", float: "doubleValue"}
    span = {
        "traceId": "t",
        "spanId": "s",
        "name": "chat",
        "startTimeUnixNano": str(START),
        "endTimeUnixNano": str(START + 2_300_000_000),
        "attributes": [
            {"key": key, "value": {kinds[type(value)]: str(value) if type(value) is int else value}}
            for key, value in told.items()
        ],
    }
    return {"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]}


def langfuse(**changes: Any) -> dict[str, Any]:
    generation = {
        "id": "g",
        "traceId": "t",
        "type": "GENERATION",
        "startTime": "2026-03-01T10:00:00.000Z",
        "endTime": "2026-03-01T10:00:02.300Z",
        "input": [{"role": "user", "content": "Q?"}],
        "output": {"role": "assistant", "content": "A."},
        **changes,
    }
    return {"id": "t", "timestamp": "2026-03-01T10:00:00.000Z", "observations": [generation]}


def mlflow(**attributes: Any) -> dict[str, Any]:
    told = {
        "mlflow.spanType": "CHAT_MODEL",
        "mlflow.spanInputs": {"messages": [{"role": "user", "content": "Q?"}]},
        "mlflow.spanOutputs": {"choices": [{"message": {"role": "assistant", "content": "A."}}]},
        **attributes,
    }
    span = {
        "name": "chat",
        "trace_id": "t",
        "span_id": "s",
        "start_time_unix_nano": START,
        "end_time_unix_nano": START + 2_300_000_000,
        "attributes": {key: json.dumps(value) for key, value in told.items()},
    }
    return {"info": {"trace_id": "t"}, "data": {"spans": [span]}}


TRACES = [
    (
        "opentelemetry",
        otlp(
            **{
                "gen_ai.usage.input_tokens": 1204,
                "gen_ai.usage.output_tokens": 230,
                "gen_ai.usage.cost": 0.004,
            }
        ),
    ),
    (
        "opentelemetry",
        otlp(**{"llm.token_count.prompt": 1204, "llm.token_count.completion": 230, "llm.cost.total": 0.004}),
    ),
    (
        "langfuse",
        langfuse(usageDetails={"input": 1204, "output": 230, "total": 1434}, costDetails={"total": 0.004}),
    ),
    ("langfuse", langfuse(promptTokens=1204, completionTokens=230, calculatedTotalCost=0.004)),
    (
        "mlflow",
        mlflow(
            **{
                "mlflow.chat.tokenUsage": {"input_tokens": 1204, "output_tokens": 230},
                "mlflow.llm.cost": {"total_cost": 0.004},
            }
        ),
    ),
]


@pytest.mark.parametrize(("name", "record"), TRACES)
def test_step_costs_of_traces_are_those_of_the_call(name: str, record: dict[str, Any]) -> None:
    messages = draft(name, record).messages
    assert [cost_of(message) for message in messages] == [None, TOOK]


def test_step_costs_of_anthropic_count_what_the_cache_holds() -> None:
    usage = {
        "input_tokens": 4,
        "cache_creation_input_tokens": 1000,
        "cache_read_input_tokens": 200,
        "output_tokens": 230,
    }
    asked = [{"role": "user", "content": "Q?"}]
    answer = {"id": "m", "role": "assistant", "content": [{"type": "text", "text": "A."}], "usage": usage}
    record = {"request": {"messages": asked, "max_tokens": 9}, "response": answer}
    assert cost_of(draft("anthropic", record).messages[-1]) == StepCost(1204, 230)


def test_step_costs_of_tau2_stand_beside_its_usage() -> None:
    answer = {
        "role": "assistant",
        "content": "A.",
        "turn_idx": 1,
        "cost": 0.004,
        "usage": {"prompt_tokens": 1204, "completion_tokens": 230},
        "generation_time_seconds": 2.3,
    }
    run = {
        "id": "r",
        "task_id": "1",
        "messages": [{"role": "user", "content": "Q?", "turn_idx": 0, "cost": 0.9}, answer],
    }
    record = {"info": {"environment_info": {}}, "tasks": [], "simulations": [run]}
    assert [cost_of(message) for message in draft("tau2_bench", record).messages] == [None, TOOK]


def test_step_costs_of_atif_come_in_and_go_out_as_metrics() -> None:
    metrics = {"prompt_tokens": 1204, "completion_tokens": 230, "cost_usd": 0.004}
    steps = [
        {"step_id": 1, "source": "user", "message": "Q?"},
        {"step_id": 2, "source": "agent", "message": "A.", "metrics": metrics},
        {"step_id": 3, "source": "agent", "message": "B.", "metrics": {"prompt_tokens": 6}},
    ]
    record = {"schema_version": "ATIF-v1.7", "session_id": "s", "agent": {"name": "a"}, "steps": steps}
    read = draft("atif", record)
    written = document(read.content(), record_id="s", policy_model="m")
    assert [step.get("metrics") for step in written["steps"]] == [None, metrics, {"prompt_tokens": 6}]
    assert written["final_metrics"] == {
        "total_prompt_tokens": 1210,
        "total_completion_tokens": 230,
        "total_cost_usd": 0.004,
    }
    assert draft("atif", written).messages == read.messages


@pytest.mark.parametrize("odd", [-1, True, "7", float("nan"), float("inf"), 10**400, None, [1]])
def test_step_costs_that_are_no_numbers_are_none(odd: Any) -> None:
    usage = {"input_tokens": odd, "cost": odd, "seconds": odd}
    assert cost_of({"role": "assistant", "usage": usage}) is None
    assert cost_of({"role": "assistant", "usage": odd, "cost": odd}) is None


def test_step_costs_of_a_run_are_the_sum_of_what_is_said() -> None:
    said = [StepCost(5, None, 0.5), None, StepCost(7, 2), StepCost(seconds=1.5)]
    assert total(said) == StepCost(12, 2, 0.5, 1.5)
    assert total([None]) == StepCost()
