"""Look at a project whose second reader judges are: its rule, its places, its waiting submissions."""

from __future__ import annotations

from annotation import dispatch
from annotation.core.vocabulary import SecondPersonState, SecondReader
from annotation.models import Project, SecondPerson
from annotation.models.prepared import Prepared

from .comparing import compare
from .fitting import fit
from .offering import offer, take_away


def look(project: int) -> None:
    """Send the job for a project whose second reader judges are."""
    if _judged(project=project):
        dispatch.send("second_person", project)


_judged = Prepared(
    lambda project: (
        Project.objects.filter(pk=project, second_reader=SecondReader.JUDGES).order_by().values_list("pk")
    ),
    "project",
)


def look_at(*, project_id: int) -> None:
    """Make the rule if it is time, open one place where it holds, and decide what has been submitted. With
    people as the second reader, all trajectories have two places again."""
    project = Project.objects.get(pk=project_id)
    if project.second_reader == SecondReader.JUDGES:
        fit(project)
        offer(project)
        compare(project)
    else:
        take_away(project)


def sweep() -> int:
    """Every worker calls this now and then: look at all such projects; how many there are."""
    waiting = SecondPerson.objects.filter(state=SecondPersonState.WAITING).order_by()
    judged = Project.objects.filter(second_reader=SecondReader.JUDGES)
    pks = {*judged.values_list("pk", flat=True), *waiting.values_list("project", flat=True).distinct()}
    for pk in sorted(pks):
        look_at(project_id=pk)
    return len(pks)
