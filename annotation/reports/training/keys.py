"""Training subsets, their items, and the key of each."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import Case, Count, Exists, F, OuterRef, Q, QuerySet, Value, When

from annotation.core.errors import NotFound
from annotation.core.i18n import translatable
from annotation.core.kinds import STEPS
from annotation.models import (
    KeyLabel,
    Project,
    Step,
    Subset,
    Trajectory,
    TutorialItem,
    User,
)
from annotation.policies import field_access, require
from annotation.policies.training import key_rows

from ..shared.transcripts import Transcript, transcript


def key_of(trajectory: Trajectory) -> dict[int | None, KeyLabel]:
    """The key of a training trajectory by message index; None: the outcome. Empty without one, and half of
    one while it is being written. One query."""
    rows = key_rows(trajectory).select_related("step")
    return {row.step.message_index if row.step else None: row for row in rows}


def values_of(trajectory: Trajectory) -> dict[int | None, int]:
    """The values of a key by message index. One query."""
    rows = key_rows(trajectory).order_by()
    return dict(rows.values_list("step__message_index", "value"))


def training_subsets(viewer: User, project: Project) -> QuerySet[Subset]:
    """The training subsets of a project, with `items`, how many of them are `keyed`, and `used` in the
    tutorial or a test. Raises Denied to others than admins."""
    require(viewer, "training.view", project)
    items = Q(trajectories__training=True)
    whole = items & Q(trajectories__key_labels__isnull=False, trajectories__key_labels__step__isnull=True)
    used = items & (Q(trajectories__tutorial_item__isnull=False) | Q(trajectories__test_items__isnull=False))
    return (
        Subset.objects.filter(project=project, training=True)
        .annotate(
            items=Count("trajectories", filter=items, distinct=True),
            keyed=Count("trajectories", filter=whole, distinct=True),
            used=Count("trajectories", filter=used, distinct=True),
        )
        .order_by("name")
    )


def could_train(viewer: User, project: Project) -> QuerySet[Subset]:
    """The subsets that could become training subsets: nobody has been given anything of them."""
    require(viewer, "training.view", project)
    given = Trajectory.objects.filter(subset=OuterRef("pk"), assignments__isnull=False)
    return Subset.objects.filter(~Exists(given), project=project, training=False).order_by("name")


def could_have_examples(viewer: User, project: Project) -> bool:
    """Whether the training examples of the default guidelines would be the first items of a project. One
    query."""
    require(viewer, "training.view", project)
    items = Trajectory.objects.filter(project=project, training=True)
    return project.of_kind == STEPS and not items.exists()


def training_items(viewer: User, subset: Subset, *, whole: bool | None = None) -> QuerySet[Trajectory]:
    """The items of a training subset (those whose key is `whole`, or not), with `labels`, how many labels
    their key has, its `errors`, and whether they are `in_tutorial`, in so many `tests` and `as_gold`."""
    require(viewer, "training.view", subset)
    wrong = Q(key_labels__step__isnull=False, key_labels__value=-1)
    copies = Trajectory.objects.filter(copy_of=OuterRef("pk"), training=True)
    rows = (
        Trajectory.objects.filter(subset=subset, training=True)
        .select_related("task", "subset")
        .annotate(
            labels=Count("key_labels", distinct=True),
            errors=Count("key_labels", filter=wrong, distinct=True),
            whole=Case(When(labels=F("step_count") + 1, then=Value(True)), default=Value(False)),
            in_tutorial=Exists(TutorialItem.objects.filter(trajectory=OuterRef("pk"))),
            tests=Count("test_items", distinct=True),
            as_gold=Exists(copies),
        )
        .order_by("record_id", "pk")
    )
    return rows if whole is None else rows.filter(whole=whole)


@dataclass(frozen=True, slots=True)
class KeyedItem:
    """A training item to be read with its key, by message index; None: the outcome. `missing`: so many
    labels its key still needs."""

    trajectory: Trajectory
    transcript: Transcript
    steps: list[Step]
    key: dict[int | None, KeyLabel]
    missing: int


def keyed_item(*, viewer: User, trajectory: Trajectory) -> KeyedItem:
    """A training item with its key, for admins; the trajectory comes with project, subset, task and content.
    Raises Denied to others, and while they label it themselves."""
    require(viewer, "training.view", trajectory)
    access = field_access(viewer, trajectory)
    if access.mode != "admin":
        raise NotFound(translatable("This does not exist, or you may not see it."))
    steps = list(Step.objects.filter(trajectory=trajectory).order_by("message_index"))
    key = key_of(trajectory)
    return KeyedItem(
        trajectory=trajectory,
        transcript=transcript(trajectory=trajectory, access=access),
        steps=steps,
        key=key,
        missing=len(steps) + 1 - len(key),
    )
