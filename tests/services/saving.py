"""Saving and reading answers in one line, for tests."""

from __future__ import annotations

from typing import Any

from annotation.models import Assignment
from annotation.services import label
from tests import people
from tests.people import change


def save(assignment: Assignment, *changes: dict[str, Any], op_id: str = "") -> dict[str, Any]:
    return label.save_labels(
        actor=assignment.annotator,
        assignment=assignment,
        op_id=op_id or people.op_id(),
        changes=changes,
    )


def statuses(answer: dict[str, Any]) -> list[str]:
    return [result["status"] for result in answer["results"]]


def shown(answer: dict[str, Any], index: int) -> dict[str, Any]:
    return next(one for one in answer["labels"] if one["message_index"] == index)


def fill(index: int, root: int, *, version: int = 0) -> dict[str, Any]:
    return change(index, -1, version=version, source="propagated", root=root)
