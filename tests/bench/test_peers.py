"""The parts of the topic `peers` that need no peer: records and labels in their formats, memory, verdicts."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from bench import records
from bench.peers import label_studio, peer, potato, topic
from bench.report import Report

RECORD: dict[str, Any] = {
    "query_index": 7,
    "sample_index": 2,
    "question": "Who wrote it?",
    "messages": [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Who wrote it?"},
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [{"id": "a", "function": {"name": "search", "arguments": '{"q": "it"}'}}],
        },
        {"role": "tool", "tool_call_id": "a", "content": "Somebody did."},
        {"role": "assistant", "content": "Somebody."},
    ],
}


def test_peers_get_every_message_of_a_record_and_a_place_for_each_label() -> None:
    task = label_studio.converted(RECORD)["data"]
    item = potato.converted(RECORD)

    assert task["name"] == item["id"] == "7-2"
    assert [len(task["steps"]), potato.labels({"data": item})] == [2, 3]
    assert task["before"] == "Be brief.\n\nWho wrote it?"
    assert "search" in task["steps"][0]["text"] and "Somebody did." in task["steps"][0]["text"]
    assert task["steps"][1]["text"] == "Somebody."
    user, first, second = item["structured_turns"]
    assert user == {"role": "user", "content": "Be brief.\n\nWho wrote it?"}
    assert first["tool_calls"] == [
        {"tool": "search", "input": {"arguments": '{"q": "it"}'}, "output": "Somebody did."}
    ]
    assert second == {"role": "assistant", "content": "Somebody.", "tool_calls": []}


def test_peers_lose_no_text_of_published_records() -> None:
    for record in records.records(250):
        told = json.dumps(potato.converted(record)), json.dumps(label_studio.converted(record))
        for message in record["messages"]:
            for text in told:
                assert json.dumps(message["content"] or "")[1:-1] in text, record["query_index"]


def test_labels_go_to_label_studio_under_the_names_of_its_labelling_config() -> None:
    given = {0: 1, 1: -1, 2: 0}
    names = {one.get("name") for one in ElementTree.fromstring(label_studio.LABELS).iter("Choices")}
    choices = {one.get("value") for one in ElementTree.fromstring(label_studio.LABELS).iter("Choice")}

    found = label_studio.result(given, 3)

    assert [(one["from_name"], one["to_name"], one["value"]["choices"]) for one in found] == [
        ("label_0", "step_0", ["1"]),
        ("label_1", "step_1", ["-1"]),
        ("outcome", "before", ["unclear"]),
    ]
    assert names == {"label_{{idx}}", "outcome"}
    assert choices == {"1", "0", "-1", *label_studio.OUTCOMES.values()}


def test_labels_go_to_potato_with_null_for_what_is_not_labelled_yet() -> None:
    begun = potato.answers_of({0: 1}, 3)
    done = potato.answers_of({0: 1, 1: 0, 2: -1}, 3)

    assert [step["reward"] for step in json.loads(begun["steps:steps"])["steps"]] == [None, 1, None]
    assert begun.keys() == {"steps:steps"}
    assert [step["reward"] for step in json.loads(done["steps:steps"])["steps"]] == [None, 1, 0]
    assert done["outcome:failure"] == "failure"


def test_potatos_export_counts_records_with_labels_of_steps(tmp_path: Path) -> None:
    rows = [
        {"instance_id": "7-2", "labels": {"steps": {"steps": "{}"}, "outcome": {"failure": "failure"}}},
        {"instance_id": "8-2", "labels": {"outcome": {"failure": "failure"}}},
    ]
    (tmp_path / "annotations.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))

    assert potato.exported(tmp_path) == 1


@pytest.mark.skipif(
    not Path("/proc/self/smaps_rollup").exists(), reason="Linux alone tells what processes share."
)
def test_memory_of_a_platform_is_that_of_all_its_processes() -> None:
    code = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'print(1, flush=True); input()'])"
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as parent:
        assert parent.stdout is not None and parent.stdin is not None
        parent.stdout.readline()
        found = peer.everything([parent.pid])
        assert found[0] == parent.pid and len(found) == 2
        assert peer.resting([parent.pid]) > peer.resting([found[1]]) > 0
        assert peer.peak([parent.pid]) >= peer.peak([found[1]]) > 0
        parent.stdin.close()
    assert os.getpid() in peer.everything([os.getppid()])


def test_ours_is_held_to_be_faster_than_every_peer(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def figures(name: str, seconds: float) -> topic.Figures:
        moved = peer.Moved(100, seconds)
        times = [seconds, seconds]
        return topic.Figures(
            name, "", seconds, 1, seconds, 1, 1, moved, moved, times, times, [], times, 2 * seconds
        )

    report = Report(tmp_path / "figures.jsonl")
    topic.told([figures("Tristep", 2), figures("Slow", 4), figures("Fast", 1)], report)

    assert [(limit.what.rpartition(" ")[2], limit.holds) for limit in report.limits] == [
        *[("Slow", True)] * 3,
        *[("Fast", False)] * 3,
    ]
    assert "0.50" in capsys.readouterr().out
