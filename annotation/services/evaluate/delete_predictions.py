"""Take predictions away again."""

from django.db import transaction

from annotation.models import PredictionSet
from annotation.policies import Actor, require

from .. import audit
from .fitting import ask_to_fit


@transaction.atomic
def delete_predictions(*, actor: Actor, prediction_set: PredictionSet) -> None:
    """Delete what a model predicted of a release, reasons included; the audit log keeps that it was there.
    `prediction_set` comes with its release and project."""
    release = prediction_set.release
    require(actor, "predictions.change", release)
    audit.record(
        actor=actor,
        verb="predictions.delete",
        project=release.project,
        obj=prediction_set,
        release=release.version,
        model=prediction_set.model,
        records=prediction_set.record_count,
    )
    prediction_set.delete()
    ask_to_fit(release=release)
