"""Read what an experiment shows so far, and note that somebody has: each look costs a part of the level of
significance (core.influence.interim_analysis)."""

from django.utils import timezone

from annotation.core.influence.interim_analysis import information
from annotation.models import InterimAnalysis, Project
from annotation.policies import Actor, deals_people, recorded, require
from annotation.reports.influence import report
from annotation.reports.influence.experiment_report import progress


def influence(*, actor: Actor, project: Project) -> report.Influence:
    """The influence report, for admins. Where people are dealt to arms, the look is noted before anything is
    shown: once for each hundredth of the trajectories that are settled. Raises Denied to all others."""
    note_look(actor=actor, project=project)
    return report.influence(viewer=actor, project=project)


def note_look(*, actor: Actor, project: Project) -> None:
    """Note that what an experiment shows so far is about to be read; nothing without an experiment that deals
    people. Raises Denied to all but admins."""
    if not deals_people(project):
        return
    require(actor, "influence.view", project)
    settled, planned = progress(project)
    percent = round(100 * information(settled, planned))
    newest = InterimAnalysis.objects.filter(project=project).order_by("-percent").first()
    if percent <= (0 if newest is None else newest.percent):
        return
    # somebody else's look at the same moment is the same look
    InterimAnalysis.objects.bulk_create(
        [
            InterimAnalysis(
                project=project,
                percent=percent,
                settled=settled,
                planned=planned,
                looked_by=recorded(actor),
                looked_at=timezone.now(),
            )
        ],
        ignore_conflicts=True,
    )
