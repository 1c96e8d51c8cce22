"""The queue of disputes: filters, order, taking, assigning."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from annotation.models import Adjudication, AuditEvent, Dispute, Exposure, Trajectory
from tests import people
from tests.fixtures.shared_rows import shared_rows

QUEUE = "adjudication-queue"
SHEETS = {
    # record → what ann and ben give its three steps, and the outcomes
    "flip": ([1, 1, 1], [1, -1, 1], 1, 1),
    "neutral": ([1, 0, 1], [1, 1, 0], 1, 1),
    "onset": ([1, 1, -1], [1, -1, -1], -1, -1),
    "outcome": ([1, 1, 1], [1, 1, 1], 1, -1),
}


@shared_rows
def disputes(cast):
    """One dispute of each kind, in two subsets; the first is forty days old, the second eight, the others
    new."""
    for number, name in enumerate(SHEETS):
        record = people.make_record(number, steps=3)
        people.import_records(cast.project, [record], subset="one" if number < 2 else "two")
        first, second, *outcomes = SHEETS[name]
        people.label_next(cast.ann, cast.project, first, outcome=outcomes[0])
        people.label_next(cast.ben, cast.project, second, outcome=outcomes[1])
    rows = dict(zip(SHEETS, Trajectory.objects.order_by("position"), strict=True))
    for name, days in (("flip", 40), ("neutral", 8)):
        Dispute.objects.filter(pk=rows[name].pk).update(arisen_at=timezone.now() - timedelta(days=days))
    return rows


def queue(client, at, disputes, query=""):
    """The names of the disputes that the queue shows, in its order."""
    names = {row.pk: name for name, row in disputes.items()}
    response = client.get(at(QUEUE, "bench") + query)
    assert response.status_code == 200
    return [names[row["dispute"].pk] for row in response.context["rows"]]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("", "flip neutral onset outcome"),
        ("?kind=sign_flip", "flip onset"),
        ("?kind=neutral_boundary", "neutral"),
        ("?kind=first_error", "flip onset"),
        ("?kind=outcome_only", "outcome"),
        ("?subset=two", "onset outcome"),
        ("?age=7d", "flip neutral"),
        ("?age=30d", "flip"),
        ("?size=2-4", "neutral"),
        ("?size=1", "flip onset"),
        ("?size=5%2B", ""),
        ("?sort=newest", "outcome onset neutral flip"),
        ("?sort=fewest", "outcome flip onset neutral"),
        ("?sort=most", "neutral onset flip outcome"),
        ("?sort=gravest", "flip onset neutral outcome"),
        ("?kind=sign_flip&subset=two&age=&size=1", "onset"),
        ("?kind=neutral_boundary&subset=two", ""),
    ],
)
def test_queue_is_filtered_and_sorted_and_filters_combine(browse, at, disputes, query, expected):
    assert queue(browse("judith"), at, disputes, query) == expected.split()


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ("?colour=red", "There is no filter “colour”."),
        ("?kind=loud", "“loud” is no value of the filter “kind”."),
        ("?subset=three", "There is no subset “three”."),
        ("?tab=theirs", "There is no such list of cases."),
    ],
)
def test_filter_that_does_not_exist_is_refused_in_one_sentence(browse, at, disputes, text, query, sentence):
    answer = browse("judith").get(at(QUEUE, "bench") + query)

    assert answer.status_code == 400
    assert text(answer).count(sentence) == 1


def test_queue_is_taken_from_in_its_order_and_keeps_the_filter_over_pages(browse, at, disputes, cast):
    client = browse("judith")
    shown = client.get(at(QUEUE, "bench") + "?sort=most").context
    assert shown["first"].pk == disputes["neutral"].pk

    taken = client.post(at("adjudication-take", "bench", disputes["neutral"].pk))

    assert taken.url == at("adjudication", Adjudication.objects.get().pk)
    assert queue(client, at, disputes) == ["flip", "onset", "outcome"]
    assert queue(client, at, disputes, "?tab=mine") == ["neutral"]
    client.post(at("adjudicate-release", Adjudication.objects.get().pk))
    assert queue(client, at, disputes) == ["flip", "neutral", "onset", "outcome"]


def test_second_adjudicator_reads_that_a_case_is_taken(browse, at, disputes, cast, text):
    people.make_member(cast.project, cast.oscar, "adjudicator")
    people.open_case(cast.judith, disputes["flip"])

    late = browse("oscar").post(at("adjudication-take", "bench", disputes["flip"].pk), follow=True)

    assert f"{disputes['flip'].record_id}: Another adjudicator has this case." in text(late)
    assert Adjudication.objects.count() == 1


# ── Assigning ─────────────────────────────
def assign(client, at, trajectory, username):
    url = at("adjudication-assign", "bench", trajectory.pk)
    return client.post(url, {"adjudicator": username}, follow=True)


def test_case_is_assigned_by_an_admin_and_seen_when_it_is_opened(browse, at, disputes, cast, text):
    answer = assign(browse("admin"), at, disputes["flip"], "judith")

    assert f"{disputes['flip'].record_id} is assigned to Judith." in text(answer)
    case = Adjudication.objects.get()
    assert (case.adjudicator, case.state) == (cast.judith, "open")
    assert not Exposure.objects.filter(user=cast.judith).exists()
    assert AuditEvent.objects.filter(verb="case.assign", actor=cast.admin).count() == 1
    browse("judith").get(at("adjudication", case.pk))
    assert Exposure.objects.filter(user=cast.judith, trajectory=disputes["flip"]).exists()


@pytest.mark.parametrize("who", ["ben", "cleo", "oscar", "nobody", ""])
def test_case_is_assigned_to_nobody_who_labelled_it_or_is_no_adjudicator(
    browse, at, disputes, cast, text, who
):
    people.make_member(cast.project, cast.ben, "annotator", "adjudicator")
    client = browse("admin")
    offered = client.get(at(QUEUE, "bench")).context["rows"][0]["assign"]
    assert offered == [cast.judith]

    answer = assign(client, at, disputes["flip"], who)

    assert not Adjudication.objects.exists()
    assert f"{disputes['flip'].record_id}: " in text(answer)


def test_case_that_somebody_has_is_not_assigned_again(browse, at, disputes, cast, text):
    people.make_member(cast.project, cast.oscar, "adjudicator")
    people.open_case(cast.oscar, disputes["flip"])

    answer = assign(browse("admin"), at, disputes["flip"], "judith")

    assert "Another adjudicator has this case." in text(answer)
    assert Adjudication.objects.get().adjudicator == cast.oscar


def test_case_is_assigned_by_admins_only(browse, at, disputes):
    for who in ("ann", "judith"):
        assert assign(browse(who), at, disputes["flip"], "judith").status_code in (403, 404)
    assert browse("ann").get(at(QUEUE, "bench")).status_code == 403
    assert not Adjudication.objects.exists()


def test_admin_who_labelled_and_adjudicates_assigns_but_does_not_take(browse, at, disputes, cast):
    people.make_member(cast.project, cast.ann, "annotator", "adjudicator", "admin")

    shown = browse("ann").get(at(QUEUE, "bench")).context

    assert [row["take"] for row in shown["rows"]] == [False] * 4
    assert shown["rows"][0]["assign"] == [cast.judith]
    assert shown["first"] is None
