"""Tags: admins put short words on trajectories and take them off, rename, merge and delete them.

Who did it is audited, and which trajectories were tagged, but not with what: an admin who could still label
one must not read it in the log.
"""

from collections.abc import Sequence
from typing import Final

from django.db import IntegrityError, transaction

from annotation.core.errors import Conflict, Invalid
from annotation.core.i18n import translatable
from annotation.core.names import folded, one_line
from annotation.models import Project, Tag, Trajectory, TrajectoryTag, User
from annotation.models.data import MAX_TAG
from annotation.policies import require, visible

from . import audit
from .chosen import Outcome

MAX_TAGS: Final = 200


@transaction.atomic
def tag(
    *, actor: User, project: Project, trajectories: Sequence[Trajectory], name: str
) -> Outcome[Trajectory, Trajectory]:
    """Put a tag on visible trajectories of a project; the tag is made when the project has none of that name.

    Trajectories on which the actor sees it already are refused. Raises Invalid for a name that is empty or
    too long, and for a tag more than MAX_TAGS.
    """
    require(actor, "trajectory.tag", project)
    row = _made(project, one_line(name, MAX_TAG))
    bearing = _bearing(actor, row, trajectories)
    todo = [one for one in trajectories if one.pk not in bearing]
    TrajectoryTag.objects.bulk_create(
        [TrajectoryTag(tag=row, trajectory=one, added_by=actor) for one in todo], ignore_conflicts=True
    )
    for one in todo:
        audit.record(actor=actor, verb="trajectory.tag", project=project, obj=one)
    already = Conflict(translatable("The tag is there already."), code="tagged")
    return Outcome(todo, [(one, already) for one in trajectories if one.pk in bearing])


@transaction.atomic
def untag(
    *, actor: User, project: Project, trajectories: Sequence[Trajectory], name: str
) -> Outcome[Trajectory, Trajectory]:
    """Take a tag off trajectories, as far as the actor sees it there; from others it is refused.

    Raises Invalid when the project has no tag of that name.
    """
    require(actor, "trajectory.tag", project)
    row = visible(actor, Tag.objects.filter(project=project, key=folded(name))).first()
    if row is None:
        raise Invalid(translatable("There is no tag “{name}”.", name=name))
    bearing = _bearing(actor, row, trajectories)
    seen = visible(actor, TrajectoryTag.objects.filter(tag=row, trajectory__in=bearing))
    TrajectoryTag.objects.filter(pk__in=list(seen.values_list("pk", flat=True))).delete()
    done = [one for one in trajectories if one.pk in bearing]
    for one in done:
        audit.record(actor=actor, verb="trajectory.untag", project=project, obj=one)
    missing = Conflict(translatable("The tag is not there."), code="not_tagged")
    return Outcome(done, [(one, missing) for one in trajectories if one.pk not in bearing])


@transaction.atomic
def rename_tag(*, actor: User, row: Tag, name: str) -> Tag:
    """Rename a tag; when another has that name, the two become one, which is returned.

    Raises Invalid for a name that is empty or too long, Conflict for a tag that is gone.
    """
    require(actor, "trajectory.tag", row.project)
    name = one_line(name, MAX_TAG)
    # both by key: two who merge crosswise do not wait for each other
    both = {
        one.key: one
        for one in Tag.objects.select_for_update()
        .filter(project=row.project, key__in=(row.key, folded(name)))
        .order_by("key")
    }
    current, other = both.get(row.key), both.get(folded(name))
    if current is None or current.pk != row.pk:
        raise Conflict(translatable("Somebody has changed or deleted this tag."), code="deleted")
    if other is None or other == current:
        try:
            with transaction.atomic():
                Tag.objects.filter(pk=current.pk).update(name=name, key=folded(name))
        except IntegrityError as error:
            # made a moment ago, so that the next attempt merges
            message = translatable("Somebody has just made a tag “{name}”. Try again.", name=name)
            raise Conflict(message, code="taken") from error
        current.name, current.key, kept = name, folded(name), current
    else:
        moved = TrajectoryTag.objects.filter(tag=current).values_list("trajectory", "added_by")
        TrajectoryTag.objects.bulk_create(
            [TrajectoryTag(tag=other, trajectory_id=pk, added_by_id=by) for pk, by in moved],
            ignore_conflicts=True,
        )
        current.delete()
        kept = other
    audit.record(actor=actor, verb="tag.rename", project=row.project, obj=kept, was=row.name, name=kept.name)
    return kept


@transaction.atomic
def delete_tag(*, actor: User, row: Tag) -> None:
    """Delete a tag, and take it off all trajectories; one that is gone already stays gone."""
    require(actor, "trajectory.tag", row.project)
    audit.record(actor=actor, verb="tag.delete", project=row.project, obj=row, name=row.name)
    row.delete()


def _made(project: Project, name: str) -> Tag:
    # locked: a tag that is merged or deleted meanwhile gets no trajectory more
    row = Tag.objects.select_for_update().filter(project=project, key=folded(name)).first()
    if row is None and Tag.objects.filter(project=project).count() >= MAX_TAGS:
        raise Invalid(translatable("There are {n} tags already. Delete or merge some first.", n=MAX_TAGS))
    return row or Tag.objects.get_or_create(project=project, key=folded(name), defaults={"name": name})[0]


def _bearing(actor: User, row: Tag, trajectories: Sequence[Trajectory]) -> set[int]:
    """The trajectories on which the actor sees the tag."""
    rows = TrajectoryTag.objects.filter(tag=row, trajectory__in=[one.pk for one in trajectories])
    return set(visible(actor, rows).values_list("trajectory", flat=True))
