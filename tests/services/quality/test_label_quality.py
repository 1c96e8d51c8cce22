"""Label quality: the figures that labels of rechecks make, in the report, the API, the command and the
page."""

from __future__ import annotations

import json
from io import StringIO

import pytest
from django.core.management import call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotation.core.audits.planning import draws_needed
from annotation.models import Assignment, LabelAudit
from annotation.policies import OPERATOR
from annotation.reports.quality.label_quality import as_json, label_quality
from annotation.services import assign, label
from tests import callers, people
from tests.callers import signed_in
from tests.people import Cast
from tests.services.rechecking import a_while_ago, audit_everything, relabel, resolved, retests_are_asked


def figures(cast: Cast) -> dict[str, object]:
    return as_json(label_quality(viewer=OPERATOR, project=cast.project))


def test_label_quality_says_that_no_audit_has_begun(cast: Cast) -> None:
    found = label_quality(viewer=cast.admin, project=cast.project)

    assert (found.audit, found.resolved) == (None, 0)
    assert as_json(found)["reason"] == "no audit of the labels has begun"


@pytest.mark.postgres
def test_a_retest_is_compared_with_what_the_same_person_said_first(cast: Cast) -> None:
    retests_are_asked(cast.project)
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
    page = signed_in(cast.admin).get(f"/p/{cast.project.slug}/label-quality/").content.decode()
    assert "with one another" in page and "100 % are asked for again: 3 of 4 are labelled." in page


def test_confusion_of_people_is_made_of_three_peoples_labels_of_the_same_steps(third: Cast) -> None:
    """Cleo says 0 where ann and ben say +1, every third time."""
    records = [people.make_record(query, steps=15) for query in range(4)]
    people.import_file(third.project, people.jsonl(records))
    people.make_unanimous(third, 4)
    audit_everything(third.project)
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
    audit_everything(third.project)
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
    assert told["between_annotators"]["agreement"]["value"] == 1 and told["second_reading"] is None
    page = signed_in(third.admin).get(f"/p/{third.project.slug}/label-quality/").content.decode()
    assert "audit running" in page
    assert "recheck-canary" not in page


def test_page_says_how_many_draws_a_bound_takes_and_begins_the_audit(third: Cast) -> None:
    people.import_records(third.project, 2)
    people.make_unanimous(third, 2)
    client, address = signed_in(third.admin), f"/p/{third.project.slug}/label-quality/"
    assert "Begin an audit" in client.get(address).content.decode()

    planned = client.get(address, {"wished": "1", "mixed": "0"}).content.decode()
    assert f"{draws_needed(0.01)} draws prove it, if nothing is wrong." in planned
    refused = client.post(f"{address}audits/", {"wished": "1", "mixed": "1", "draws": "6000"})
    assert refused.status_code == 400 and not LabelAudit.objects.exists()
    client.post(f"{address}audits/", {"wished": "20", "mixed": "1", "draws": "40"})

    begun = LabelAudit.objects.get()
    assert (begun.wished, begun.draws.count()) == (0.2, 40)
    assert "audit running" in client.get(address).content.decode()
    client.post(f"/label-audits/{begun.pk}/draws/", {"draws": "2"})
    client.post(f"/label-audits/{begun.pk}/end/")
    begun.refresh_from_db()
    assert (begun.state, begun.draws.count()) == ("ended", 42)
    assert "ended without proof" in client.get(address).content.decode()
