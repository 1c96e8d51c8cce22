"""The format of a release: one canonical record per trajectory, and the lines and manifest of an export.

Pure functions over the stored content of a trajectory (core.trajectories.trajectory.TrajectoryDraft.content)
and its
consensus.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final

from ..errors import Conflict
from ..i18n import translatable
from ..jsonio.canonical import canonical_json, sha256_hex
from ..vocabulary import PLAIN_SIGNS

FORMAT: Final = "tristep-release/4"
OLDER_FORMATS: Final = ("tristep-release/1", "tristep-release/2", "tristep-release/3")
WITHDRAWAL_FORMAT: Final = "tristep-withdrawal/1"
MANIFEST: Final = "manifest.json"
SIGNATURE: Final = "manifest.json.sig"
PUBLIC_KEY: Final = "release-key.pem"

# Keys and order of the published AgentProcessBench files (arXiv 2603.14465).
PUBLISHED_KEYS: Final = (
    "total_index",
    "query_index",
    "sample_index",
    "question",
    "data_source",
    "ground_truth",
    "answer_text",
    "messages",
    "tool_metrics",
    "tools",
    "step_labels",
    "final_label",
)
_OWN_HINTS: Final = frozenset({"total_index", "tool_metrics"})


@dataclass(frozen=True, slots=True)
class ConsensusSnapshot:
    """The consensus of one trajectory: (value, kind) per message index of each step, and of the outcome.

    `roots` are message indexes, of those −1 whose root is agreed; `reasons` are codes of the scheme, of those
    labels that have one; None is the outcome.
    """

    steps: Mapping[int, tuple[int, str]]
    outcome: tuple[int, str]
    roots: Mapping[int, int] = field(default_factory=dict)
    reasons: Mapping[int | None, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class BlindLabels:
    """The labels of one annotator, under a pseudonym, given before seeing a suggestion or anybody else's
    label of the trajectory: value by message index, and the outcome (None without one)."""

    annotator: str
    steps: Mapping[int, int]
    outcome: int | None


@dataclass(frozen=True, slots=True)
class RecordIndexes:
    """The place of a record: its subset, and indexes that fill in for a file that had none.

    `total_index` counts the release's records from 0, `query_index` the subset's tasks, `sample_index` the
    task's trajectories, each in the order of the release.
    """

    subset: str
    record_id: str
    policy_model: str
    total_index: int
    query_index: int
    sample_index: int


def release_record(
    content: Mapping[str, Any],
    indexes: RecordIndexes,
    resolved: ConsensusSnapshot,
    blind: Sequence[BlindLabels] = (),
    decision: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """The record of one trajectory: everything it came with, its consensus, how each label was reached, and
    what those who labelled it blind said, in the order of their pseudonyms. That of a decision also says
    where its options are from (core.decisions.record.frozen_details)."""
    hints = dict(content.get("hints") or {})
    total = hints.get("total_index")
    return ({} if decision is None else {"decision": dict(decision)}) | {
        "record_id": indexes.record_id,
        "subset": indexes.subset,
        "policy_model": indexes.policy_model,
        "task_key": content.get("task_key"),
        "total_index": total if type(total) is int else indexes.total_index,
        "query_index": _given(content.get("query_index"), indexes.query_index),
        "sample_index": _given(content.get("sample_index"), indexes.sample_index),
        "question": content.get("question"),
        "data_source": content.get("data_source") or indexes.subset,
        "ground_truth": content.get("reference_answer"),
        "task_description": content.get("task_description"),
        "answer_text": content.get("answer_text"),
        "messages": content["messages"],
        "tools": content.get("tools") or [],
        "tool_metrics": hints.get("tool_metrics", {}),
        "hints": {key: value for key, value in hints.items() if key not in _OWN_HINTS},
        "step_labels": {str(index): value for index, (value, _) in resolved.steps.items()},
        "step_kinds": {str(index): kind for index, (_, kind) in resolved.steps.items()},
        "step_roots": {str(index): root for index, root in resolved.roots.items()},
        "step_reasons": {str(index): code for index, code in resolved.reasons.items() if index is not None},
        "final_label": resolved.outcome[0],
        "final_kind": resolved.outcome[1],
        "final_reason": resolved.reasons.get(None, ""),
        "blind_labels": [
            {
                "annotator": one.annotator,
                "step_labels": {str(index): value for index, value in one.steps.items()},
                "final_label": one.outcome,
            }
            for one in blind
        ],
    }


def _given(value: Any, otherwise: int) -> int:
    return value if type(value) is int else otherwise


def record_line(record: Mapping[str, Any]) -> bytes:
    """The canonical JSON line of a record, without its newline: what a release's digest is made of."""
    return canonical_json(record)


def published_line(record: Mapping[str, Any]) -> bytes:
    """A record in exactly the shape of the published files, with its newline.

    UTF-8 as published; a record with lone surrogates, which UTF-8 cannot hold, is escaped to ASCII.
    """
    labels = record["step_labels"]
    shaped = {key: record[key] for key in PUBLISHED_KEYS}
    shaped["step_labels"] = {index: labels[index] for index in sorted(labels, key=int)}
    try:
        return json.dumps(shaped, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
    except UnicodeEncodeError:
        return json.dumps(shaped, ensure_ascii=True, separators=(",", ":")).encode() + b"\n"


def file_name(subset: str) -> str:
    """The file of a subset in an export."""
    return f"{subset}.jsonl"


def with_checksum(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """A manifest with the checksum of its own canonical JSON, so that a changed manifest is found out too."""
    body = {key: value for key, value in manifest.items() if key != "manifest_sha256"}
    return {**body, "manifest_sha256": sha256_hex(canonical_json(body))}


def manifest_file(manifest: Any) -> bytes:
    """The manifest as the file that goes with an export: the bytes that a signature covers."""
    return json.dumps(manifest, indent=2, sort_keys=True).encode() + b"\n"


def predecessor(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """The reference to this manifest's release in the next one's: its digest covers all of the manifest, and
    with it the records' digest and the release before."""
    return {key: manifest[key] for key in ("number", "version")} | {
        "manifest_sha256": with_checksum(manifest)["manifest_sha256"]
    }


def withdrawal_statement(manifest: Mapping[str, Any], reason: str, created_at: datetime) -> bytes:
    """The statement that the signature of a withdrawal covers: release, reason, and time."""
    return canonical_json(
        {
            "format": WITHDRAWAL_FORMAT,
            "project": manifest["project"],
            "release": predecessor(manifest),
            "reason": reason,
            "created_at": created_at.astimezone(UTC).isoformat(),
        }
    )


def refuse_older_format(manifest: Any) -> None:
    """Raise Conflict, which names the format, for the manifest of a release that is read no more."""
    format = manifest.get("format") if isinstance(manifest, dict) else None
    if format in OLDER_FORMATS:
        raise Conflict(
            translatable(
                "This release has the format {format}, which commit 48b59930 was the last to read; verify, "
                "compare or export it there.",
                format=format,
            ),
            code="older_format",
        )


def manifest_problems(manifest: Any) -> list[str]:
    """Problems of a manifest that was read from a file; empty when its own checksum holds. Raises Conflict
    for one of an older format."""
    refuse_older_format(manifest)
    known = isinstance(manifest, dict) and manifest.get("format") == FORMAT
    if not known or not isinstance(manifest.get("files"), dict):
        return [f"{MANIFEST}: this is no manifest of a release."]
    if with_checksum(manifest)["manifest_sha256"] != manifest.get("manifest_sha256"):
        return [f"{MANIFEST}: its own checksum does not match."]
    return []


def distribution(counts: Mapping[int, int]) -> dict[str, int]:
    """The number of occurrences of each value, by its name: {"-1": n, "0": n, "+1": n}."""
    return {name: counts.get(value, 0) for value, name in PLAIN_SIGNS.items()}
