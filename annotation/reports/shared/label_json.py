"""An annotator's labels as JSON, and the propagation rules that go with them.

The workbench is opened with it, and every save answers with it: the page replaces its labels by the answer's.
"""

from collections.abc import Mapping
from typing import Any, Protocol

from annotation.core.propagation import PropagationRules
from annotation.core.text import unescape
from annotation.models import Project, Subset


def rules_of(project: Project, subset: Subset) -> PropagationRules:
    """The propagation rules in force for the trajectories of a subset."""
    return PropagationRules(
        suspend_on_user_turn=subset.suspend_on_user_turn, carry_forward=project.carry_forward
    )


class LabelFields(Protocol):
    """What labels and outcomes have in common: a row of the database, or one in memory."""

    value: int | None
    unsure: bool
    flagged: bool
    note: str
    reason: str
    version: int


class StepLabelFields(LabelFields, Protocol):
    """The same of a step's label."""

    source: str
    root_id: int | None
    root_pinned: bool
    closes: str


NO_FIELDS = {"unsure": False, "flagged": False, "note": "", "reason": "", "version": 0}
NO_LABEL = {"value": None, "source": None, "root": None, "root_pinned": False, "closes": "", **NO_FIELDS}


def label_json(
    message_index: int, label: StepLabelFields | None, index_of: Mapping[int, int]
) -> dict[str, Any]:
    """One step's label; version 0 when it has never been touched.

    `index_of` gives the message index of each of the trajectory's steps by its pk; roots are message indexes.
    """
    if label is None:
        return {"message_index": message_index, **NO_LABEL}
    return {
        "message_index": message_index,
        "value": label.value,
        "source": label.source or None,
        "root": None if label.root_id is None else index_of.get(label.root_id),
        "root_pinned": label.root_pinned,
        "closes": label.closes,
        **_fields(label),
    }


def outcome_json(outcome: LabelFields | None) -> dict[str, Any]:
    """The outcome of a trajectory; version 0 when it has never been touched."""
    if outcome is None:
        return {"value": None, **NO_FIELDS}
    return {"value": outcome.value, **_fields(outcome)}


def _fields(label: LabelFields) -> dict[str, Any]:
    return {
        "unsure": label.unsure,
        "flagged": label.flagged,
        "note": unescape(label.note),
        "reason": label.reason,
        "version": label.version,
    }
