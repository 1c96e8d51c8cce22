"""Changes between two releases, as JSON."""

from __future__ import annotations

from collections import Counter
from typing import Any

from .diff import WHATS, DiffCounts, LabelChange, RecordChange, ReleaseDiff, ReleasedLabel
from .record_format import distribution


def diff_json(diff: ReleaseDiff) -> dict[str, Any]:
    """The counts of a comparison; its changes are listed apart (`change_json`)."""
    return {
        "counts": counts_json(diff.whole),
        "subsets": {name: counts_json(counts) for name, counts in diff.subsets.items()},
        "label_distribution": _pair(diff.values),
        "outcome_distribution": _pair(diff.outcomes),
        "step_labels": _moves(diff.moved),
        "outcomes": _moves(diff.moved_outcomes),
        "reasons": dict(sorted(diff.reasons.items())),
        "reached": [
            {"before": was or None, "after": now or None, "labels": count}
            for (was, now), count in sorted(diff.kinds.items())
        ],
    }


def counts_json(counts: DiffCounts) -> dict[str, Any]:
    """Records and steps of both, what became of the records, and how many step labels changed."""
    return {
        "records": {"before": counts.before, "after": counts.after},
        "steps": {"before": counts.steps_before, "after": counts.steps_after},
        "unchanged": counts.unchanged,
        **{f"records_{what}": counts.records[what] for what in WHATS},
        "step_labels_changed": counts.labels,
    }


def change_json(change: RecordChange) -> dict[str, Any]:
    """One record that is not the same in both."""
    return {
        "subset": change.subset,
        "record_id": change.record_id,
        "policy_model": change.policy_model,
        "what": [what for what in WHATS if what in change.what],
        "labels": [_label(label) for label in change.labels],
    }


def _label(one: LabelChange) -> dict[str, Any]:
    return {
        "message_index": one.message_index,
        "step": one.number,
        "before": _said(one.before),
        "after": _said(one.after),
    }


def _said(one: ReleasedLabel | None) -> dict[str, Any] | None:
    return None if one is None else one._asdict()


def _pair(counts: tuple[Counter[int], Counter[int]]) -> dict[str, Any]:
    return {when: distribution(one) for when, one in zip(("before", "after"), counts, strict=True)}


def _moves(moved: Counter[tuple[int, int]]) -> list[dict[str, int]]:
    return [{"before": was, "after": now, "count": count} for (was, now), count in sorted(moved.items())]
