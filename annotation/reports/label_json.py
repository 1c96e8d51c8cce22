"""An annotator's labels as JSON, and the propagation rules that go with them.

The workbench is opened with it, and every save answers with it: the page replaces its labels by the answer's.
"""

from collections.abc import Mapping
from typing import Any

from annotation.core.propagation import Rules
from annotation.core.text import unescape
from annotation.models import Label, OutcomeLabel, Project, Subset


def rules_of(project: Project, subset: Subset) -> Rules:
    """The propagation rules in force for the trajectories of a subset."""
    return Rules(suspend_on_user_turn=subset.suspend_on_user_turn, carry_forward=project.carry_forward)


def label_json(message_index: int, label: Label | None, index_of: Mapping[int, int]) -> dict[str, Any]:
    """One step's label; version 0 when it has never been touched.

    `index_of` gives the message index of each of the trajectory's steps by its pk; roots are message indexes.
    """
    label = label or Label(version=0)
    return {
        "message_index": message_index,
        "value": label.value,
        "source": label.source or None,
        "root": None if label.root_id is None else index_of.get(label.root_id),
        "root_pinned": label.root_pinned,
        "closes": label.closes,
        **_judgement(label),
    }


def outcome_json(outcome: OutcomeLabel | None) -> dict[str, Any]:
    """The outcome of a trajectory; version 0 when it has never been touched."""
    outcome = outcome or OutcomeLabel(version=0)
    return {"value": outcome.value, **_judgement(outcome)}


def _judgement(label: Label | OutcomeLabel) -> dict[str, Any]:
    return {
        "unsure": label.unsure,
        "flagged": label.flagged,
        "note": unescape(label.note),
        "reason": label.reason,
        "version": label.version,
    }
