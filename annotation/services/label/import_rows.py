"""Store a person's labels from a file: as open assignments first, which are then submitted; in short turns.

Some trajectories at a time, with as many statements as for one. They are taken in the order of their pks,
which is the order in which everybody locks them.
"""

import pickle
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from typing import NamedTuple, Self

from django.conf import settings
from django.db import IntegrityError, connection
from django.db.models import F
from django.utils import timezone

from annotation.core.errors import TristepError
from annotation.core.jsonio.file_errors import FileErrors
from annotation.core.jsonio.jsonlines import RecordError
from annotation.core.vocabulary import AssignmentState, LabelSource
from annotation.models import Assignment, Label, LabelEvent, OutcomeLabel, Trajectory, User

from .. import assign, second_person
from ..batched_writes import in_blocks, parts
from ..bulk import insert, moment
from ..cursors import lower_cursors
from ..shares import meetings
from .submit import finish

MOST_AT_ONCE = 150
"""So much is written by one set of statements: steps, and for each trajectory as much as `OF_ITS_OWN` of
them."""
OF_ITS_OWN = 3
READING, STORING = 0.4, 0.8
"""The shares of an import after reading its file, and after storing its labels."""

Beat = Callable[[float], None]


class PreparedLabel(NamedTuple):
    """A label to be stored; step and root by their pks, the note escaped."""

    step: int
    value: int
    root: int | None
    note: str


class PreparedLine(NamedTuple):
    """The labels of one trajectory (by its pk) from one line, checked. `no_place` is what to say when all
    places are taken by then."""

    trajectory: int
    line: int
    labels: list[PreparedLabel]
    outcome: int | None
    note: str
    no_place: RecordError


class Opened(NamedTuple):
    """An open assignment that an import made, by its pk, with how many steps it labels."""

    trajectory: int
    assignment: int
    steps: int


class LabelSpool:
    """Prepared labels in a file, between checking and storing them: a project's labels need much memory."""

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile(dir=settings.DATA_DIR, prefix=".labels-")  # noqa: SIM115
        self._places: list[tuple[int, int]] = []
        self.steps = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def __len__(self) -> int:
        return len(self._places)

    def add(self, assignment: PreparedLine) -> None:
        """Keep one more."""
        self._places.append((assignment.trajectory, self._file.tell()))
        self.steps += len(assignment.labels)
        pickle.dump(assignment, self._file)

    def in_order(self) -> Iterator[PreparedLine]:
        """All of them, in the order of their trajectories."""
        for _, at in sorted(self._places):
            self._file.seek(at)
            prepared: PreparedLine = pickle.load(self._file)
            yield prepared


def store_open(
    *, user: User, project_id: int, spool: LabelSpool, errors: FileErrors, beat: Beat
) -> list[Opened]:
    """The labels as open assignments, all of them or none: raises ImportRefused when a place was taken
    meanwhile, IntegrityError when the person has begun one of the trajectories meanwhile."""
    now = timezone.now()
    made: list[Opened] = []

    def store(part: Sequence[PreparedLine]) -> None:
        beat(READING + (STORING - READING) * len(made) / max(len(spool), 1))
        wanted = [item.trajectory for item in part]
        list(Trajectory.objects.filter(pk__in=wanted).order_by("pk").select_for_update(no_key=True))
        slots = assign.take_slots(wanted, project_id, annotator=user.pk)
        if second := second_person.second_slots([pk for pk in wanted if pk not in slots]):
            meetings.joined(project_id, user.pk, second)
            slots |= second
        errors.extend(item.no_place for item in part if item.trajectory not in slots)
        placed = [item for item in part if item.trajectory in slots]
        if placed:
            made.extend(_store(user, project_id, slots, placed, now))

    try:
        in_blocks(
            parts(spool.in_order(), weight=lambda it: len(it.labels) + OF_ITS_OWN, most=MOST_AT_ONCE), store
        )
        if errors:
            raise errors.refusal()
    except (TristepError, IntegrityError):
        take_away(item.assignment for item in made)
        raise
    return made


def _store(
    user: User, project_id: int, slots: dict[int, int], part: Sequence[PreparedLine], now: datetime
) -> list[Opened]:
    at = moment(now)
    rows = [(project_id, item.trajectory, user.pk, slots[item.trajectory], True, at, at) for item in part]
    columns = (
        "project_id",
        "trajectory_id",
        "annotator_id",
        "slot",
        "imported",
        "claimed_at",
        "last_used_at",
    )
    made = [
        (pk, item) for pk, item in zip(insert(Assignment, columns, rows, returning=True), part, strict=True)
    ]
    insert(
        Label,
        ("assignment_id", "step_id", "value", "source", "root_id", "note", "updated_at"),
        [
            (pk, label.step, label.value, LabelSource.EXPLICIT.value, label.root, label.note, at)
            for pk, item in made
            for label in item.labels
        ],
    )
    insert(
        OutcomeLabel,
        ("assignment_id", "value", "note", "updated_at"),
        [(pk, item.outcome, item.note, at) for pk, item in made],
    )
    detail = LabelEvent._meta.get_field("detail").get_db_prep_save
    insert(
        LabelEvent,
        ("assignment_id", "kind", "detail", "created_at"),
        [
            (pk, "import", detail({"line": item.line, "labels": len(item.labels)}, connection), at)
            for pk, item in made
        ],
    )
    return [Opened(item.trajectory, pk, len(item.labels)) for pk, item in made]


def submit_all(opened: Sequence[Opened], *, beat: Beat) -> None:
    """Submit open assignments, complete as they are."""
    now, done = timezone.now(), 0

    def submit(part: Sequence[Opened]) -> None:
        nonlocal done
        beat(STORING + (1 - STORING) * done / len(opened))
        done += len(part)
        pks = [item.assignment for item in part]
        rows = Assignment.objects.filter(pk__in=pks).only("project", "trajectory", "recheck").order_by("pk")
        locked = list(rows.select_for_update(no_key=True))
        second_person.make_two([row.trajectory_id for row in locked])
        finish(locked, now=now)

    in_blocks(parts(sorted(opened), weight=lambda item: item.steps + OF_ITS_OWN, most=MOST_AT_ONCE), submit)


def take_away(assignments: Iterable[int]) -> int:
    """Delete open assignments that an import made, by their pks, and free their places; how many."""
    gone = 0

    def take(part: Sequence[int]) -> None:
        nonlocal gone
        # what is not there any more was in a block that was rolled back
        rows = Assignment.objects.filter(pk__in=part, state=AssignmentState.OPEN).order_by("trajectory")
        places = list(rows.values_list("pk", "trajectory", "project", "trajectory__position", "annotator"))
        Assignment.objects.filter(pk__in=[pk for pk, *_ in places]).delete()
        left = [trajectory for _, trajectory, *_ in places]
        freed = Trajectory.objects.filter(pk__in={*left} - second_person.still_closed(left))
        freed.update(free_slots=F("free_slots") + 1)
        lowest: dict[int, int] = {}
        meetings.left((project, trajectory, person) for _, trajectory, project, _, person in places)
        for _, _, project, position, _ in places:
            lowest[project] = min(position, lowest.get(project, position))
        for project, position in sorted(lowest.items()):
            lower_cursors(project_id=project, position=position)
        gone += len(places)

    in_blocks(parts(assignments, weight=lambda _: OF_ITS_OWN, most=MOST_AT_ONCE), take)
    return gone
