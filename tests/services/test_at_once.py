"""Many people save, freeze and adjudicate at the same time; real threads on the real database."""

from __future__ import annotations

from collections import Counter

import pytest

from annotation.core.errors import TristepError
from annotation.models import Adjudication, Membership, OutcomeConsensus
from annotation.services import adjudicate, label, projects, release
from tests import people
from tests.services.together import refused, succeeded, together

pytestmark = [pytest.mark.postgres, pytest.mark.django_db(transaction=True)]


def test_save_of_the_same_batch_at_once_is_stored_once() -> None:
    cast = people.make_cast()
    people.import_records(cast.project, 1)
    assignment = people.claim(cast.ann, cast.project)

    def save() -> dict[str, object]:
        return label.save_labels(
            actor=cast.ann, assignment=assignment, op_id="once", changes=[people.change(2, 1)]
        )

    results = together(*[save] * 6)

    assert refused(results) == []
    assert {answer["labels"][0]["version"] for answer in results} == {1}
    assert {answer["results"][0]["status"] for answer in results} == {"saved"}


def test_save_from_the_same_version_at_once_stores_one_and_calls_the_others_stale() -> None:
    cast = people.make_cast()
    people.import_records(cast.project, 1)
    assignment = people.claim(cast.ann, cast.project)

    results = together(
        *(
            lambda value=value: label.save_labels(
                actor=cast.ann,
                assignment=assignment,
                op_id=f"from-{value}",
                changes=[people.change(2, value)],
            )
            for value in (-1, 0, 1)
        )
    )

    assert refused(results) == []
    assert sorted(answer["results"][0]["status"] for answer in results) == ["saved", "stale", "stale"]


def test_freeze_of_the_same_version_at_once_happens_once() -> None:
    cast = people.make_cast()
    people.import_records(cast.project, 3)
    people.make_unanimous(cast, 3)

    results = together(*[lambda: release.freeze(actor=cast.admin, project=cast.project, version="1.0")] * 4)

    assert len(succeeded(results)) == 1
    assert refused(results) == ["version_taken"] * 3
    (frozen,) = cast.project.releases.all()
    assert (frozen.number, frozen.records.count()) == (1, 3)


def test_freeze_of_different_versions_at_once_numbers_them_in_turn() -> None:
    cast = people.make_cast()
    people.import_records(cast.project, 3)
    people.make_unanimous(cast, 3)

    results = together(
        *(
            lambda version=version: release.freeze(actor=cast.admin, project=cast.project, version=version)
            for version in ("a", "b", "c")
        )
    )

    assert refused(results) == []
    assert sorted(frozen.number for frozen in results) == [1, 2, 3]
    assert len({frozen.digest for frozen in results}) == 1


def test_case_opened_by_two_at_once_tells_them_apart() -> None:
    cast = people.make_cast()
    people.make_member(cast.project, cast.oscar, "adjudicator")
    (trajectory,) = people.import_records(cast.project, 1)
    people.make_disputed(cast)

    results = together(
        lambda: adjudicate.open_case(actor=cast.judith, trajectory=trajectory),
        lambda: adjudicate.open_case(actor=cast.oscar, trajectory=trajectory),
    )

    assert len(succeeded(results)) == 1
    assert refused(results) == ["case_taken"]


def test_disputes_assigned_at_once_by_many_have_one_case_each_and_are_shared_evenly() -> None:
    cast = people.make_cast()
    people.make_member(cast.project, cast.oscar, "adjudicator")
    rows = people.import_records(cast.project, 4)
    people.make_disputed(cast, 4)
    everything = {"actor": cast.admin, "project": cast.project, "trajectories": rows}

    results = together(
        *[lambda: adjudicate.assign_cases(**everything)] * 3,
        lambda: adjudicate.open_case(actor=cast.judith, trajectory=rows[0]),
    )

    assert set(refused(results)) <= {"case_taken"}
    whose = Counter(Adjudication.objects.values_list("adjudicator__username", flat=True))
    assert whose == {"judith": 2, "oscar": 2}


def test_case_closed_twice_at_once_is_closed_once() -> None:
    cast = people.make_cast()
    (trajectory,) = people.import_records(cast.project, 1)
    people.make_disputed(cast)
    case = people.open_case(cast.judith, trajectory)
    people.decide_all(case)

    results = together(*[lambda: adjudicate.close_case(actor=cast.judith, adjudication=case)] * 3)

    assert len(succeeded(results)) == 1
    assert refused(results) == ["case_closed"] * 2
    assert OutcomeConsensus.objects.count() == 1


def test_member_who_is_the_last_admin_survives_two_who_remove_each_other() -> None:
    cast = people.make_cast()
    people.make_member(cast.project, cast.oscar, "admin")
    of_admin, of_oscar = (
        Membership.objects.get(project=cast.project, user=user) for user in (cast.admin, cast.oscar)
    )

    results = together(
        lambda: projects.remove_member(actor=cast.admin, membership=of_oscar),
        lambda: projects.remove_member(actor=cast.oscar, membership=of_admin),
    )

    assert all(result is None or isinstance(result, TristepError) for result in results), results
    assert Membership.objects.filter(project=cast.project, is_admin=True).count() == 1
