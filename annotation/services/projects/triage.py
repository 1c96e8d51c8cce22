"""Triage of a project's queue: what judges contest is served first (core.triage), until taken back."""

import secrets
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain

from django.db import connection, transaction

from annotation.core.errors import Invalid
from annotation.core.experiment import MAX_SEED
from annotation.core.i18n import translatable
from annotation.core.triage import MAX_BATCH, triaged
from annotation.models import Project, Trajectory
from annotation.policies import Actor, require
from annotation.reports.triage import scores, unclaimed

from .. import audit
from ..cursors import lower_cursors

MOST_VALUES = 30_000
"""In one statement, where the database itself sets no limit."""


@dataclass(frozen=True, slots=True)
class Triaged:
    """What a triage has done: how many waiting trajectories got another place, and what was found among all
    that are waiting: contested, unanimous, and without suggestions of two judges."""

    moved: int
    contested: int
    unanimous: int
    unscored: int
    seed: int | None
    batch_size: int


def triage(
    *, actor: Actor, project: Project, batch_size: int | None = None, seed: int | None = None
) -> Triaged:
    """Put batches of contested trajectories first, shuffled within each batch by the seed, which is kept.

    Only what nobody has begun is moved, and among the places that these have: everything else stays where it
    is. Without `batch_size` the project's own counts. Raises Invalid for values out of range.
    """
    require(actor, "project.change", project)
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
    found = scores(project)

    def order(waiting: Iterable[int]) -> list[int]:
        return triaged(((pk, found.get(pk)) for pk in waiting), batch_size=size, seed=seed)

    with transaction.atomic():
        waiting, moved = _rearrange(project, order)
        Project.objects.filter(pk=project.pk).update(triage_seed=seed, triage_batch_size=size)
        known = [score for pk in waiting if (score := found.get(pk)) is not None]
        done = Triaged(
            moved=moved,
            contested=sum(score > 0 for score in known),
            unanimous=sum(score == 0 for score in known),
            unscored=len(waiting) - len(known),
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


@transaction.atomic
def undo_triage(*, actor: Actor, project: Project) -> int:
    """Bring what nobody has begun back into the order of the import; how many got another place."""
    require(actor, "project.change", project)
    _waiting, moved = _rearrange(project, list)
    Project.objects.filter(pk=project.pk).update(triage_seed=None)
    audit.record(actor=actor, verb="queue.restore", project=project, obj=project, moved=moved)
    return moved


def _rearrange(project: Project, order: Callable[[list[int]], list[int]]) -> tuple[list[int], int]:
    """Deal the places of what is waiting anew: `order` gets the trajectories in the order of the import.

    The project's row makes two of these take turns. The trajectories' rows keep claims away until the end: a
    claim holds one row and waits for no other, so that neither waits for the other for ever.
    """
    Project.objects.select_for_update(no_key=True).get(pk=project.pk)
    rows = list(
        unclaimed(project)
        .order_by("pk")
        .select_for_update(of=("self",), no_key=True)
        .only("source_id", "position")
    )
    # rows of one file have their keys in the order of its lines
    waiting = [row.pk for row in sorted(rows, key=lambda row: (row.source_id, row.pk))]
    places = sorted(row.position for row in rows)
    now = {row.pk: row.position for row in rows}
    moves = [(pk, place) for pk, place in zip(order(waiting), places, strict=True) if now[pk] != place]
    if moves:
        _place(moves)
        lower_cursors(project_id=project.pk, position=min(place for _pk, place in moves))
    return waiting, len(moves)


def _place(moves: Sequence[tuple[int, int]]) -> None:
    """Set the positions by pk, with few statements."""
    quote = connection.ops.quote_name
    table, key = quote(Trajectory._meta.db_table), quote(Trajectory._meta.pk.attname)
    size = (connection.features.max_query_params or MOST_VALUES) // 2
    with connection.cursor() as cursor:
        for start in range(0, len(moves), size):
            part = moves[start : start + size]
            listed = ", ".join(["(%s, %s)"] * len(part))
            cursor.execute(
                f"UPDATE {table} SET position = moved.column2 "
                f"FROM (VALUES {listed}) AS moved WHERE {table}.{key} = moved.column1",
                list(chain.from_iterable(part)),
            )
