"""Progress of a project: what nobody holds, the pace, and when labelling ends at it."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from annotation.models import Assignment
from annotation.reports.work.progress import progress
from tests import people
from tests.people import Cast

DAY = timedelta(days=1)


def test_progress_tells_what_somebody_holds_from_what_waits_for_another_annotator(cast: Cast) -> None:
    people.import_records(cast.project, 4)
    people.label_next(cast.ann, cast.project)
    seen = progress(actor=cast.admin, project=cast.project)
    assert (seen.all.by_state["awaiting"], seen.all.by_state["labelling"], seen.left) == (1, 0, 7)
    people.claim(cast.ben, cast.project)
    seen = progress(actor=cast.admin, project=cast.project)
    assert (seen.all.by_state["awaiting"], seen.all.by_state["labelling"]) == (0, 1)
    assert (seen.left, seen.claimed, seen.free) == (7, 1, 6)


@pytest.mark.parametrize(
    ("ages", "pace", "days"),
    [
        ([], None, None),
        ([0.1], 1.0, 7.0),  # the first day counts as a whole one
        ([4, 2], 0.5, 12.0),
        ([60, 13], 1 / 14, 84.0),  # what is older than a fortnight says nothing of the pace
        ([60, 15], None, None),
    ],
)
def test_progress_projects_the_end_from_the_last_fortnight(
    cast: Cast, ages: list[float], pace: float | None, days: float | None
) -> None:
    people.import_records(cast.project, 4)
    now = timezone.now()
    for age in ages:
        people.label_next(cast.ann, cast.project)
        latest = Assignment.objects.latest("pk")
        Assignment.objects.filter(pk=latest.pk).update(submitted_at=now - age * DAY)
    seen = progress(actor=cast.admin, project=cast.project, now=now)
    assert seen.pace == (None if pace is None else pytest.approx(pace))
    end = seen.projected_end
    assert (None if end is None else (end - now) / DAY) == (None if days is None else pytest.approx(days))
