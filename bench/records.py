"""Make the records to import: the published HotpotQA subset over and over, or synthetic ones of its shape."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PUBLISHED = ROOT.parent / "shared" / "data" / "agentprocessbench" / "hotpotqa.jsonl"
SAMPLES = 5
SEED = 20_260_314

# Of 250 published records, how many have so many steps; the longest have 30.
STEPS = {1: 48, 2: 80, 3: 56, 4: 39, 5: 10, 6: 8, 8: 5, 10: 2, 17: 1, 30: 1}
# Characters of a search result, by tenths of all results.
RESULTS = (2100, 2150, 2200, 2400, 4250, 4400, 4600, 6300, 6600, 8700, 16000)
PROMPT = 630
THOUGHT = 270


def description() -> str:
    """A description of the records for the head of the report."""
    if PUBLISHED.is_file():
        return f"the published HotpotQA subset ({PUBLISHED.name}), repeated with new query indexes"
    return "made records of the shape and size of the published HotpotQA subset, which is not here"


def records(how_many: int) -> Iterator[dict[str, Any]]:
    """The given number of records, no two with the same identity, in the AgentProcessBench shape."""
    templates = list(_published() if PUBLISHED.is_file() else _made(250))
    tasks = len({record["query_index"] for record in templates})
    for number in range(how_many):
        turn, which = divmod(number, len(templates))
        record = dict(templates[which])
        record["query_index"] += turn * tasks
        # else its history would be another record's, of which questions are made once
        record["question"] += f" ({turn})" if turn else ""
        record["total_index"] = SAMPLES * record["query_index"] + record["sample_index"]
        yield record


def write(path: Path, how_many: int) -> int:
    """Write so many records to `path` as JSON Lines; returns its size in bytes."""
    with path.open("wb") as file:
        for record in records(how_many):
            file.write(json.dumps(record, ensure_ascii=False).encode() + b"\n")
        return file.tell()


def small(how_many: int, *, after: int = 0) -> Iterator[dict[str, Any]]:
    """So many made records of eight or nine steps and 3.5 kB, numbered behind `after`."""
    chance = random.Random(SEED + after)
    return (_small(number, chance) for number in range(after, after + how_many))


def write_small(path: Path, how_many: int, *, after: int = 0) -> None:
    """Write so many `small` records to `path`."""
    with path.open("wb") as file:
        for record in small(how_many, after=after):
            file.write(json.dumps(record).encode() + b"\n")


def _small(number: int, chance: random.Random) -> dict[str, Any]:
    question = f"What is {number} in words? {_hex(chance, 120)}"
    messages: list[dict[str, Any]] = [{"role": "user", "content": question}]
    for step in range(chance.choice((7, 8))):
        call = f"call-{number}-{step}"
        search = {"name": "search", "arguments": json.dumps({"query": _hex(chance, 40)})}
        messages += [
            {
                "role": "assistant",
                "content": _hex(chance, 120),
                "tool_calls": [{"id": call, "type": "function", "function": search}],
            },
            {"role": "tool", "name": "search", "tool_call_id": call, "content": _hex(chance, 160)},
        ]
    messages.append({"role": "assistant", "content": _hex(chance, 200)})
    query, sample = divmod(number, SAMPLES)
    return {
        "total_index": number,
        "query_index": query,
        "sample_index": sample,
        "question": question,
        "data_source": "made_small",
        "messages": messages,
    }


def _hex(chance: random.Random, characters: int) -> str:
    return chance.randbytes(characters // 2).hex()


def _published() -> Iterator[dict[str, Any]]:
    with PUBLISHED.open("rb") as file:
        yield from map(json.loads, file)


def _made(how_many: int) -> Iterator[dict[str, Any]]:
    """Records of the real shape: a prompt, searches with long results, an answer; the same every time."""
    chance = random.Random(SEED)
    letters = "eeeeaaaiiootttnnsshrdlcumwfgyp"
    words = ["".join(chance.choices(letters, k=chance.randint(2, 9))) for _ in range(4000)]
    # few words often, many words seldom, so that the text compresses about as well as real text
    weights = [1 / (rank + 3) for rank in range(len(words))]

    def text(characters: int) -> str:
        return " ".join(chance.choices(words, weights, k=max(1, characters // 5)))[:characters]

    for number in range(how_many):
        query, sample = divmod(number, SAMPLES)
        steps = chance.choices(list(STEPS), list(STEPS.values()))[0]
        question = text(130)
        messages: list[dict[str, Any]] = [
            {"role": "system", "content": "You are a helpful and harmless assistant."},
            {"role": "user", "content": f"{text(PROMPT)} {question}"},
        ]
        for step in range(steps - 1):
            call = f"call-{number}-{step}"
            search = {"name": "search", "arguments": json.dumps({"query_list": [text(60), text(60)]})}
            found = [[{"document": {"id": str(number), "contents": text(chance.choice(RESULTS))}}]]
            messages += [
                {
                    "role": "assistant",
                    "content": text(THOUGHT) if step % 2 else "",
                    "tool_calls": [{"id": call, "type": "function", "function": search}],
                },
                {
                    "role": "tool",
                    "name": "search",
                    "tool_call_id": call,
                    "content": json.dumps({"result": found}),
                },
            ]
        messages.append({"role": "assistant", "content": text(2 * THOUGHT)})
        yield {
            "total_index": number,
            "query_index": query,
            "sample_index": sample,
            "question": question,
            "data_source": "made_hotpotqa",
            "ground_truth": {"target": [text(20)]},
            "answer_text": text(20),
            "messages": messages,
            "tool_metrics": {"search": [{"status": "success", "topk": 3, "tool_text_len": 2112}] * steps},
            "tools": [{"type": "function", "function": {"name": "search", "description": text(300)}}],
            "step_labels": {
                str(index): 1 for index, message in enumerate(messages) if message["role"] == "assistant"
            },
            "final_label": 1,
        }
