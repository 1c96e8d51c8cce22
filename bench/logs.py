"""The topic `logs`: how fast logs of other programs are imported, and in how much memory.

Trajectories of the size of HotpotQA's (bench.records) are written as one Inspect `.json`, one `.eval` and one
OTLP file in which all is a single object, and for comparison as lines of our own format.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from bench import imports, records
from bench.installations import Stock
from bench.report import Limit, Report, Say, megabytes, number, table

SIZES = (1_000, 5_000)
QUICK_SIZES = (50, 200)
RATE = 500
EVAL = {"task": "hotpotqa", "model": "made", "eval_id": "made"}
HEADER = {"version": 2, "status": "success", "eval": EVAL}


def samples(how_many: int) -> Iterator[dict[str, Any]]:
    """The records as samples of an Inspect log."""
    for place, record in enumerate(records.records(how_many)):
        yield {
            "id": place,
            "epoch": 1,
            "input": record["question"],
            "target": str(record.get("ground_truth")),
            "messages": [_inspect_message(message) for message in record["messages"]],
        }


def _inspect_message(message: dict[str, Any]) -> dict[str, Any]:
    calls = [
        {**call, "function": call["function"]["name"], "arguments": {"given": call["function"]["arguments"]}}
        for call in message.get("tool_calls") or []
    ]
    return {**message, "tool_calls": calls} if calls else message


def write_json(path: Path, how_many: int) -> None:
    """One object with all samples."""
    with path.open("w") as out:
        out.write(json.dumps(HEADER)[:-1] + ', "samples": [')
        for place, sample in enumerate(samples(how_many)):
            out.write((", " if place else "") + json.dumps(sample))
        out.write("]}")


def write_eval(path: Path, how_many: int) -> None:
    """A zip archive with a member for each sample."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as out:
        for sample in samples(how_many):
            out.writestr(f"samples/{sample['id']}_epoch_1.json", json.dumps(sample))
        out.writestr("header.json", json.dumps(HEADER))


def write_otlp(path: Path, how_many: int) -> None:
    """One object with all spans: a call of the model for each step, with all messages before it."""
    with path.open("w") as out:
        out.write('{"resourceSpans": [{"resource": {}, "scopeSpans": [{"scope": {}, "spans": [')
        for place, span in enumerate(_spans(how_many)):
            out.write((", " if place else "") + json.dumps(span))
        out.write("]}]}]}")


def _spans(how_many: int) -> Iterator[dict[str, Any]]:
    for place, record in enumerate(records.records(how_many)):
        for index, given, message in _responses(record):
            values = {
                "gen_ai.operation.name": "chat",
                "gen_ai.request.model": "made",
                "gen_ai.input.messages": json.dumps([_parts(one) for one in given]),
                "gen_ai.output.messages": json.dumps([_parts(message)]),
            }
            yield {
                "traceId": f"{place + 1:032x}",  # all zeros would mean that there is no trace
                "spanId": f"{place:08x}{index:08x}",
                "name": "chat made",
                "startTimeUnixNano": str(10**18 + index * 1000),
                "endTimeUnixNano": str(10**18 + index * 1000 + 500),
                "attributes": [
                    {"key": key, "value": {"stringValue": value}} for key, value in values.items()
                ],
            }


def _parts(message: dict[str, Any]) -> dict[str, Any]:
    content = message.get("content")
    parts: list[dict[str, Any]] = [{"type": "text", "content": content}] if isinstance(content, str) else []
    for call in message.get("tool_calls") or []:
        spec = call["function"]
        parts.append(
            {"type": "tool_call", "id": call["id"], "name": spec["name"], "arguments": spec["arguments"]}
        )
    if message["role"] == "tool":
        parts = [{"type": "tool_call_response", "id": message.get("tool_call_id"), "response": content}]
    return {"role": message["role"], "parts": parts}


def _responses(record: dict[str, Any]) -> Iterator[tuple[int, list[Any], dict[str, Any]]]:
    """Each response of the model: its index, what came before it, and itself."""
    messages = record["messages"]
    for index, message in enumerate(messages):
        if message["role"] == "assistant":
            yield index, messages[:index], message


WRITERS: dict[str, Callable[[Path, int], object]] = {
    "own.jsonl": records.write,
    "inspect.json": write_json,
    "inspect.eval": write_eval,
    "otlp.json": write_otlp,
}


def run(stock: Stock, folder: Path, quick: bool, report: Report, say: Say) -> None:
    """Import all files, print, compare with what is promised."""
    sizes, rounds = (QUICK_SIZES, 1) if quick else (SIZES, imports.ROUNDS)
    found = {
        name: imports.measure(stock, imports.written(folder, name, sizes, write), rounds, say)
        for name, write in WRITERS.items()
    }
    own = [one.cpu_rate for one in found["own.jsonl"]]
    table(
        f"Logs of other programs, {stock.kind}",
        ("file", "trajectories", "size", "per second", "per CPU second", "CPU of our own lines", "peak"),
        [
            (
                name,
                f"{one.trajectories:,}",
                megabytes(one.size),
                number(one.rate),
                number(one.cpu_rate),
                number(lines / one.cpu_rate),
                megabytes(one.peak),
            )
            for name, of_file in found.items()
            for one, lines in zip(of_file, own, strict=True)
        ],
    )
    for name, (small, large) in found.items():
        for one in (small, large):
            report.line("log", file=name, **asdict(one))
        if name == "own.jsonl":
            continue
        what = f"{stock.kind}: {name}"
        report.limit(Limit(f"{what}, imported per second, of {small.trajectories:,}", small.rate, RATE, True))
        memory = f"{what}, peak memory, {large.trajectories:,} against {small.trajectories:,}"
        report.limit(Limit(memory, large.peak / small.peak, imports.FLAT_MEMORY))
