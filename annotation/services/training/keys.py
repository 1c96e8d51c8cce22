"""The keys of training trajectories: read in with a file, taken from a consensus, edited by an admin."""

from collections.abc import Collection, Iterable, Mapping

from django.db import transaction

from annotation.core import text
from annotation.core.errors import Conflict, Invalid, NotFound
from annotation.core.i18n import translatable
from annotation.core.training.keys import Key
from annotation.core.vocabulary import REASON_CODES_BY_CODE, KeyOrigin, is_value
from annotation.models import (
    Consensus,
    KeyLabel,
    OutcomeConsensus,
    Step,
    Trajectory,
    User,
)
from annotation.policies import require
from annotation.policies.training import keyed

from .. import audit

MAX_NOTE = 10_000


def refuse_without_key(trajectories: Collection[Trajectory]) -> None:
    """Raises Conflict (code "no_key") that names those of training trajectories without a key."""
    pks = {row.pk for row in trajectories}
    having = set(keyed(Trajectory.objects.filter(pk__in=pks)).values_list("pk", flat=True))
    without = [row.record_id for row in trajectories if row.pk not in having]
    if without:
        raise Conflict(
            translatable(
                "{count} of these have no whole key, the first of them {record_id}: give every step and the "
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
            reason=label.reason,
            origin=origin.value,
        )
        for trajectory, key in keys.items()
        for index, label in key.items()
    )


def of_consensus(originals: Iterable[int]) -> dict[int, dict[int | None, KeyLabel]]:
    """The consensus of resolved trajectories, by their pks, as unsaved labels of a key by message index.
    Two queries."""
    keys: dict[int, dict[int | None, KeyLabel]] = {}
    origin = KeyOrigin.CONSENSUS.value
    pks = list(originals)
    columns = ("trajectory", "value", "reason", "note")
    steps = Consensus.objects.filter(trajectory__in=pks).order_by("trajectory", "step__message_index")
    for trajectory, value, reason, note, index in steps.values_list(*columns, "step__message_index"):
        keys.setdefault(trajectory, {})[index] = KeyLabel(
            value=value, reason=reason, note=note, origin=origin
        )
    for trajectory, value, reason, note in OutcomeConsensus.objects.filter(trajectory__in=pks).values_list(
        *columns
    ):
        keys.setdefault(trajectory, {})[None] = KeyLabel(value=value, reason=reason, note=note, origin=origin)
    return keys


@transaction.atomic
def write_key_label(
    *, actor: User, trajectory: Trajectory, message_index: int | None, value: int, note: str, reason: str = ""
) -> KeyLabel:
    """Write the label of a step, or (None) of the outcome, into the key of a training trajectory. What was
    scored before keeps its marks.

    Raises Invalid for another value than −1, 0 and 1, a note that is too long, or an unknown reason, NotFound
    for what is no item of a training subset, or no step of it.
    """
    require(actor, "training.change", trajectory)
    items = Trajectory.objects.filter(training=True, subset__training=True)
    if not items.select_for_update(no_key=True, of=("self",)).filter(pk=trajectory.pk).exists():
        raise NotFound(translatable("There is no such training trajectory."))
    fields: dict[str, str] = {}
    if not is_value(value):
        fields["value"] = translatable("Choose −1, 0 or +1.")
    if len(note) > MAX_NOTE:
        fields["note"] = translatable("Keep the note under {count} characters.", count=f"{MAX_NOTE:,}")
    if reason and getattr(REASON_CODES_BY_CODE.get(reason), "value", None) != value:
        fields["reason"] = translatable("This reason does not belong to that label.")
    if fields:
        raise Invalid(next(iter(fields.values())), fields=fields)
    step = None
    if message_index is not None:
        step = Step.objects.filter(trajectory=trajectory, message_index=message_index).first()
        if step is None:
            raise NotFound(translatable("Message {index} is not a step.", index=message_index))
    row, _made = KeyLabel.objects.update_or_create(
        trajectory=trajectory,
        step=step,
        defaults={
            "value": value,
            "note": text.escape(note.strip()),
            "reason": reason,
            "origin": KeyOrigin.EDITED.value,
        },
    )
    audit.record(
        actor=actor,
        verb="training.key",
        project=trajectory.project,
        obj=trajectory,
        message_index=message_index,
    )
    return row
