"""Triage of a project's queue: what judges contest is served first (core.influence.triage), until taken
back."""

import secrets
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain

from django.db import connection, transaction

from annotation.core.errors import Conflict, Invalid
from annotation.core.i18n import translatable
from annotation.core.influence.experiment import MAX_SEED
from annotation.core.influence.triage import MAX_BATCH, triaged
from annotation.core.rechecks import sampling
from annotation.core.vocabulary import QueueTurn
from annotation.models import Project, Trajectory
from annotation.policies import Actor, require
from annotation.reports.influence.triage import scores, unclaimed

from .. import audit
from ..batched_writes import in_blocks
from ..cursors import lower_cursors

PAIRS = 50
"""So many trajectories get their place with one statement."""


TELLS_AGREEMENT = translatable(
    "Where judges are asked first, the queue stays in an order of chance: any other would tell what they "
    "agreed on."
)


@dataclass(frozen=True, slots=True)
class TriageResult:
    """The result of a triage: how many waiting trajectories got another place, and counts of all that are
    waiting: contested, unanimous, and without suggestions of two judges."""

    moved: int
    contested: int
    unanimous: int
    unscored: int
    seed: int | None
    batch_size: int


def triage(
    *, actor: Actor, project: Project, batch_size: int | None = None, seed: int | None = None
) -> TriageResult:
    """Put batches of contested trajectories first, shuffled within each batch by the seed, which is kept.

    Only what nobody has begun is moved, and among the places that these have: everything else stays where it
    is. Without `batch_size` the project's own counts. Raises Invalid for values out of range, Conflict where
    judges are asked first.
    """
    require(actor, "project.change", project)
    if project.judges_first:
        raise Conflict(TELLS_AGREEMENT, code="judges_first")
    if seed is None:
        seed = secrets.randbelow(MAX_SEED + 1)
    size = project.triage_batch_size if batch_size is None else batch_size
    if not 1 <= size <= MAX_BATCH:
        message = translatable("A batch has 1 to {most} trajectories.", most=f"{MAX_BATCH:,}")
        raise Invalid(message, fields={"batch_size": message})
    if not 0 <= seed <= MAX_SEED:
        message = translatable("A seed is a whole number from 0 to {most}.", most=MAX_SEED)
        raise Invalid(message, fields={"seed": message})
    # read before anything is locked: half a million suggestions take their time
    score_of = scores(project)

    def order(waiting: Iterable[int]) -> list[int]:
        return triaged(((pk, score_of.get(pk)) for pk in waiting), batch_size=size, seed=seed)

    waiting, moved = _rearrange(project, order)
    with transaction.atomic():
        Project.objects.filter(pk=project.pk).update(triage_seed=seed, triage_batch_size=size)
        scored = [score for pk in waiting if (score := score_of.get(pk)) is not None]
        done = TriageResult(
            moved=moved,
            contested=sum(score > 0 for score in scored),
            unanimous=sum(score == 0 for score in scored),
            unscored=len(waiting) - len(scored),
            seed=seed,
            batch_size=size,
        )
        audit.record(
            actor=actor,
            verb="queue.triage",
            project=project,
            obj=project,
            seed=seed,
            batch_size=size,
            moved=moved,
            contested=done.contested,
        )
    return done


def undo_triage(*, actor: Actor, project: Project) -> int:
    """Bring what nobody has begun back into the order that chance gave it; how many got another place."""
    require(actor, "project.change", project)
    _waiting, moved = _rearrange(project, list)
    with transaction.atomic():
        Project.objects.filter(pk=project.pk).update(triage_seed=None)
        audit.record(actor=actor, verb="queue.restore", project=project, obj=project, moved=moved)
    return moved


def _rearrange(project: Project, order: Callable[[list[int]], list[int]]) -> tuple[list[int], int]:
    """Deal the places of what is waiting anew: `order` gets the trajectories in the order of chance.

    Two trajectories change places at a time, a few hundred pairs in a transaction; a pair of which one has
    been claimed meanwhile stays. So every place is one trajectory's at any moment, and what a kill leaves is
    an order like any other: asking again completes it.
    """
    rows = (
        unclaimed(project)
        .order_by()
        .values_list("pk", "position", "subset__name", "subset__turn", "record_id")
    )
    before: dict[int, int] = {}
    drawn: dict[int, int] = {}
    for pk, place, subset, turn, record in rows:
        before[pk] = place
        drawn[pk] = sampling.position(
            seed=project.recheck_seed, subset=subset, record=record, turn=QueueTurn(turn)
        )
    waiting = sorted(drawn, key=drawn.__getitem__)
    now = dict(before)
    at_place = {place: pk for pk, place in before.items()}

    def change_places(pairs: Sequence[tuple[int, int]]) -> None:
        free = _still_waiting(project, {pk for pair in pairs for pk in (pair[0], at_place[pair[1]])})
        moved: dict[int, int] = {}
        for pk, place in pairs:
            other = at_place[place]
            if pk == other or free.get(pk) != now[pk] or free.get(other) != place:
                continue
            left = now[pk]
            now[pk], now[other], at_place[place], at_place[left] = place, left, pk, other
            free[pk], free[other] = place, left
            moved |= {pk: place, other: left}
        if moved:
            _place(list(moved.items()))
            lower_cursors(project_id=project.pk, position=min(moved.values()))

    # subsets keep their turn: the places of each turn are dealt among its own
    in_turn = sorted(order(waiting), key=lambda pk: drawn[pk] // sampling.PLACES)
    moves = list(zip(in_turn, sorted(at_place), strict=True))
    in_blocks((moves[at : at + PAIRS] for at in range(0, len(moves), PAIRS)), change_places)
    return waiting, sum(now[pk] != before[pk] for pk in waiting)


def _still_waiting(project: Project, pks: Collection[int]) -> dict[int, int]:
    """The places of those of these trajectories that nobody has begun; their rows are locked from here on."""
    rows = unclaimed(project).filter(pk__in=pks).order_by("pk")
    return dict(rows.select_for_update(of=("self",), no_key=True).values_list("pk", "position"))


def _place(moves: Sequence[tuple[int, int]]) -> None:
    """Set the positions by pk, with one statement."""
    quote = connection.ops.quote_name
    table, key = quote(Trajectory._meta.db_table), quote(Trajectory._meta.pk.attname)
    listed = ", ".join(["(%s, %s)"] * len(moves))
    with connection.cursor() as cursor:
        cursor.execute(
            f"UPDATE {table} SET position = moved.column2 "
            f"FROM (VALUES {listed}) AS moved WHERE {table}.{key} = moved.column1",
            list(chain.from_iterable(moves)),
        )
