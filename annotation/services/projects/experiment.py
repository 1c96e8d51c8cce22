"""Switch the experiment on exposure on and off, as long as nobody has labelled anything."""

import secrets

from django.db import transaction

from annotation.core.errors import Invalid, Locked
from annotation.core.experiment import MAX_SEED
from annotation.core.i18n import translatable
from annotation.models import Assignment, Project
from annotation.policies import Actor, require
from annotation.reports.experiment import has_begun

from .. import audit

LOCKED = translatable(
    "The experiment can no longer be changed: somebody has already labelled here or seen suggestions."
)


@transaction.atomic
def randomise(*, actor: Actor, project: Project, seed: int | None = None) -> Project:
    """Randomise for each task when its annotators see suggestions; a new seed is drawn unless one is given.

    Another seed deals the tasks anew. The same seed again changes nothing. Raises Invalid for a seed out of
    range, Locked (code "experiment_locked") once labelling has begun.
    """
    require(actor, "project.change", project)
    if seed is None:
        seed = secrets.randbelow(MAX_SEED + 1)
    if not 0 <= seed <= MAX_SEED:
        message = translatable("A seed is a whole number from 0 to {most}.", most=MAX_SEED)
        raise Invalid(message, fields={"seed": message})
    return _set(actor, project, seed)


@transaction.atomic
def stop_randomising(*, actor: Actor, project: Project) -> Project:
    """Let the project's setting decide again when annotators see suggestions. Raises Locked (code
    "experiment_locked") once labelling has begun; without an experiment nothing happens."""
    require(actor, "project.change", project)
    return _set(actor, project, None)


def _set(actor: Actor, project: Project, seed: int | None) -> Project:
    # Saves and reveals hold their assignment's row; claims hold a share of the project's, by their foreign
    # key. So whatever is under way is waited for, in that order; what comes later finds the new arms.
    list(Assignment.objects.filter(project=project).order_by("pk").select_for_update().values_list("pk"))
    current = Project.objects.select_for_update().get(pk=project.pk)
    before = current.experiment_seed
    if before == seed:
        return current
    if has_begun(current):
        raise Locked(LOCKED, code="experiment_locked")
    current.experiment_seed = seed
    current.save(update_fields=["experiment_seed"])
    verb = "experiment.stop" if seed is None else "experiment.start"
    detail = {name: value for name, value in (("seed", seed), ("seed_before", before)) if value is not None}
    audit.record(actor=actor, verb=verb, project=current, obj=current, **detail)
    return current
