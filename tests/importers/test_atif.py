"""ATIF: what is refused, what is not a step, and the way out and back again."""

import io
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotation.core.jsonio.canonical import canonical_json
from annotation.core.kinds import Feature
from annotation.core.trajectories.atif import StepLabel, document
from annotation.core.trajectories.trajectory import SourceLabel, TrajectoryDraft, content_digest, step_indexes
from annotation.importers import FORMATS, ReadContext, kind_of
from tests.strategies import ANY_JSON

from . import golden
from .counting import count_of

AGENT = {"name": "a", "version": "1", "model_name": "m"}
STEPS = [
    {"step_id": 1, "source": "user", "message": "Q?"},
    {"step_id": 2, "source": "agent", "message": "A."},
]
UNKNOWN = "f:1: schema_version: “ATIF-v2.0” is not known; ATIF-v1.0 to ATIF-v1.7 are read"
ROLES = ["system", "user", "assistant", "tool", "function", "context", "developer"]


def read(value: Any) -> tuple[list[TrajectoryDraft], list[str], ReadContext]:
    context = ReadContext("f")
    found = list(FORMATS["atif"].read(io.BytesIO(json.dumps(value).encode()), context))
    drafts = [item for item in found if isinstance(item, TrajectoryDraft)]
    return drafts, [str(item) for item in found if not isinstance(item, TrajectoryDraft)], context


def atif(**changes: Any) -> dict[str, Any]:
    return {"schema_version": "ATIF-v1.7", "session_id": "s", "agent": AGENT, "steps": STEPS, **changes}


def there_and_back(draft: TrajectoryDraft, *labels: StepLabel) -> TrajectoryDraft:
    content = json.loads(json.dumps(draft.content()))
    record = {"record_id": draft.record_id, "policy_model": draft.policy_model}
    drafts, errors, _ = read(document(content, **record, labels=labels))
    assert not errors
    return drafts[0]


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        (atif(schema_version="ATIF-v2.0"), UNKNOWN),
        (atif(steps={}), "f:1: steps: must be a list"),
        (atif(steps=[*STEPS, 1]), "f:1: steps[2]: must be an object"),
        (atif(steps=STEPS[:1]), "f:1: messages: has no assistant message, so there is no step to label"),
        ([atif(), atif()], 'f:1: record_id: "s" occurs twice in this file, in line 1'),
        ({"a": 1}, "f:1: is not a JSON object"),
    ],
)  # fmt: skip
def test_atif_document_that_is_bad_is_refused_in_words(value: Any, sentence: str) -> None:
    assert read(value)[1] == [sentence]


def test_atif_later_minor_version_is_read_and_told() -> None:
    drafts, _, context = read(atif(schema_version="ATIF-v1.9"))
    assert drafts[0].hints["source"]["version"] == "ATIF-v1.9"
    assert dict(context.notes) == {"trajectories of a later version of ATIF than is known here": 1}


RUNS = [path for path in golden.files() if kind_of(FORMATS[golden.format_of(path)]).has(Feature.ATIF)]


@pytest.mark.parametrize("path", [pytest.param(path, id=path.name) for path in RUNS])
def test_atif_export_of_every_golden_record_reads_back_as_the_same_record(path: Path) -> None:
    with path.open("rb") as stream:
        found = FORMATS[golden.format_of(path)].read(stream, ReadContext(path.name))
        drafts = [item for item in found if isinstance(item, TrajectoryDraft)]
    assert drafts
    for draft in drafts:
        back = there_and_back(draft)
        assert back.content() == draft.content()
        assert content_digest(back) == content_digest(draft)
        assert (back.record_id, back.policy_model) == (draft.record_id, draft.policy_model)


@given(
    st.lists(
        st.fixed_dictionaries(
            {"role": st.sampled_from(ROLES)},
            optional={
                "content": ANY_JSON,
                "tool_calls": ANY_JSON,
                "tool_call_id": ANY_JSON,
                "reasoning_content": ANY_JSON,
            },
        ),
        min_size=1,
        max_size=6,
    )
)
@settings(max_examples=150)
def test_atif_export_of_any_messages_reads_back_as_the_same_messages(messages: list[dict[str, Any]]) -> None:
    content = {"messages": [*messages, {"role": "assistant", "content": "A."}], "hints": {}}
    drafts, errors, _ = read(document(content, record_id="r", policy_model="m"))
    assert not errors
    assert canonical_json(drafts[0].messages) == canonical_json(content["messages"])


def test_atif_export_of_arguments_that_are_nested_too_deeply_keeps_their_text() -> None:
    arguments = '{"a": ' + "[" * 300 + "]" * 300 + "}"
    calls = [{"id": "c", "type": "function", "function": {"name": "f", "arguments": arguments}}]
    messages = [{"role": "assistant", "content": "A.", "tool_calls": calls}]
    drafts, errors, _ = read(document({"messages": messages, "hints": {}}, record_id="r", policy_model="m"))
    assert (drafts[0].messages, errors) == (messages, [])


def test_atif_export_carries_the_consensus_and_reads_it_back_as_labels_of_the_file() -> None:
    draft = read(atif())[0][0]
    labels = (StepLabel(1, -1, "majority"), StepLabel(None, 0, "unanimous"))
    back = there_and_back(draft, *labels)
    assert back.content() == draft.content(), "labels are no part of the content"
    assert back.source_labels == (
        SourceLabel(1, "tristep", -1, "majority"),
        SourceLabel(None, "tristep", 0, "unanimous"),
    )


def test_atif_export_uses_the_fields_of_the_format_for_what_they_hold() -> None:
    calls = [{"id": "c", "type": "function", "function": {"name": "look", "arguments": '{"at": 1}'}}]
    content = {
        "messages": [
            {"role": "user", "content": "Q?"},
            {"role": "assistant", "content": "I look.", "reasoning_content": "Hm.", "tool_calls": calls},
            {"role": "tool", "content": "seen", "tool_call_id": "c"},
            {"role": "assistant", "content": "A."},
        ],
        "hints": {},
    }
    made = document(content, record_id="r", policy_model="m")
    assert made["schema_version"] == "ATIF-v1.7"
    assert made["agent"]["model_name"] == "m"
    assert made["steps"] == [
        {"step_id": 1, "source": "user", "message": "Q?"},
        {
            "step_id": 2,
            "source": "agent",
            "message": "I look.",
            "reasoning_content": "Hm.",
            "tool_calls": [{"tool_call_id": "c", "function_name": "look", "arguments": {"at": 1}}],
            "observation": {"results": [{"source_call_id": "c", "content": "seen"}]},
        },
        {"step_id": 3, "source": "agent", "message": "A."},
    ]


@pytest.mark.parametrize(
    "changes", [{"hints": 1}, {"version": 2}, {"question": 7, "query_index": -1, "tools": 1}]
)
def test_atif_document_that_only_claims_to_be_ours_does_no_harm(changes: dict[str, Any]) -> None:
    ours = {"version": 1, "hints": {}, **changes}
    drafts, errors, _ = read(atif(extra={"tristep": ours}))
    assert not errors
    assert drafts[0].question == "Q?"
    assert drafts[0].query_index is None
    assert step_indexes(drafts[0].messages) == [1]


@pytest.mark.published
@pytest.mark.parametrize(
    ("name", "trajectories", "steps", "results"),
    [
        ("openagents_login-trace.json", 1, 6, 6),
        ("harbor_terminus2_continuation.json", 1, 3, 4),
        ("harbor_terminus2_continuation_cont1.json", 1, 5 - 1, 4),  # one of the five is copied
        ("harbor_terminus2_invalid_json.json", 1, 4, 4),
        ("harbor_terminus2_summarization.json", 1, 7, 8),
        ("harbor_terminus2_timeout.json", 1, 3, 3),
        ("multi_tool_trajectory.json", 1, 3, 4),
        ("multimodal_trajectory.json", 1, 2, 1),
        ("subagent_trajectories.json", 2, 3, 1),
        ("v17_embedded_subagents.json", 2, 2 - 1 + 1, 2),  # one is a dispatch, one of the sub-agent
    ],
)
def test_atif_samples_of_other_projects(
    published: Path, name: str, trajectories: int, steps: int, results: int
) -> None:
    found, counts, errors = count_of(published / "formats" / "atif" / name)
    assert (found, errors) == ("atif", [])
    assert (counts["trajectories"], counts["steps"], counts["results"]) == (trajectories, steps, results)
