"""The keys of training trajectories: read in with a file, taken from a consensus, edited by an admin."""

from collections.abc import Collection, Iterable, Mapping, Sequence

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet

from annotation.core import text
from annotation.core.errors import Conflict, Invalid, NotFound
from annotation.core.i18n import translatable
from annotation.core.training.keys import Key
from annotation.core.vocabulary import KeyOrigin
from annotation.models import (
    Consensus,
    KeyLabel,
    OutcomeConsensus,
    Step,
    Trajectory,
    User,
)
from annotation.policies import require

from .. import audit

MAX_NOTE = 10_000


def keyed(trajectories: QuerySet[Trajectory]) -> QuerySet[Trajectory]:
    """Those that have a key, of their own or as a copy of one that has. A key labels the outcome."""
    own = KeyLabel.objects.filter(
        Q(trajectory=OuterRef("pk")) | Q(trajectory=OuterRef("copy_of")), step__isnull=True
    )
    return trajectories.filter(Exists(own))


def refuse_without_key(trajectories: Collection[Trajectory]) -> None:
    """Raises Conflict (code "no_key") that names those of training trajectories without a key."""
    pks = {row.pk for row in trajectories}
    having = set(keyed(Trajectory.objects.filter(pk__in=pks)).values_list("pk", flat=True))
    without = [row.record_id for row in trajectories if row.pk not in having]
    if without:
        raise Conflict(
            translatable(
                "{count} of these have no key, the first of them {record_id}: give every step and the "
                "outcome a label first.",
                count=len(without),
                record_id=without[0],
            ),
            code="no_key",
        )


def write(keys: Mapping[int, Key], origin: KeyOrigin) -> None:
    """Store keys by the pk of their trajectories, for services that asked permission; an older key is
    replaced."""
    steps = {
        (trajectory, index): pk
        for pk, trajectory, index in Step.objects.filter(trajectory__in=keys)
        .order_by()
        .values_list("pk", "trajectory", "message_index")
    }
    KeyLabel.objects.filter(trajectory__in=keys).delete()
    KeyLabel.objects.bulk_create(
        KeyLabel(
            trajectory_id=trajectory,
            step_id=None if index is None else steps[trajectory, index],
            value=label.value,
            note=text.escape(label.note),
            origin=origin.value,
        )
        for trajectory, key in keys.items()
        for index, label in key.items()
    )


def of_consensus(originals: Iterable[int]) -> dict[int, dict[int | None, KeyLabel]]:
    """The consensus of resolved trajectories, by their pks, as unsaved labels of a key by message index.
    Two queries."""
    found: dict[int, dict[int | None, KeyLabel]] = {}
    origin = KeyOrigin.CONSENSUS.value
    pks = list(originals)
    columns = ("trajectory", "value", "reason", "note")
    steps = Consensus.objects.filter(trajectory__in=pks).order_by("trajectory", "step__message_index")
    for trajectory, value, reason, note, index in steps.values_list(*columns, "step__message_index"):
        found.setdefault(trajectory, {})[index] = KeyLabel(
            value=value, reason=reason, note=note, origin=origin
        )
    for trajectory, value, reason, note in OutcomeConsensus.objects.filter(trajectory__in=pks).values_list(
        *columns
    ):
        found.setdefault(trajectory, {})[None] = KeyLabel(
            value=value, reason=reason, note=note, origin=origin
        )
    return found


@transaction.atomic
def edit_key(*, actor: User, trajectory: Trajectory, key: Key) -> None:
    """Write the whole key of a training trajectory anew. What was scored by the old one keeps its marks.

    Raises Invalid when it misses a step or the outcome, NotFound for what is no training trajectory.
    """
    require(actor, "training.change", trajectory)
    locked = Trajectory.objects.select_for_update(no_key=True).filter(pk=trajectory.pk, training=True)
    if not locked.exists():
        raise NotFound(translatable("There is no such training trajectory."))
    steps = Step.objects.filter(trajectory=trajectory).order_by("message_index")
    wanted: Sequence[int | None] = [*steps.values_list("message_index", flat=True), None]
    fields: dict[str, str] = {}
    for index in wanted:
        name = "outcome" if index is None else f"step_{index}"
        if index not in key:
            fields[name] = translatable("The key needs a label here.")
        elif len(key[index].note) > MAX_NOTE:
            fields[name] = translatable("Keep the note under {count} characters.", count=f"{MAX_NOTE:,}")
    if fields:
        raise Invalid(next(iter(fields.values())), code="incomplete_key", fields=fields)
    write({trajectory.pk: {index: key[index] for index in wanted}}, KeyOrigin.EDITED)
    audit.record(actor=actor, verb="training.key", project=trajectory.project, obj=trajectory)
