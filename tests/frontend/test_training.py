"""The pages of tutorial and tests: for admins who make them, and for who is taught and tested."""

from __future__ import annotations

from typing import Any

import pytest

from annotation.models import ProficiencyTest, Subset
from annotation.reports.training import proficiency as report
from annotation.services import label, proficiency
from tests import people
from tests.people import Cast
from tests.services.keyed import KEYS, keyed_items, make_tutorial

pytestmark = pytest.mark.django_db

TEN = [KEYS[at % 4] for at in range(10)]


def test_tutorial_is_chosen_by_places_and_leads_the_way(cast: Cast, browse: Any, at: Any, text: Any) -> None:
    items = keyed_items(cast.project)
    admin, ann = browse("admin"), browse("ann")
    page = at("tutorial", cast.project.slug)
    assert "Save the tutorial" in text(admin.get(page))
    told = {f"place-{items[2].pk}": "1", f"place-{items[0].pk}": "2", f"place-{items[1].pk}": ""}
    assert admin.post(page, told).status_code == 302
    assert [row.trajectory_id for row in cast.project.tutorial_items.all()] == [items[2].pk, items[0].pk]
    assert admin.post(page, {"place-999999": "1"}).status_code == 404
    assert "Tutorial: 1 of 2" in text(ann.get(at("home")))
    assert "Tutorial: 1 of 2" in text(ann.get(at("work", cast.project.slug)))
    bench = ann.post(at("claim", cast.project.slug), {"claim_key": "k"}, follow=True)
    assert "Tutorial: 1 of 2" in text(bench)
    assert "/feedback/" in text(bench)
    # an admin lets somebody skip it
    assert "Let skip the tutorial" in text(admin.get(at("members", cast.project.slug)))
    member = cast.project.memberships.get(user=cast.ann)
    admin.post(at("member", cast.project.slug, member.pk), {"skip_tutorial": "1"})
    assert "Tutorial: " not in text(ann.get(at("home")))


def test_test_is_made_sat_and_told(cast: Cast, browse: Any, at: Any, text: Any) -> None:
    people.import_records(cast.project, 1)
    items = keyed_items(cast.project, TEN, subset="exam")
    admin, ann, slug = browse("admin"), browse("ann"), cast.project.slug
    assert text(admin.get(at("test-new", slug))).count(" checked") == 10
    subset = Subset.objects.get(name="tiny")
    body = {
        "agreement": "80",
        "error_recall": "70",
        "attempts": "1",
        "wait_hours": "0",
        "opens": [subset.pk],
        "chosen": [item.pk for item in items[:9]],
    }
    few = admin.post(at("test-new", slug), body)
    assert few.status_code == 400
    assert "at least 10 items; these are 9" in text(few)
    assert (
        admin.post(at("test-new", slug), {**body, "chosen": [item.pk for item in items]}).status_code == 302
    )
    detail = text(admin.get(at("test-detail", slug, 1)))
    assert "always says +1" in detail
    assert "It opens tiny." in detail
    assert text(admin.get(at("tests", slug))).count("Test 1") == 1
    # who has not passed is led to it
    led = ann.post(at("claim", slug), {"claim_key": "k"}, follow=True)
    assert "Begin the test" in text(led)
    assert "opens more to label" in text(ann.get(at("home")))
    begun = ann.post(at("test", slug, 1), follow=True)
    assert "Test 1: 1 of 10" in text(begun)
    assert "/feedback/" not in text(begun)
    assert "Test 1: 1 of 10" in text(ann.get(at("home")))
    attempt = ProficiencyTest.objects.get().sittings.get()
    assert ann.get(at("attempt", attempt.pk)).status_code == 302  # not told yet
    assert browse("ben").get(at("attempt", attempt.pk)).status_code == 404
    for _ in range(10):
        claimed = people.claim(cast.ann, cast.project)
        people.label_all(claimed)
        label.submit(actor=cast.ann, assignment=claimed)
    told = ann.post(at("claim", slug), {"claim_key": "l", "attempt": str(attempt.pk)}, follow=True)
    assert "not reached" in text(told)
    assert text(told).count("the key says") == 12
    assert "no attempt left" in text(ann.get(at("test", slug, 1)))
    page = at("test-detail", slug, 1)
    assert "Grant another" in text(admin.get(page))
    assert b"ann,1,failed" in b"".join(admin.get(f"{page}?as=csv").streaming_content)
    admin.post(at("attempt-grant", attempt.pk))
    assert "Begin the test" in text(ann.get(at("test", slug, 1)))
    assert report.standing(cast.ann, ProficiencyTest.objects.get()).left == 1


def test_risky_test_is_warned_of(cast: Cast, browse: Any, at: Any, text: Any) -> None:
    items = keyed_items(cast.project, [(1, 1)] * 10, subset="exam")
    make_tutorial(cast.project, 1)
    proficiency.make_test(actor=cast.admin, project=cast.project, trajectories=items, agreement=0.8)
    page = text(browse("admin").get(at("test-detail", cast.project.slug, 1)))
    assert "A false pass is too likely" in page
    assert "100.0" in page
