"""Make a proficiency test, change it, and say what it opens."""

from collections.abc import Sequence
from typing import Any

from django.db import transaction
from django.db.models import Max
from django.utils import timezone

from annotation.core.errors import Conflict, Invalid
from annotation.core.i18n import translatable
from annotation.core.training.choosing import FEWEST
from annotation.core.training.false_pass import Asked, unreachable
from annotation.models import (
    ProficiencyTest,
    Project,
    Subset,
    TestItem,
    Trajectory,
    TutorialItem,
    User,
)
from annotation.policies import Actor, require
from annotation.reports.training.proficiency import asked_of, items_of, key_values

from .. import audit
from ..cursors import lower_cursors
from ..training.tutorial import refuse_unfit

FIXED = ("agreement", "error_recall", "first_error", "per_attempt")
OPEN = ("attempts", "wait_hours", "each_guideline")
MARK_NAMES = {
    "agreement": translatable("agreement"),
    "error_recall": translatable("the share of errors found"),
    "first_error": translatable("the share of first errors found"),
}


@transaction.atomic
def make_test(
    *, actor: Actor, project: Project, trajectories: Sequence[Trajectory], **settings: Any
) -> ProficiencyTest:
    """Make a test of these training trajectories; `settings` are the fields of `ProficiencyTest`.

    Raises Invalid for fewer than ten items, marks that nobody can reach, or an item of the tutorial; Conflict
    (code "no_key") for one without a key.
    """
    require(actor, "training.change", project)
    Project.objects.select_for_update(no_key=True).get(pk=project.pk)
    newest = ProficiencyTest.objects.filter(project=project).aggregate(n=Max("number"))["n"] or 0
    test = ProficiencyTest(
        project=project,
        number=newest + 1,
        created_by=actor if isinstance(actor, User) else None,
        created_at=timezone.now(),
    )
    _fill(test, settings, trajectories)
    test.save()
    _set_items(test, trajectories)
    audit.record(actor=actor, verb="test.make", project=project, obj=test, number=test.number)
    return test


@transaction.atomic
def change_test(
    *,
    actor: Actor,
    test: ProficiencyTest,
    trajectories: Sequence[Trajectory] | None = None,
    **settings: Any,
) -> ProficiencyTest:
    """Change a test. Its items and marks are fixed by its first attempt (Conflict, code "begun"); attempts,
    waiting time and when it is asked again are not."""
    require(actor, "training.change", test)
    current = (
        ProficiencyTest.objects.select_for_update(no_key=True, of=("self",))
        .select_related("project")
        .get(pk=test.pk)
    )
    items = items_of(current)
    wanted = items if trajectories is None else trajectories
    changed = {name for name in FIXED if name in settings and settings[name] != getattr(current, name)}
    moved = [row.pk for row in wanted] != [row.pk for row in items]
    if (changed or moved) and current.sittings.exists():
        raise Conflict(
            translatable("Somebody has begun this test, so that its items and marks stay. Make another one."),
            code="begun",
        )
    _fill(current, settings, wanted)
    current.save()
    if moved:
        current.items.all().delete()
        _set_items(current, wanted)
    audit.record(actor=actor, verb="test.change", project=current.project, obj=current, number=current.number)
    return current


def _fill(test: ProficiencyTest, settings: dict[str, Any], trajectories: Sequence[Trajectory]) -> None:
    """Set the fields of a test and check it as a whole."""
    for name, value in settings.items():
        if name not in (*FIXED, *OPEN):
            raise TypeError(f"a test has no setting {name}")
        setattr(test, name, value)
    fields: dict[str, str] = {}
    asked = asked_of(test)
    if asked == Asked():
        fields["agreement"] = translatable("Ask for at least one of the three marks.")
    count = len(trajectories)
    if count < FEWEST:
        fields["trajectories"] = translatable(
            "A test needs at least {fewest} items; these are {count}.", fewest=FEWEST, count=count
        )
    if test.per_attempt is not None and not FEWEST <= test.per_attempt <= max(count, FEWEST):
        fields["per_attempt"] = translatable(
            "An attempt has {fewest} items or more, and no more than the test.", fewest=FEWEST
        )
    if fields:
        raise Invalid(next(iter(fields.values())), fields=fields)
    refuse_unfit(test.project, trajectories)
    taught = TutorialItem.objects.filter(trajectory__in=trajectories).select_related("trajectory").first()
    if taught is not None:
        reason = translatable(
            "{record_id} is in the tutorial, which shows its key.", record_id=taught.trajectory.record_id
        )
        raise Invalid(reason, fields={"trajectories": reason})
    if name := unreachable(list(key_values(trajectories).values()), asked):
        reason = translatable(
            "Nobody can reach {mark}: no item has an error in its key. Take items with errors, or do not ask "
            "for it.",
            mark=MARK_NAMES[name],
        )
        raise Invalid(reason, code="unreachable", fields={name: reason})


def _set_items(test: ProficiencyTest, trajectories: Sequence[Trajectory]) -> None:
    TestItem.objects.bulk_create(
        TestItem(test=test, trajectory=row, place=place) for place, row in enumerate(trajectories)
    )


@transaction.atomic
def require_test(*, actor: Actor, subset: Subset, test: ProficiencyTest | None) -> Subset:
    """Open a subset to those alone who have passed a test; None: to every annotator. Raises Invalid for a
    training subset, and for a test of another project."""
    require(actor, "training.change", subset)
    current = Subset.objects.select_for_update(no_key=True, of=("self",)).get(pk=subset.pk)
    if current.training or (test is not None and test.project_id != current.project_id):
        reason = translatable("Choose a subset that is labelled, and a test of the same project.")
        raise Invalid(reason, fields={"subset": reason})
    if current.required_test_id != (test.pk if test is not None else None):
        current.required_test = test
        current.save(update_fields=["required_test"])
        lower_cursors(project_id=current.project_id, position=0)
        audit.record(
            actor=actor,
            verb="test.require",
            project=subset.project,
            obj=current,
            name=current.name,
            number=test.number if test is not None else None,
        )
    return current
