"""Switch the experiment on exposure on and off, as long as nobody has labelled anything."""

import secrets

from django.db import transaction
from django.utils import timezone

from annotation.core.errors import Invalid, Locked
from annotation.core.i18n import translatable
from annotation.core.influence.experiment import ARMS, MAX_SEED, TWO_ARMS, Unit
from annotation.core.vocabulary import SecondReader
from annotation.models import Assignment, Project
from annotation.policies import Actor, require
from annotation.reports.shared.experiment import has_begun

from .. import audit
from ..arms import deal_again
from .settings import FIRST_IN_AN_EXPERIMENT, IN_AN_EXPERIMENT

LOCKED = translatable(
    "The experiment can no longer be changed: somebody has already labelled here or seen suggestions."
)


@transaction.atomic
def randomise(*, actor: Actor, project: Project, seed: int | None = None, arms: int = len(ARMS)) -> Project:
    """Randomise for each person on each task when they see suggestions, in three arms or two (never, always);
    a new seed is drawn unless one is given.

    Another seed or number of arms deals anew to whoever has claimed something. The same again changes
    nothing. Raises Invalid for a seed or a number of arms out of range, Locked (code "experiment_locked")
    once labelling has begun.
    """
    require(actor, "project.change", project)
    if arms not in (len(TWO_ARMS), len(ARMS)):
        message = translatable("An experiment has two or three arms.")
        raise Invalid(message, fields={"arms": message})
    if seed is None:
        seed = secrets.randbelow(MAX_SEED + 1)
    if not 0 <= seed <= MAX_SEED:
        message = translatable("A seed is a whole number from 0 to {most}.", most=MAX_SEED)
        raise Invalid(message, fields={"seed": message})
    return _set(actor, project, seed, Unit.ANNOTATOR, arms)


@transaction.atomic
def stop_randomising(*, actor: Actor, project: Project) -> Project:
    """Let the project's setting decide again when annotators see suggestions. Raises Locked (code
    "experiment_locked") once labelling has begun; without an experiment nothing happens."""
    require(actor, "project.change", project)
    return _set(actor, project, None, Unit.TASK, len(ARMS))


def _set(actor: Actor, project: Project, seed: int | None, unit: Unit, arms: int) -> Project:
    # Saves and reveals hold their assignment's row; claims hold a share of the project's, by their foreign
    # key. So whatever is under way is waited for, in that order; what comes later finds the new arms.
    list(Assignment.objects.filter(project=project).order_by("pk").select_for_update().values_list("pk"))
    current = Project.objects.select_for_update().get(pk=project.pk)
    before = current.experiment_seed
    as_before = (current.experiment_unit, current.experiment_arms) == (unit, arms)
    if before == seed and (seed is None or as_before):
        return current
    if seed is not None and current.second_reader == SecondReader.JUDGES:
        raise Invalid(IN_AN_EXPERIMENT, code="judges_read")
    if seed is not None and current.judges_first:
        raise Invalid(FIRST_IN_AN_EXPERIMENT, code="judges_first")
    if has_begun(current):
        raise Locked(LOCKED, code="experiment_locked")
    current.experiment_seed, current.experiment_unit, current.experiment_arms = seed, unit.value, arms
    current.save(update_fields=["experiment_seed", "experiment_unit", "experiment_arms"])
    deal_again(current, now=timezone.now())
    verb = "experiment.stop" if seed is None else "experiment.start"
    changes = (("seed", seed), ("arms", None if seed is None else arms), ("seed_before", before))
    detail = {name: value for name, value in changes if value is not None}
    audit.record(actor=actor, verb=verb, project=current, obj=current, **detail)
    return current
