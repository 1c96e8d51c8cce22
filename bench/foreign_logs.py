"""Measure how fast logs of other programs are read, and in how much memory.

    python -m bench.foreign_logs [--trajectories 1000 20000]

Trajectories of the size of HotpotQA's (bench.records) are written as one Inspect `.json`, one `.eval` and one
OTLP file in which all is a single object. Each is read in a process of its own, to drafts with digests:
what an import does beside the database. The memory is that process's peak.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from annotation.core.canonical import content_digest
from annotation.core.trajectory import TrajectoryDraft
from annotation.importers import HEAD_BYTES, ReadContext, sniff
from bench import records

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
        messages = record["messages"]
        for index, message in enumerate(messages):
            if message["role"] != "assistant":
                continue
            values = {
                "gen_ai.operation.name": "chat",
                "gen_ai.request.model": "made",
                "gen_ai.input.messages": json.dumps([_parts(one) for one in messages[:index]]),
                "gen_ai.output.messages": json.dumps([_parts(message)]),
            }
            yield {
                "traceId": f"{number:032x}",
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


WRITERS: dict[str, Callable[[Path, int], None]] = {
    "inspect.json": write_json,
    "inspect.eval": write_eval,
    "otlp.json": write_otlp,
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
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"trajectories": count, "seconds": seconds, "peak": peak}


def main() -> None:
    """Write, read and report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trajectories", type=int, nargs="+", default=[1_000, 20_000])
    parser.add_argument("--read", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.read:
        print(json.dumps(read(given.read)))
        return
    with tempfile.TemporaryDirectory() as folder:
        for name, write in WRITERS.items():
            for how_many in given.trajectories:
                path = Path(folder) / name
                write(path, how_many)
                command = [sys.executable, "-m", "bench.foreign_logs", "--read", str(path)]
                said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
                found = json.loads(said)
                speed = found["trajectories"] / found["seconds"]
                size = path.stat().st_size / 1e6
                print(
                    f"{name}: {found['trajectories']:,.0f} trajectories, {size:,.0f} MB: "
                    f"{speed:,.0f} a second of one core, peak {found['peak']:,.0f} MB",
                    flush=True,
                )


if __name__ == "__main__":
    main()
