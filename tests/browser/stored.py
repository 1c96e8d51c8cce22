"""The content of the database, read by browser tests: inside `eventually`, which waits for a stated
condition."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, TypeVar

from django.core.exceptions import ObjectDoesNotExist

from annotation.models import (
    Assignment,
    Consensus,
    Decision,
    Exposure,
    Label,
    LabelEvent,
    OutcomeLabel,
    SaveOperation,
    User,
)
from annotation.models.blindness import BLIND_VALUE, with_blind_values
from annotation.reports.training.proficiency import key_values
from tests.chromium import PATIENCE

T = TypeVar("T")


def eventually(read: Callable[[], T], expected: object) -> T:
    """The value of `read()` once it is `expected`: a value to equal, or a function that says whether it fits.

    What does not exist is not there yet. Fails after PATIENCE, and says what was read last.
    """
    deadline = time.monotonic() + PATIENCE / 1000
    while True:
        value: T | ObjectDoesNotExist
        try:
            value = read()
            if expected(value) if callable(expected) else value == expected:
                return value
        except ObjectDoesNotExist as missing:
            value = missing
        assert time.monotonic() < deadline, f"wanted {expected!r}, and read {value!r} at last"
        time.sleep(0.02)


def about(assignment: Assignment, *columns: str) -> tuple[Any, ...]:
    """Columns of the assignment."""
    return Assignment.objects.values_list(*columns).get(pk=assignment.pk)


def state_of(assignment: Assignment) -> str:
    """The state of an assignment."""
    return str(about(assignment, "state")[0])


def labels_of(assignment: Assignment, *columns: str) -> list[tuple[Any, ...]]:
    """These columns of each label, or message index, value and source."""
    rows = Label.objects.filter(assignment=assignment).order_by("step__message_index")
    return list(rows.values_list(*columns or ("step__message_index", "value", "source")))


def values_of(assignment: Assignment) -> list[int | None]:
    """The value of each label, in the order of the steps."""
    return [value for (value,) in labels_of(assignment, "value")]


def outcome_of(assignment: Assignment) -> int | None:
    """The outcome."""
    return OutcomeLabel.objects.values_list("value", flat=True).get(assignment=assignment)


def saves_of(assignment: Assignment) -> int:
    """The number of batches of changes that have been stored."""
    return SaveOperation.objects.filter(assignment=assignment).count()


def events_of(assignment: Assignment, kind: str) -> int:
    """The number of events of that kind that its labels have."""
    return LabelEvent.objects.filter(assignment=assignment, kind=kind).count()


def key_of(assignment: int) -> list[int]:
    """The key of what an assignment (pk) is about: of the steps in their order, and of the outcome."""
    row = Assignment.stored.select_related("trajectory").get(pk=assignment).trajectory
    (key,) = key_values([row]).values()
    return [key[index] for index in sorted(key, key=lambda index: (index is None, index or 0))]


def kinds_given(user: int) -> list[str | None]:
    """What each assignment of somebody (pk) is, the newest last: "gold" and so on; None: from the queue."""
    rows = Assignment.stored.filter(annotator=user).order_by("pk")
    return list(rows.values_list("recheck__kind", flat=True))


def exposures(user: User) -> int:
    """The number of times a person has been shown suggestions."""
    return Exposure.objects.filter(user=user, kind="suggestion").count()


def decisions() -> dict[int | None, int]:
    """The decisions in the one case, by message index; None is the outcome."""
    return dict(Decision.objects.values_list("step__message_index", "value"))


def consensus(*columns: str) -> list[tuple[Any, ...]]:
    """These columns of the consensus on each step of the one trajectory."""
    return list(Consensus.objects.order_by("step__message_index").values_list(*columns))


def submitted_labels(*names: str) -> dict[str, list[dict[str, Any]]]:
    """The labels that these annotators have submitted, whole rows, which must never change again.

    What each said blind is the value, or what was kept of it when they saw what others said.
    """
    seen = ("blind_value", "exposed_at")
    rows: dict[str, list[dict[str, Any]]] = {}
    for name in names:
        rows[name] = []
        for model in (Label, OutcomeLabel):
            theirs = with_blind_values(model.objects.filter(assignment__annotator__username=name))
            for row in theirs.order_by("pk").annotate(blind=BLIND_VALUE).values():
                rows[name].append({column: value for column, value in row.items() if column not in seen})
    return rows
