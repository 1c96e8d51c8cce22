"""Statements of a save, reading and writing, as they are sent.

A save is made for every key press. Django takes ten times as long to build and compile such statements as
the databases take to answer them, so they are built once, by hand: one that reads everything a save needs
(and one that locks, where a transaction does not), one for the labels, one for the events, one for the
operation.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import chain
from typing import Any, NamedTuple

from django.db import connection

from annotation.core.kinds import Feature, by_name
from annotation.core.label_fields import LABEL_FIELDS, OUTCOME_FIELDS, LabelFields, OutcomeFields
from annotation.core.propagation import PropagationRules
from annotation.core.vocabulary import Role

LOCK = "SELECT id FROM annotation_assignment WHERE id = %(assignment)s FOR NO KEY UPDATE"

# What there is once for all steps comes with the first of them. An exposure tells of a step when it is of
# that step or of the whole trajectory; but of suggestions, one without a step is the outcome's. Here it is
# asked of labels to be written; services/exposures.py (`_fix_blind_values`) asks it of labels that are there
# at an exposure, and models/blindness.py reads what both have written.
READ = """
SELECT a.project_id, a.trajectory_id, a.state, p.kind,
       CASE WHEN r.kind = 'test' THEN FALSE ELSE p.carry_forward END, b.suspend_on_user_turn,
       m.is_annotator, m.is_adjudicator, m.is_admin,
       op.digest, op.results, op.created_at,
       o.id, o.value, o.unsure, o.flagged, o.note, o.reason, o.version,
       (SELECT MIN(e.created_at) FROM annotation_exposure e
         WHERE e.user_id = a.annotator_id AND e.trajectory_id = a.trajectory_id AND e.step_id IS NULL
           AND s.ordinal = 0),
       s.id, s.message_index, s.after_user_turn,
       (SELECT MIN(e.created_at) FROM annotation_exposure e
         WHERE e.user_id = a.annotator_id AND e.trajectory_id = a.trajectory_id
           AND (e.step_id = s.id OR (e.step_id IS NULL AND e.kind <> 'suggestion'))),
       l.id, l.value, l.unsure, l.flagged, l.note, l.reason, l.version, l.source, l.root_id, l.root_pinned,
       l.closes
  FROM annotation_assignment a
  JOIN annotation_project p ON p.id = a.project_id
  JOIN annotation_trajectory t ON t.id = a.trajectory_id
  JOIN annotation_subset b ON b.id = t.subset_id
  LEFT JOIN annotation_recheck r ON r.id = a.recheck_id
  JOIN annotation_step s ON s.trajectory_id = a.trajectory_id
  LEFT JOIN annotation_membership m ON m.project_id = a.project_id AND m.user_id = a.annotator_id
  LEFT JOIN annotation_label l ON l.assignment_id = a.id AND l.step_id = s.id
  LEFT JOIN annotation_outcomelabel o ON o.assignment_id = a.id AND s.ordinal = 0
  LEFT JOIN annotation_saveoperation op
         ON op.assignment_id = a.id AND op.op_id = %(op_id)s AND s.ordinal = 0
 WHERE a.id = %(assignment)s AND a.annotator_id = %(annotator)s
 ORDER BY s.message_index
"""
OF_STEP = 20  # where the columns of the step begin

OUTCOME_COLUMNS = (*OUTCOME_FIELDS, "updated_at")
LABEL_COLUMNS = (*("root_id" if name == "root" else name for name in LABEL_FIELDS), "updated_at")
EVENT = ("assignment_id", "step_id", "op_id", "kind", "value", "source", "version", "detail", "created_at")
OPERATION = ("assignment_id", "op_id", "digest", "results", "created_at")
# PostgreSQL takes 65,535 values in a statement; SQLite says what it takes.
MOST_VALUES = 30_000


class StepRow(NamedTuple):
    """A step; `exposed_at` is when the annotator first saw something that tells of its label."""

    pk: int
    message_index: int
    after_user_turn: bool
    exposed_at: datetime | None


class EarlierSave(NamedTuple):
    """A batch that was applied before: the digest of its changes, what came of them, and when it was."""

    digest: str
    results: list[dict[str, Any]]
    created_at: datetime


@dataclass(frozen=True, slots=True)
class SaveContext:
    """The rows that a save reads. `held` are the annotator's roles, `labels` by message index."""

    project_id: int
    trajectory_id: int
    state: str
    rules: PropagationRules
    held: frozenset[Role]
    operation: EarlierSave | None
    outcome: OutcomeFields | None
    outcome_exposed_at: datetime | None
    steps: list[StepRow]
    labels: dict[int, LabelFields]


def read(*, assignment: int, annotator: int, op_id: str) -> SaveContext | None:
    """The person's own assignment, locked until the transaction ends; None when it is not theirs.

    One query; on PostgreSQL the lock is one before, so that the labels are read as they are once it is had.
    """
    params: dict[str, int | str] = {"assignment": assignment, "annotator": annotator, "op_id": op_id}
    with connection.cursor() as cursor:
        if connection.features.has_select_for_update:
            cursor.execute(LOCK, params)
        cursor.execute(READ, params)
        rows = cursor.fetchall()
    if not rows:
        return None
    first = rows[0]
    project, trajectory, state, kind, carry_forward, suspend = first[:6]
    held = frozenset(
        role
        for role, has in zip((Role.ANNOTATOR, Role.ADJUDICATOR, Role.ADMIN), first[6:9], strict=True)
        if has
    )
    steps, labels = [], {}
    index_of = {row[OF_STEP]: row[OF_STEP + 1] for row in rows}
    for row in rows:
        pk, index, after_user_turn, exposed_at, label, *columns = row[OF_STEP:]
        steps.append(StepRow(pk, index, bool(after_user_turn), _moment(exposed_at)))
        if label is not None:
            *fields, source, root, pinned, closes = columns
            labels[index] = LabelFields(
                *_outcome_fields(*fields), source, index_of.get(root), bool(pinned), closes
            )
    return SaveContext(
        project_id=project,
        trajectory_id=trajectory,
        state=state,
        rules=PropagationRules(
            suspend_on_user_turn=bool(suspend),
            carry_forward=bool(carry_forward),
            propagates=by_name(kind).has(Feature.PROPAGATION),
            others=by_name(kind).has(Feature.PAIRS),
        ),
        held=held,
        operation=_operation(*first[9:12]),
        outcome=OutcomeFields(*_outcome_fields(*first[13:19])) if first[12] is not None else None,
        outcome_exposed_at=_moment(first[19]),
        steps=steps,
        labels=labels,
    )


def _operation(digest: str | None, results: str, created_at: Any) -> EarlierSave | None:
    return None if digest is None else EarlierSave(digest, json.loads(results), _moment(created_at))


def _outcome_fields(
    value: int | None, unsure: Any, flagged: Any, note: str, reason: str, version: int
) -> tuple[int | None, bool, bool, str, str, int]:
    return value, bool(unsure), bool(flagged), note, reason, version


def _moment(value: Any) -> Any:
    """A time as SQLite gives it, in UTC: text from a function, and without its zone from a column."""
    if isinstance(value, str):
        value = datetime.fromisoformat(value)
    return value.replace(tzinfo=UTC) if isinstance(value, datetime) and value.tzinfo is None else value


# ── Writing ───────────────────────────────
def write_labels(
    assignment: int, steps: Mapping[int, StepRow], labels: Mapping[int, LabelFields], now: datetime
) -> None:
    """Insert labels of steps, or bring them up to date; both by message index. The exposure is that of the
    first label."""
    rows = [
        (
            *(assignment, steps[index].pk, steps[index].exposed_at),
            *(label.value, label.unsure, label.flagged, label.note, label.reason, label.version),
            *(label.source, None if label.root is None else steps[label.root].pk),
            *(label.root_pinned, label.closes, now),
        )
        for index, label in labels.items()
    ]
    columns = ("assignment_id", "step_id", "exposed_at", *LABEL_COLUMNS)
    _insert("annotation_label", columns, rows, unique=("assignment_id", "step_id"), update=LABEL_COLUMNS)


def write_outcome(
    assignment: int, outcome: OutcomeFields, exposed_at: datetime | None, now: datetime
) -> None:
    """Insert the outcome, or bring it up to date."""
    row = (
        *(assignment, exposed_at, outcome.value, outcome.unsure, outcome.flagged, outcome.note),
        *(outcome.reason, outcome.version, now),
    )
    columns = ("assignment_id", "exposed_at", *OUTCOME_COLUMNS)
    _insert("annotation_outcomelabel", columns, [row], unique=("assignment_id",), update=OUTCOME_COLUMNS)


def write_events(rows: Sequence[tuple[Any, ...]]) -> None:
    """Append to the history: the values of EVENT, each."""
    _insert("annotation_labelevent", EVENT, rows)


def write_operation(
    assignment: int, op_id: str, digest: str, results: Sequence[dict[str, Any]], now: datetime
) -> None:
    """Remember a batch, so that the same one again changes nothing."""
    row = (assignment, op_id, digest, json.dumps(results), now)
    _insert("annotation_saveoperation", OPERATION, [row])


def _insert(
    table: str,
    columns: Sequence[str],
    rows: Sequence[tuple[Any, ...]],
    *,
    unique: Sequence[str] = (),
    update: Sequence[str] = (),
) -> None:
    """Insert rows; those that are there already, by `unique`, get new values in `update`."""
    tail = ""
    if unique:
        fresh = ", ".join(f"{name} = EXCLUDED.{name}" for name in update)
        tail = f" ON CONFLICT ({', '.join(unique)}) DO UPDATE SET {fresh}"
    places = f"({', '.join(['%s'] * len(columns))})"
    size = (connection.features.max_query_params or MOST_VALUES) // len(columns)
    adapted = [tuple(_adapted(value) for value in row) for row in rows]
    with connection.cursor() as cursor:
        for start in range(0, len(adapted), size):
            part = adapted[start : start + size]
            cursor.execute(
                f"INSERT INTO {table} ({', '.join(columns)}) VALUES {', '.join([places] * len(part))}{tail}",
                list(chain.from_iterable(part)),
            )


def _adapted(value: Any) -> Any:
    return connection.ops.adapt_datetimefield_value(value) if isinstance(value, datetime) else value
