"""The gold that a person can be given (docs/training.md, "Gold").

A gold item is a copy of a keyed trajectory in an ordinary subset, and stands in no queue: who could have met
its content, or would be told by what is missing beside it, is not given it.
"""

from __future__ import annotations

from django.db.models import Exists, OuterRef, Q, QuerySet

from annotation import models as m
from annotation.core.vocabulary import RecheckKind, SuggestionPolicy

from .qualifying import closed_subsets
from .rechecks import SEES_LITTLE


def gold_items(project: m.Project) -> QuerySet[m.Trajectory]:
    """The gold items of a project; those that are not dealt any more have no `free_slots`. No query by
    itself."""
    return m.Trajectory.objects.filter(
        project=project, training=True, copy_of__isnull=False, subset__training=False
    )


def gold_for(user: m.User, project: m.Project) -> QuerySet[m.Trajectory]:
    """The gold items that a person may be given at this moment: nothing with the content of what they have
    ever had, seen anything of or decided, in whichever subset, and nothing of a subset whose test they have
    still to pass. One query, that of the tests."""
    here = m.Membership.objects.filter(SEES_LITTLE[RecheckKind.GOLD], user=user, project=project)
    of_it = {"trajectory__project": project}
    met = [
        m.Assignment.stored.filter(**of_it, annotator=user),
        m.Exposure.objects.filter(**of_it, user=user),
        m.Adjudication.objects.filter(**of_it, adjudicator=user),
    ]
    known = Q()
    for rows in met:
        known |= Q(content_digest__in=rows.order_by().values("trajectory__content_digest"))
    closed = closed_subsets(user, [project.pk]).get(project.pk, {})
    dealt = gold_items(project).filter(free_slots__gt=0).exclude(subset__in=closed)
    return dealt.filter(~known, Exists(here), *_judged_alike(project)).order_by("pk")


def _judged_alike(project: m.Project) -> list[Q]:
    """The condition, where annotators are shown what judges say, that all judges who say something of the
    subset say something of the item, too. Without it that would tell."""
    if project.suggestion_policy == SuggestionPolicy.NEVER and project.experiment_seed is None:
        return []
    beside = m.Suggestion.objects.filter(
        judge=OuterRef("pk"), trajectory__subset=OuterRef(OuterRef("subset")), trajectory__live=True
    )
    of_it = m.Suggestion.objects.filter(judge=OuterRef("pk"), trajectory=OuterRef(OuterRef("pk")))
    return [~Q(Exists(m.Judge.objects.filter(Exists(beside), ~Exists(of_it), project=project)))]
