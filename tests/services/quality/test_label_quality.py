"""Label quality: the figures that labels of rechecks make, in the report, the API, the command and the
page."""

from __future__ import annotations

import json
from io import StringIO

import pytest
from django.core.management import call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotation.models import Assignment
from annotation.policies import OPERATOR
from annotation.reports.quality.label_quality import as_json, label_quality
from annotation.services import assign, label, rechecks
from tests import callers, people
from tests.callers import signed_in
from tests.people import Cast
from tests.services.rechecking import a_while_ago, everything_is_rechecked, relabel, resolved


def figures(cast: Cast) -> dict[str, object]:
    return as_json(label_quality(viewer=OPERATOR, project=cast.project))


def test_label_quality_says_what_waits_before_anybody_has_labelled(third: Cast) -> None:
    resolved(third, 3)

    found = label_quality(viewer=third.admin, project=third.project)

    assert (found.third.drawn, found.third.done, found.third.waiting) == (3, 0, 3)
    assert (found.resolved, found.steps, found.needed) == (3, 6, 59)
    assert found.error.error.value is None and found.error.error.reason


@pytest.mark.postgres
def test_label_error_is_the_share_of_steps_on_which_a_third_person_differs(third: Cast) -> None:
    """Unanimous: 4 trajectories of 2 steps, one of them all wrong; adjudicated: 1 of 2 steps, right."""
    rows = people.import_records(third.project, 5)
    people.make_unanimous(third, 4)
    people.make_disputed(third)
    people.make_adjudicated(third, rows[4], 1)
    rechecks.sweep()
    wrong = rows[1].pk
    for _ in range(5):
        claimed = assign.claim_next(actor=third.cleo, project=third.project)
        people.label_all(claimed, -1 if claimed.trajectory_id == wrong else 1)
        label.submit(actor=third.cleo, assignment=claimed)

    found = label_quality(viewer=third.admin, project=third.project)

    assert found.error.error.value == pytest.approx(8 / 10 * 2 / 8)
    assert (found.error.error.n, found.error.tasks, found.error.covered) == (10, 5, 1.0)
    assert found.error.bound is not None and found.error.bound > 0.2
    lines = [(line.origin, line.trajectories, line.rechecked_steps, line.wrong) for line in found.strata]
    assert lines == [("adjudicated", 1, 2, 0), ("unanimous", 4, 8, 2)]


@pytest.mark.postgres
def test_a_retest_is_compared_with_what_the_same_person_said_first(cast: Cast) -> None:
    everything_is_rechecked(cast.project, third=0, retest=100)
    resolved(cast, 2)
    relabel(cast.ann, cast.project, 1)
    relabel(cast.ann, cast.project, -1)
    relabel(cast.ben, cast.project, 1)

    everybody, *each = label_quality(viewer=cast.admin, project=cast.project).retests

    assert (everybody.agreement.n, everybody.agreement.value) == (6, pytest.approx(4 / 6))
    assert [(one.name, one.agreement.n, one.agreement.value) for one in each] == [
        ("Ann", 4, None),
        ("Ben", 2, None),
    ]


def test_confusion_of_people_is_made_of_three_peoples_labels_of_the_same_steps(third: Cast) -> None:
    """Cleo says 0 where ann and ben say +1, every third time."""
    records = [people.make_record(query, steps=15) for query in range(4)]
    people.import_file(third.project, people.jsonl(records))
    people.make_unanimous(third, 4)
    rechecks.sweep()
    for _ in range(4):
        claimed = assign.claim_next(actor=third.cleo, project=third.project)
        people.label_all(claimed, [0, 1, 1] * 5)
        label.submit(actor=third.cleo, assignment=claimed)

    found = {
        person.name: person for person in label_quality(viewer=third.admin, project=third.project).people
    }

    assert {name: one.n for name, one in found.items()} == {"Ann": 60, "Ben": 60, "Cleo": 60}
    (ann, cleo) = (found[name].rates[2] for name in ("Ann", "Cleo"))
    assert ann == (0.0, 0.0, pytest.approx(1.0))
    assert cleo[1] is not None and 0.2 < cleo[1] < 0.4


def test_label_quality_takes_as_many_queries_however_much_there_is(third: Cast) -> None:
    resolved(third, 1)
    relabel(third.cleo, third.project)

    def queries() -> int:
        with CaptureQueriesContext(connection) as asked:
            label_quality(viewer=OPERATOR, project=third.project)
        return len(asked)

    few = queries()
    resolved_before = Assignment.objects.count()
    people.import_records(third.project, 4, subset="more")
    people.make_unanimous(third, 4)
    a_while_ago(third.project)
    rechecks.sweep()
    for _ in range(4):
        relabel(third.cleo, third.project, -1)

    assert Assignment.objects.count() > resolved_before
    assert queries() == few


def test_page_api_and_command_say_the_same(third: Cast) -> None:
    resolved(third, 2)
    relabel(third.cleo, third.project, -1)
    out = StringIO()
    call_command("label_quality", third.project.slug, "--json", stdout=out, stderr=StringIO())

    told = json.loads(out.getvalue())

    assert told == callers.Caller(third.admin).get(f"/projects/{third.project.slug}/label-quality/").json()
    assert told == figures(third)
    page = signed_in(third.admin).get(f"/p/{third.project.slug}/label-quality/").content.decode()
    assert "100.0 %" in page or "100 %" in page
    assert "recheck-canary" not in page


def test_page_without_anything_says_what_is_needed(third: Cast) -> None:
    page = signed_in(third.admin).get(f"/p/{third.project.slug}/label-quality/").content.decode()

    assert "at least 59 tasks" in page
