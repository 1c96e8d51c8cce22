"""Places of crowd links: who gets one, how it ends, and that nothing of the id is anywhere else."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import pytest
from django.apps import apps
from django.core import serializers
from django.db import IntegrityError, transaction
from django.utils import timezone

from annotation.core.errors import Conflict, Denied, Invalid, NotFound, StaleState, TristepError
from annotation.core.vocabulary import CrowdState
from annotation.models import (
    AuditEvent,
    CrowdLink,
    CrowdPlace,
    Membership,
    ProficiencyTest,
    Trajectory,
    User,
)
from annotation.policies import visible
from annotation.policies.crowd import screened_out
from annotation.services import accounts, claim_expiry, projects
from tests import people
from tests.people import Cast
from tests.services.publishing import freeze
from tests.services.together import together

ID = "5f3a9c0d1e2b4a6978c0ffee"
LINK = {
    "name": "Batch one",
    "id_parameter": "PROLIFIC_PID",
    "places": 2,
    "minutes": 60,
    "trajectories": 2,
    "completed_code": "DONE42",
    "screened_code": "OUT17",
    "return_url": "https://app.example.org/complete?cc={code}",
}


def make_link(cast: Cast, **changes: Any) -> CrowdLink:
    return projects.create_crowd_link(actor=cast.admin, project=cast.project, values={**LINK, **changes})


def enter(link: CrowdLink, outside_id: str = ID, **more: Any) -> CrowdPlace:
    return projects.enter(link=projects.crowd_link_of(token=link.token), outside_id=outside_id, **more)


def later(place: CrowdPlace) -> Any:
    return place.expires_at + timedelta(seconds=1)


def taken(link: CrowdLink) -> int:
    return CrowdLink.objects.get(pk=link.pk).taken


# ── Links ─────────────────────────────────
@pytest.mark.parametrize(
    "wrong",
    [
        {"name": ""},
        {"id_parameter": "1 id"},
        {"places": 0},
        {"places": "2"},
        {"minutes": 50_000},
        {"trajectories": 1_001},
        {"completed_code": "with space"},
        {"screened_code": "DONE42"},
        {"return_url": "http://app.example.org/"},
        {"return_url": "https://user:secret@example.org/"},
        {"return_url": "https:///nowhere"},
        {"return_url": "javascript:alert(1)"},
        {"return_url": "https://{code}.example.org/"},
        {"return_url": "https://example.org/\\@evil"},
    ],
)
def test_crowd_link_that_cannot_be_is_refused_by_field(cast: Cast, wrong: Mapping[str, Any]) -> None:
    with pytest.raises(Invalid) as refusal:
        make_link(cast, **wrong)

    assert set(refusal.value.fields) == set(wrong)


def test_crowd_link_is_for_admins_and_keeps_the_places_that_are_taken(cast: Cast) -> None:
    link = make_link(cast)
    enter(link)
    enter(link, "another")

    with pytest.raises(Denied):
        projects.change_crowd_link(actor=cast.ann, link=link, values={"places": 9})
    with pytest.raises(Invalid) as refusal:
        projects.change_crowd_link(actor=cast.admin, link=link, values={"places": 1})
    assert set(refusal.value.fields) == {"places"}
    assert projects.change_crowd_link(actor=cast.admin, link=link, values={"places": 3}).places == 3
    assert not visible(cast.ann, CrowdLink.objects.all()).exists()
    with pytest.raises(IntegrityError), transaction.atomic():
        CrowdLink.objects.filter(pk=link.pk).update(taken=4)


# ── Taking a place ────────────────────────
def test_arrival_makes_an_annotator_of_nobodys_name_and_comes_back_to_the_same_place(cast: Cast) -> None:
    link = make_link(cast)
    place = enter(link)

    assert place.user.username.startswith("participant-")
    assert not place.user.has_usable_password()
    assert Membership.objects.get(user=place.user).roles == ("annotator",)
    assert enter(link).pk == enter(link, f" {ID} ", user=place.user).pk == place.pk
    assert taken(link) == 1


@pytest.mark.parametrize("garbage", ["", "  ", "x" * 101, "{{%PROLIFIC_PID%}}", "a\x00b", "ид", "a b"])
def test_arrival_without_an_id_makes_nobody(cast: Cast, garbage: str) -> None:
    link, before = make_link(cast), User.objects.count()

    with pytest.raises(Invalid):
        enter(link, garbage)

    assert (User.objects.count(), taken(link)) == (before, 0)


def refused(code: str, link: CrowdLink, outside_id: str = ID, **more: Any) -> None:
    before = User.objects.count()
    with pytest.raises(TristepError) as refusal:
        enter(link, outside_id, **more)
    assert refusal.value.code == code
    assert User.objects.count() == before


def test_arrival_is_refused_in_one_sentence_where_there_is_no_place_for_it(cast: Cast) -> None:
    link = make_link(cast)
    with pytest.raises(NotFound):
        projects.crowd_link_of(token="no-such")
    mine = enter(link)
    refused("other_place", link, "second-account", user=mine.user)
    refused("signed_in", link, "second-account", user=cast.ann)
    refused("signed_in", link, user=cast.ann)
    enter(link, "two")
    refused("crowd_link_full", link, "three")
    projects.close_crowd_link(actor=cast.admin, link=link)
    refused("crowd_link_closed", link, "three")
    assert enter(link).pk == mine.pk


def test_arrival_of_whom_an_admin_removed_is_refused_and_frees_the_place(cast: Cast) -> None:
    link = make_link(cast)
    place = enter(link)
    projects.remove_member(actor=cast.admin, membership=Membership.objects.get(user=place.user))

    refused("crowd_removed", link)
    assert projects.sweep_places() == 1
    place.refresh_from_db()
    assert (place.state, place.code, taken(link)) == (CrowdState.REMOVED, "", 0)
    refused("crowd_removed", make_link(cast, name="Batch two"))
    closed = enter(make_link(cast, name="Batch three"), "other")
    accounts.close_account(actor=cast.root, user=closed.user)
    refused("crowd_removed", closed.link, "other")


def test_arrival_opens_no_account_that_can_do_more_than_label(cast: Cast) -> None:
    link = make_link(cast)
    place = enter(link)
    mine = Membership.objects.get(user=place.user)
    projects.set_roles(actor=cast.admin, membership=mine, is_annotator=True, is_admin=True)
    refused("more_than_a_place", link)
    projects.set_roles(actor=cast.admin, membership=mine, is_annotator=True)
    assert enter(link).pk == place.pk
    people.make_member(people.make_project("other"), place.user, "annotator")
    refused("more_than_a_place", link)


def test_arrival_at_a_second_link_is_the_same_person(cast: Cast) -> None:
    first, second = make_link(cast), make_link(cast, name="Batch two")
    place = enter(first)
    refused("place_elsewhere", second)
    projects.return_place(actor=place.user, place=place)

    again = enter(second)
    assert again.user == place.user
    assert Membership.objects.filter(user=place.user).count() == 1
    assert (taken(first), taken(second)) == (0, 1)


# ── Working and leaving ───────────────────
def finished(place: CrowdPlace, n: int = 2) -> None:
    for _ in range(n):
        people.label_next(place.user, place.link.project, [1, 1], outcome=1)


def test_place_gives_its_trajectories_and_no_more_and_ends_with_the_code(cast: Cast) -> None:
    people.import_records(cast.project, 4)
    place = enter(make_link(cast))
    with pytest.raises(Conflict) as refusal:
        projects.finish_place(actor=place.user, place=place)
    assert refusal.value.code == "not_enough"
    finished(place)
    with pytest.raises(Conflict) as refusal:
        people.claim(place.user, cast.project)
    assert refusal.value.code == "place_done"

    done = projects.finish_place(actor=place.user, place=place)
    assert (done.state, done.code, taken(done.link)) == (CrowdState.COMPLETED, "DONE42", 1)
    assert projects.way_back(done) == "https://app.example.org/complete?cc=DONE42"
    assert Membership.objects.filter(user=place.user).exists()
    with pytest.raises(StaleState):
        projects.finish_place(actor=place.user, place=place)
    with pytest.raises(Conflict) as refusal:
        people.claim(place.user, cast.project)
    assert refusal.value.code == "place_over"
    assert enter(done.link).pk == place.pk


def test_place_that_is_returned_goes_back_with_what_was_open(cast: Cast) -> None:
    people.import_records(cast.project, 3)
    place = enter(make_link(cast, places=1))
    finished(place, 1)
    people.claim(place.user, cast.project)

    back = projects.return_place(actor=place.user, place=place)
    assert (back.state, back.code, taken(back.link)) == (CrowdState.RETURNED, "OUT17", 0)
    states = place.user.assignments.order_by("pk").values_list("state", "expiry_reason")
    assert list(states) == [("submitted", ""), ("expired", "left")]
    assert not Membership.objects.filter(user=place.user).exists()
    assert sorted(Trajectory.objects.values_list("free_slots", flat=True)) == [1, 2, 2]
    assert enter(back.link).state == CrowdState.RETURNED
    assert enter(back.link, "next").state == CrowdState.ACTIVE


def test_place_whose_time_is_over_goes_back_and_completed_work_is_not_lost(cast: Cast) -> None:
    people.import_records(cast.project, 4)
    link = make_link(cast)
    slow, done = enter(link), enter(link, "quick")
    people.claim(slow.user, cast.project)
    finished(done)

    assert projects.sweep_places(now=slow.expires_at - timedelta(seconds=1)) == 0
    assert projects.sweep_places(now=later(done)) == 2
    slow.refresh_from_db()
    done.refresh_from_db()
    assert (slow.state, slow.code) == (CrowdState.TIMED_OUT, "")
    assert (done.state, done.code) == (CrowdState.COMPLETED, "DONE42")
    assert taken(link) == 1
    assert not slow.user.assignments.filter(state="open").exists()
    assert projects.sweep_places(now=later(done)) == claim_expiry.sweep() == 0


def test_place_that_comes_back_late_ends_then(cast: Cast) -> None:
    people.import_records(cast.project, 1)
    place = enter(make_link(cast))
    with pytest.raises(Conflict) as refusal:
        CrowdPlace.objects.update(expires_at=timezone.now())
        people.claim(place.user, cast.project)
    assert refusal.value.code == "place_over"

    assert enter(place.link).state == CrowdState.TIMED_OUT


def failed(test: ProficiencyTest, user: User, number: int, **more: Any) -> None:
    now = timezone.now()
    test.sittings.create(annotator=user, number=number, state="failed", begun_at=now, ended_at=now, **more)


def test_place_of_who_fails_every_test_for_good_has_the_other_code_and_is_over_everywhere(cast: Cast) -> None:
    people.import_records(cast.project, 1)
    test = ProficiencyTest.objects.create(
        project=cast.project, number=1, agreement=0.8, attempts=2, created_at=timezone.now()
    )
    place = enter(make_link(cast))
    failed(test, place.user, 1)
    failed(test, place.user, 2)
    assert projects.sweep_places() == 0, "no subset asks for it"
    cast.project.subsets.update(required_test=test)
    test.sittings.filter(number=2).delete()
    assert projects.sweep_places() == 0, "an attempt is left"
    failed(test, place.user, 2)

    assert projects.sweep_places() == 1
    place.refresh_from_db()
    assert (place.state, place.code, taken(place.link)) == (CrowdState.SCREENED_OUT, "OUT17", 0)
    refused("crowd_removed", make_link(cast, name="Batch two"))


def test_place_is_kept_while_new_guidelines_ask_for_a_failed_test_again(cast: Cast) -> None:
    people.import_records(cast.project, 1)
    test = ProficiencyTest.objects.create(
        project=cast.project, number=1, agreement=0.8, attempts=1, created_at=timezone.now()
    )
    cast.project.subsets.update(required_test=test)
    place = enter(make_link(cast))
    failed(test, place.user, 1)
    version = projects.write_guidelines(actor=cast.admin, project=cast.project, text="Judge anew.").version
    assert screened_out(place.user, cast.project), "this test is asked once, whatever the guidelines"

    ProficiencyTest.objects.update(each_guideline=True)
    assert projects.sweep_places() == 0
    failed(test, place.user, 2, guideline_version=version)
    assert projects.sweep_places() == 1


def test_place_is_left_by_its_own_person_alone(cast: Cast) -> None:
    link = make_link(cast)
    mine, other = enter(link), enter(link, "other")
    for actor in (other.user, cast.admin, cast.root):
        with pytest.raises(Denied):
            projects.return_place(actor=actor, place=mine)
    assert not visible(other.user, CrowdPlace.objects.filter(pk=mine.pk)).exists()


# ── The id ────────────────────────────────
def test_id_stands_in_its_place_and_nowhere_else(cast: Cast) -> None:
    people.import_records(cast.project, 2)
    link = make_link(cast, trajectories=1)
    for number in range(2):
        place = enter(link, f"{ID}-{number}")
        finished(place, 1)
        projects.finish_place(actor=place.user, place=place)
    freeze(cast.project)

    holding = set()
    for model in apps.get_app_config("annotation").get_models():
        if ID in serializers.serialize("json", model._base_manager.all()):
            holding.add(model)
    assert holding == {CrowdPlace}
    acts = AuditEvent.objects.filter(verb__startswith="crowd_place").values_list("verb", flat=True)
    assert sorted(acts) == ["crowd_place.completed"] * 2 + ["crowd_place.take"] * 2


# ── At once ───────────────────────────────
@pytest.mark.django_db(transaction=True)
@pytest.mark.postgres
def test_arrivals_at_once_get_the_last_places_and_none_more() -> None:
    cast = people.make_cast()
    link = make_link(cast, places=5)

    def arriving(number: int) -> Any:
        # eight of the ids come twice
        return lambda: enter(link, f"id-{number % 24}").pk

    got = together(*map(arriving, range(32)))
    refusals = [answer for answer in got if isinstance(answer, Exception)]
    places = CrowdPlace.objects.filter(link=link)
    assert {getattr(refusal, "code", refusal) for refusal in refusals} == {"crowd_link_full"}
    assert places.count() == taken(link) == 5
    assert {answer for answer in got if isinstance(answer, int)} == {place.pk for place in places}
    assert Membership.objects.filter(user__username__startswith="participant-").count() == 5
    assert len({place.user_id for place in places}) == 5
