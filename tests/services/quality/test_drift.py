"""An annotator's page with enough labels: their figures, and for admins the drift that rechecks show."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from annotation.models import Assignment, User
from annotation.reports.quality.annotators import annotator_figures, as_json
from annotation.services import assign, label
from tests import people
from tests.callers import Caller, signed_in
from tests.fixtures.shared_rows import shared_rows
from tests.people import Cast
from tests.services.rechecking import audit_everything, retests_are_asked


@shared_rows
def rechecked(cast: Cast) -> Cast:
    """Eight trajectories of six steps that ann and ben label alike, and cleo once more: the first four like
    them, two weeks ago, the others not at all."""
    retests_are_asked(cast.project, 0)
    people.import_records(cast.project, people.make_records(8, steps=6))
    people.make_unanimous(cast, 8)
    audit_everything(cast.project)
    for turn in range(8):
        claimed = assign.claim_next(actor=cast.cleo, project=cast.project)
        people.label_all(claimed, 1 if turn < 4 else -1)
        label.submit(actor=cast.cleo, assignment=claimed)
    early = Assignment.stored.filter(annotator=cast.cleo).order_by("pk")[:4]
    at = timezone.now() - timedelta(days=14)
    Assignment.stored.filter(pk__in=[row.pk for row in early]).update(submitted_at=at)
    return cast


def page_of(user: User) -> str:
    return reverse("frontend:annotator-figures", args=["bench", user.pk])


@pytest.mark.postgres
def test_drift_is_shown_to_admins_by_week(rechecked: Cast) -> None:
    found = annotator_figures(viewer=rechecked.admin, project=rechecked.project, annotator=rechecked.cleo.pk)

    assert found.drift is not None and not found.drift.reason
    before, now = found.drift.weeks
    assert (before.trajectories, before.steps, before.wrong, before.cusum) == (4, 24, 0, 0.0)
    assert (now.trajectories, now.steps, now.wrong) == (4, 24, 24)
    assert now.cusum > 0 and (now.monday - before.monday).days == 14
    assert found.drift.since is None, "half of all steps are wrong as a rule, and whole trajectories together"


def test_drift_needs_enough_rechecks(rechecked: Cast) -> None:
    for annotator in (rechecked.ann, rechecked.ben):
        found = annotator_figures(viewer=rechecked.admin, project=rechecked.project, annotator=annotator.pk)
        assert found.drift is not None and found.drift.reason.startswith("too few") and not found.drift.weeks
        assert found.agreement.value == 1.0 and found.agreement.n == 48, (
            "rechecks are not compared with others"
        )


def test_drift_is_nothing_that_annotators_learn_of(rechecked: Cast) -> None:
    people.make_member(rechecked.project, rechecked.admin, "admin", "annotator")
    for who in (rechecked.cleo, rechecked.admin):
        own = annotator_figures(viewer=who, project=rechecked.project, annotator=who.pk)
        assert own.drift is None and as_json(own)["drift"] is None
    page = signed_in(rechecked.cleo).get(page_of(rechecked.cleo)).content.decode()
    assert "drift" not in page.casefold() and "recheck" not in page.casefold()


def test_page_and_api_of_an_annotator_with_enough_labels_say_the_same(rechecked: Cast) -> None:
    response = signed_in(rechecked.admin).get(page_of(rechecked.cleo))
    page = response.content.decode()
    assert "No drift found" in page and 'class="trend__limit"' in page
    assert len(response.context["chart"]["points"]) == 2
    ann = signed_in(rechecked.admin).get(page_of(rechecked.ann)).content.decode()
    assert "too few: fewer than 5 rechecked trajectories" in ann and "100.0\u00a0%" in ann

    api = Caller(rechecked.admin).get(f"/projects/bench/annotators/{rechecked.cleo.pk}/")
    assert api.status_code == 200 and api.json() == as_json(response.context["found"])
    own = Caller(rechecked.ann).get(f"/projects/bench/annotators/{rechecked.ann.pk}/")
    assert own.json()["percent_agreement"] == {"value": 1.0, "reason": ""} and own.json()["drift"] is None
    assert own.json()["compared_trajectories"] == 5, "eight are resolved, which is one block of five"
    assert Caller(rechecked.ann).get(f"/projects/bench/annotators/{rechecked.ben.pk}/").status_code == 404
    assert Caller(rechecked.judith).get(f"/projects/bench/annotators/{rechecked.ben.pk}/").status_code in (
        403,
        404,
    )
