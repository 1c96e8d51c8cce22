"""Make the rule for a second person, when enough trajectories are doubly labelled."""

from __future__ import annotations

from django.db import transaction
from django.utils import timezone

from annotation.core.scoring import second_person as core
from annotation.core.scoring.stack import stack
from annotation.models import Project, SecondPersonFit
from annotation.policies import OPERATOR
from annotation.reports.judging.second_person import doubly_labelled, first_read, places_of

from .. import audit


def in_force(project: Project) -> SecondPersonFit | None:
    """The rule that holds; None before there is one."""
    return SecondPersonFit.objects.filter(project=project).first()


def fit(project: Project) -> None:
    """Make the rule from the first 100 doubly labelled trajectories, and once more from the first 200."""
    made = in_force(project)
    already = made.number if made else 0
    if core.fitted_on(doubly_labelled(project).count()) <= already:
        return
    read = first_read(project)
    number = core.fitted_on(len(read.trajectories)) if read else 0
    if read is None or number <= already:
        return
    first = read.trajectories[:number]
    released, taught = read.data.known, places_of(read.data, first)
    stacked = stack(released, list(read.data.judges.values()), taught)
    rule = core.rule(released, stacked, read.people, taught) if stacked else None
    if rule is None:
        return
    values = {"taught": first, "judges": sorted(read.data.judges), "rule": rule.as_json()}
    with transaction.atomic():
        row, new = SecondPersonFit.objects.get_or_create(
            project=project, number=number, defaults={**values, "created_at": timezone.now()}
        )
        if new:
            about = {"trajectories": number, "judges": len(read.data.judges)}
            audit.record(actor=OPERATOR, verb="second_person.fit", project=project, obj=row, **about)
