"""The first steps of a project, with those that are done, told by the facts."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import Count, Exists, OuterRef, Q

from annotation.models import Guideline, Judge, Label, Membership, Project, Trajectory
from annotation.policies import Actor, require


@dataclass(frozen=True, slots=True)
class FirstSteps:
    """The first steps that are done: guidelines that an admin has read or changed, data, as many annotators
    as a trajectory needs, a judge (which a project can do without), and a label."""

    guidelines: bool
    data: bool
    people: bool
    judges: bool
    label: bool

    @property
    def done(self) -> bool:
        """Whether everything that a project needs is there."""
        return self.guidelines and self.data and self.people and self.label


def first_steps(*, actor: Actor, project: Project) -> FirstSteps | None:
    """For admins; None once all is done, or when they have closed the list. One query and that of the
    permission; none for a list that was closed."""
    require(actor, "project.change", project)
    if project.checklist_closed:
        return None
    read = Membership.objects.filter(project=OuterRef("pk"), is_admin=True, guideline_seen__gt=0)
    newest = Guideline.objects.filter(project=OuterRef("pk")).order_by("-version")
    facts = (
        Project.objects.filter(pk=project.pk)
        .annotate(
            guidelines_text=newest.values("text")[:1],
            guidelines_version=newest.values("version")[:1],
            guidelines_read=Exists(read),
            has_data=Exists(Trajectory.objects.filter(project=OuterRef("pk"), live=True)),
            has_judges=Exists(Judge.objects.filter(project=OuterRef("pk"))),
            has_label=Exists(Label.objects.filter(assignment__project=OuterRef("pk"), value__isnull=False)),
            annotator_count=Count("memberships", filter=Q(memberships__is_annotator=True)),
        )
        .order_by()
        .values(
            *("guidelines_text", "guidelines_version", "guidelines_read"),
            *("has_data", "has_judges", "has_label", "annotator_count"),
        )
        .get()
    )
    seen = facts["guidelines_read"] or (facts["guidelines_version"] or 0) > 1
    steps = FirstSteps(
        guidelines=seen and bool((facts["guidelines_text"] or "").strip()),
        data=facts["has_data"],
        people=facts["annotator_count"] >= project.annotators_per_trajectory,
        judges=facts["has_judges"],
        label=facts["has_label"],
    )
    return None if steps.done else steps
