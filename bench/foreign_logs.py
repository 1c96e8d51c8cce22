"""Measure how fast logs of other programs are read and imported, and in how much memory.

    python -m bench.foreign_logs [--trajectories 1000 20000] [--database sqlite|postgres|both] [--rounds 1]

Trajectories of the size of HotpotQA's (bench.records) are written as one Inspect `.json`, one `.eval`
and one OTLP file in which all is a single object, and as lines of MLflow, Langfuse and our own format.
Each is read in a process of its own, to drafts with digests, and imported as the command does, into a
database of its own. For comparison, in the same run, `json.loads` alone parses the spans or samples one
by one: no reader can be faster than that.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from typing import Any

from annotation.core.trajectories.trajectory import TrajectoryDraft, content_digest
from annotation.importers import HEAD_BYTES, ReadContext, sniff
from bench import records
from bench.inside import peak_memory
from bench.installations import Stock, scratch, stock

EVAL = {"task": "hotpotqa", "model": "made", "eval_id": "made"}
HEADER = {"version": 2, "status": "success", "eval": EVAL}


def samples(how_many: int) -> Iterator[dict[str, Any]]:
    """The records as samples of an Inspect log."""
    for number, record in enumerate(records.records(how_many)):
        yield {
            "id": number,
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
        for number, sample in enumerate(samples(how_many)):
            out.write((", " if number else "") + json.dumps(sample))
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
        for number, span in enumerate(_spans(how_many)):
            out.write((", " if number else "") + json.dumps(span))
        out.write("]}]}]}")


def _spans(how_many: int) -> Iterator[dict[str, Any]]:
    for number, record in enumerate(records.records(how_many)):
        for index, given, message in _responses(record):
            values = {
                "gen_ai.operation.name": "chat",
                "gen_ai.request.model": "made",
                "gen_ai.input.messages": json.dumps([_parts(one) for one in given]),
                "gen_ai.output.messages": json.dumps([_parts(message)]),
            }
            yield {
                "traceId": f"{number + 1:032x}",  # all zeros would mean that there is no trace
                "spanId": f"{number:08x}{index:08x}",
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


def traces(how_many: int) -> Iterator[dict[str, Any]]:
    """Traces of MLflow: a span for each step, with all messages before it."""
    for number, record in enumerate(records.records(how_many)):
        spans = [
            {
                "trace_id": f"{number + 1:032x}",
                "span_id": f"{number:08x}{index:08x}",
                "name": "chat made",
                "start_time_unix_nano": 10**18 + index * 1000,
                "end_time_unix_nano": 10**18 + index * 1000 + 500,
                "attributes": {
                    "mlflow.spanType": '"CHAT_MODEL"',
                    "mlflow.spanInputs": json.dumps({"messages": given}),
                    "mlflow.spanOutputs": json.dumps({"choices": [{"message": message}]}),
                },
            }
            for index, given, message in _responses(record)
        ]
        yield {"info": {"trace_id": f"tr-{number}", "trace_metadata": {}}, "data": {"spans": spans}}


def observations(how_many: int) -> Iterator[dict[str, Any]]:
    """Loose observations of Langfuse: one for each step, with all messages before it."""
    for number, record in enumerate(records.records(how_many)):
        for index, given, message in _responses(record):
            yield {
                "id": f"{number:08x}{index:08x}",
                "traceId": f"t{number}",
                "type": "GENERATION",
                "parentObservationId": None,
                "startTime": f"2026-11-23T04:59:{index % 60:02d}Z",
                "model": "made",
                "input": given,
                "output": message,
            }


def _responses(record: dict[str, Any]) -> Iterator[tuple[int, list[Any], dict[str, Any]]]:
    """Each response of the model: its index, what came before it, and itself."""
    messages = record["messages"]
    for index, message in enumerate(messages):
        if message["role"] == "assistant":
            yield index, messages[:index], message


def _one_each(pieces: Callable[[int], Iterator[Any]]) -> Callable[[Path, int], None]:
    """A writer of a piece a line."""

    def write(path: Path, how_many: int) -> None:
        with path.open("w") as out:
            out.writelines(f"{json.dumps(piece)}\n" for piece in pieces(how_many))

    return write


def write_lines(path: Path, how_many: int) -> None:
    """Our own format, for comparison."""
    records.write(path, how_many)


WRITERS: dict[str, Callable[[Path, int], None]] = {
    "own.jsonl": write_lines,
    "inspect.json": write_json,
    "inspect.eval": write_eval,
    "otlp.json": write_otlp,
    "mlflow.jsonl": _one_each(traces),
    "langfuse.jsonl": _one_each(observations),
}
PIECES: dict[str, Callable[[int], Iterator[Any]]] = {
    "own.jsonl": records.records,
    "inspect.json": samples,
    "inspect.eval": samples,
    "otlp.json": _spans,
    "mlflow.jsonl": traces,
    "langfuse.jsonl": observations,
}


def read(path: Path) -> dict[str, float]:
    """Read a file as an import does: trajectories, seconds of the processor, and the peak of memory in MB."""
    start, count = time.process_time(), 0
    with path.open("rb") as stream:
        importer = sniff(stream.read(HEAD_BYTES))
        stream.seek(0)
        for item in importer.read(stream, ReadContext(path.name)):
            assert isinstance(item, TrajectoryDraft), item
            content_digest(item)
            count += 1
    seconds = time.process_time() - start
    return {"trajectories": count, "seconds": seconds, "peak": peak_memory() / 1e6}


def parse_alone(name: str, how_many: int) -> float:
    """Trajectories a CPU second that `json.loads` alone makes of the pieces of such a file."""
    pieces = [json.dumps(piece) for piece in PIECES[name](min(how_many, 1_000))]
    start = time.process_time()
    for piece in pieces:
        json.loads(piece)
    return min(how_many, 1_000) / (time.process_time() - start)


def measure(path: Path, how_many: int, stocks: list[Stock], rounds: int) -> str:
    """Read and import one file `rounds` times, in turns: a line of medians."""
    alone, reading = [], []
    imported: dict[str, list[dict[str, Any]]] = {one.kind: [] for one in stocks}
    for _ in range(rounds):
        alone.append(parse_alone(path.name, how_many))
        command = [sys.executable, "-m", "bench.foreign_logs", "--read", str(path)]
        reading.append(json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout))
        for one in stocks:
            installation = one.installation("foreign")
            installation.inside("start", "zero")
            imported[one.kind].append(installation.inside("import", "zero", path))
    for answer in [*reading, *(one for answers in imported.values() for one in answers)]:
        if answer["trajectories"] != how_many:
            raise RuntimeError(f"{answer['trajectories']} of {how_many} trajectories in {path.name}")
    said = [
        f"{path.name}: {how_many:,} trajectories, {path.stat().st_size / 1e6:,.0f} MB",
        f"json.loads {median(alone):,.0f} a CPU second",
        f"read {median(how_many / one['seconds'] for one in reading):,.0f} a CPU second, "
        f"peak {median(one['peak'] for one in reading):,.0f} MB",
    ]
    for kind, answers in imported.items():
        clock, cpu = (median(how_many / one[key] for one in answers) for key in ("seconds", "cpu_seconds"))
        peak = median(one["peak_bytes"] for one in answers) / 1e6
        said.append(f"{kind} {clock:,.0f} a second, {cpu:,.0f} a CPU second, peak {peak:,.0f} MB")
    return "; ".join(said)


def main() -> None:
    """Write, read, import and report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trajectories", type=int, nargs="+", default=[1_000, 20_000])
    parser.add_argument("--database", choices=["sqlite", "postgres", "both"], default="both")
    parser.add_argument("--files", choices=list(WRITERS), nargs="+", default=list(WRITERS))
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--read", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.read:
        print(json.dumps(read(given.read)))
        return
    folder = scratch()
    kinds = ["sqlite", "postgres"] if given.database == "both" else [given.database]
    stocks = [stock(kind, folder) for kind in kinds]
    try:
        for name in given.files:
            for how_many in given.trajectories:
                path = folder / name
                WRITERS[name](path, how_many)
                print(measure(path, how_many, stocks, given.rounds), flush=True)
    finally:
        for one in stocks:
            one.close([])
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
