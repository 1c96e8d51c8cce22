"""The queue of disputes: filters, order, taking, assigning."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.utils import timezone

from annotation.models import Adjudication, AuditEvent, Dispute, Exposure, Notice, Trajectory
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
    names = {row.record_id: name for name, row in disputes.items()}
    response = client.get(at(QUEUE, "bench") + query)
    assert response.status_code == 200
    return [names[row.trajectory.record_id] for row in response.context["list"].page]


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
    (following,) = client.get(at(QUEUE, "bench") + "?sort=most").context["actions"]
    assert f'action="{at("adjudication-take", "bench", disputes["neutral"].pk)}"' in following

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
def assign(client, at, rows, username="", query=""):
    url = at("adjudication-assign", "bench") + query
    return client.post(url, {"adjudicator": username, "chosen": [row.pk for row in rows]}, follow=True)


def offered(client, at):
    """The user names that a case can be assigned to, and the trajectories that can be chosen."""
    page = client.get(at(QUEUE, "bench")).content.decode()
    names = re.findall(r'<option value="(.*?)"', page.split('name="adjudicator"')[1].split("</select>")[0])
    return names, [int(pk) for pk in re.findall(r'name="chosen"\s+value="(\d+)"', page)]


def test_disputes_are_assigned_by_an_admin_and_seen_when_they_are_opened(browse, at, disputes, cast, text):
    boss, rows = browse("admin"), [disputes["flip"], disputes["onset"]]

    answer = assign(boss, at, rows, "judith", "?kind=sign_flip&sort=newest")

    assert answer.redirect_chain == [(at(QUEUE, "bench") + "?kind=sign_flip&sort=newest", 302)]
    assert "2 cases are assigned: Judith 2." in text(answer)
    cases = Adjudication.objects.order_by("trajectory")
    assert [(case.trajectory, case.adjudicator, case.state) for case in cases] == [
        (row, cast.judith, "open") for row in rows
    ]
    assert AuditEvent.objects.filter(verb="case.assign", actor=cast.admin).count() == 2
    assert Notice.objects.filter(user=cast.judith, kind="case_given").count() == 1
    assert not Exposure.objects.filter(user=cast.judith).exists()
    browse("judith").get(at("adjudication", cases[0].pk))
    assert Exposure.objects.filter(user=cast.judith, trajectory=disputes["flip"]).exists()


def test_disputes_are_shared_evenly_and_what_is_settled_by_then_is_said_by_name(
    browse, at, disputes, cast, text
):
    people.make_member(cast.project, cast.oscar, "adjudicator")
    people.make_member(cast.project, cast.ben, "annotator", "adjudicator")
    assert offered(browse("admin"), at)[0] == ["", "ben", "judith", "oscar"]
    people.open_case(cast.judith, disputes["flip"])

    answer = assign(browse("admin"), at, disputes.values())

    # judith has one open already, and ben labelled them all
    assert "3 cases are assigned: Judith 1, Oscar 2." in text(answer)
    assert f"{disputes['flip'].record_id}: Another adjudicator has this case." in text(answer)
    again = assign(browse("admin"), at, disputes.values())
    assert ", ".join(row.record_id for row in disputes.values()) in text(again)
    assert Adjudication.objects.count() == 4


@pytest.mark.parametrize("who", ["ben", "cleo", "oscar", "nobody"])
def test_dispute_is_assigned_to_nobody_who_labelled_it_or_is_no_adjudicator(
    browse, at, disputes, cast, text, who
):
    people.make_member(cast.project, cast.ben, "annotator", "adjudicator")

    answer = assign(browse("admin"), at, [disputes["flip"]], who)

    reasons = {
        "ben": f"{disputes['flip'].record_id}: Ben has labelled this trajectory, or knows what became of its "
        "source; another must decide it.",
        "cleo": "Cleo is no adjudicator of this project.",
    }
    assert not Adjudication.objects.exists()
    assert answer.status_code == 404 if who not in reasons else reasons[who] in text(answer)


def test_choosing_nothing_or_what_one_may_not_see_assigns_nothing(browse, at, disputes, cast, text):
    boss = browse("admin")
    assert "Choose at least one." in text(assign(boss, at, []))
    elsewhere = people.make_project("other")
    people.import_records(elsewhere, [people.make_record(9)])
    hidden = Trajectory.objects.get(project=elsewhere)
    assert assign(boss, at, [disputes["flip"], hidden], "judith").status_code == 404
    url = at("adjudication-assign", "bench")
    for chosen in ("0", "-1", "x", "9" * 40, "²"):
        assert boss.post(url, {"chosen": [chosen, disputes["flip"].pk]}).status_code == 404
    assert not Adjudication.objects.exists()


def test_disputes_are_assigned_by_admins_only(browse, at, disputes):
    for who in ("ann", "judith"):
        assert assign(browse(who), at, [disputes["flip"]], "judith").status_code in (403, 404)
        assert b'name="chosen"' not in browse(who).get(at(QUEUE, "bench")).content
    assert browse("ann").get(at(QUEUE, "bench")).status_code == 403
    assert not Adjudication.objects.exists()


def test_admin_reads_a_dispute_that_they_may_read(browse, at, disputes, cast):
    address = at("trajectory", "bench", disputes["flip"].pk).encode()
    assert address in browse("admin").get(at(QUEUE, "bench")).content
    assert address not in browse("judith").get(at(QUEUE, "bench")).content


def test_admin_who_labelled_and_adjudicates_assigns_but_does_not_take(browse, at, disputes, cast):
    people.make_member(cast.project, cast.ann, "annotator", "adjudicator", "admin")
    client = browse("ann")

    shown = client.get(at(QUEUE, "bench"))

    assert at("adjudication-take", "bench", disputes["flip"].pk).encode() not in shown.content
    assert offered(client, at) == (["", "ann", "judith"], [row.pk for row in disputes.values()])


def test_dispute_that_no_adjudicator_may_decide_cannot_be_chosen(browse, at, disputes, cast, text):
    people.leave(cast.project, cast.judith)
    people.make_member(cast.project, cast.ben, "annotator", "adjudicator")

    shown = browse("admin").get(at(QUEUE, "bench"))

    assert b'name="chosen"' not in shown.content and b"data-chosen" not in shown.content
    assert text(shown).count("All adjudicators have labelled it.") == 4
    assert "Every adjudicator has labelled this" in text(assign(browse("admin"), at, [disputes["flip"]]))
