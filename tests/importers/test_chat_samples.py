"""The samples of other projects' logs, with the counts that were made without our code (`COUNTS.txt`)."""

import io
from collections import Counter
from pathlib import Path

import pytest

from annotation.core.trajectories.trajectory import TrajectoryDraft, step_indexes
from annotation.importers import FORMATS, HEAD_BYTES, ReadContext, sniff

FOLDERS = {
    "claude_agent_sdk": "anthropic",
    "claude_code": "claude_code",
    "codex": "codex",
    "langchain": "langchain",
    "mini_swe_agent": "mini_swe_agent",
    "openai_chat_logs": "openai_chat",
    "openai_responses": "openai_responses",
    "openhands": "openhands",
    "swe_agent_traj": "swe_agent",
}

IMAGES = ("image", "image_url", "input_image")  # the last two are without an address
# by how much our counts are less, because the report counts it apart (`NOTED`)
APART = {
    # a catalogue of kinds of lines: one answer was tried again, another is the program's own
    "claude_small.jsonl": Counter(steps=4, calls=1, results=2, errors=1),
    # the command stands in the text of the response
    "ctf__misc__networking_1.traj": Counter(calls=4),
    # broken arguments are shown as a call
    "generated_dumpd.json": Counter(calls=-1),
    "generated_messages_to_dict.json": Counter(calls=-1),
    # the generated image is shown
    "codex_small.jsonl": Counter(images=-1),
}
NOTED = {
    "claude_small.jsonl": {
        "responses on branches left out": 3,
        "messages that the program wrote in the model’s place, which are no steps": 1,
    },
    "ctf__misc__networking_1.traj": {"commands that a response has in its text, not as a call": 4},
    "generated_dumpd.json": {"tool calls whose arguments could not be parsed": 1},
    "generated_messages_to_dict.json": {"tool calls whose arguments could not be parsed": 1},
    "edge_cases.jsonl": {"lines that are no JSON objects, passed over": 3},
    "sdk_goal_events.jsonl": {"results whose call is not in the file": 1},
    "codex_small.jsonl": {"compactions": 6},
}


def counted(data: bytes, name: str) -> tuple[Counter[str], list[TrajectoryDraft], ReadContext]:
    """The draft of a file, with counts as in COUNTS.txt."""
    context = ReadContext(name)
    own = sniff(data[:HEAD_BYTES]).name
    found = list(FORMATS[own].read(io.BytesIO(data), context))
    drafts = [item for item in found if isinstance(item, TrajectoryDraft)]
    assert len(drafts) == len(found), found
    counts: Counter[str] = Counter(trajectories=len(drafts))
    for draft in drafts:
        counts["steps"] += len(step_indexes(draft.messages))
        for message in draft.messages:
            counts["calls"] += len(message.get("tool_calls", ()))
            counts["results"] += message["role"] == "tool"
            counts["errors"] += message.get("is_error") is True
            content = message["content"] if isinstance(message["content"], list) else []
            counts["images"] += sum(part.get("type") in IMAGES for part in content)
    return counts, drafts, context


@pytest.mark.published
def test_samples_import_with_the_counts_that_were_made_without_us(published: Path) -> None:
    samples = published / "formats"
    lines = (samples / "COUNTS.txt").read_text("utf-8").splitlines()
    seen = 0
    for line in lines:
        place, _, figures = line.partition("\t")
        folder, _, name = place.partition("/")
        if folder not in FOLDERS:
            continue
        seen += 1
        data = (samples / place).read_bytes()
        wanted = Counter(
            {
                key: int(value)
                for key, value in (pair.split("=") for pair in figures.split())
                if key in ("trajectories", "steps", "calls", "results", "errors", "images")
            }
        )
        wanted.subtract(APART.get(name, Counter()))
        counts, drafts, context = counted(data, name)
        assert sniff(data[:HEAD_BYTES]).name == FOLDERS[folder], place
        assert {key: counts[key] for key in wanted} == dict(wanted), place
        for note, times in NOTED.get(name, {}).items():
            assert context.notes[note] == times, (place, note)
        for draft in drafts if "source" in drafts[0].hints else ():
            addressed = sorted(int(index) for index in draft.hints["source_steps"])
            assert addressed == step_indexes(draft.messages), place
    assert seen == 25
