"""The history of a step: everything that happened to it, for each as far as they may see it."""

from __future__ import annotations

import io
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotation.models import Adjudication, Assignment, Discussion, Exposure, Step, Trajectory, User
from annotation.policies import OPERATOR
from annotation.reports.cases.history_entries import HistoryEntry
from annotation.services import adjudicate, assign, label, noted_reads, release
from tests import people
from tests.fixtures.judges import make_imported_judge
from tests.people import Cast
from tests.services.rechecking import relabel, resolved
from tests.services.talking import letter_of, revise, say
from tests.suggesting import suggest

WHOLE = ("assignment.submit", "case.open", "case.close", "discussion.open", "seen.label", "seen.consensus")


def history(user: User, trajectory: int, place: Any = "everything") -> list[HistoryEntry]:
    row = Trajectory.objects.select_related("project", "subset", "task").get(pk=trajectory)
    return noted_reads.history(actor=user, trajectory=row, place=place)


def seen(user: User, case: Adjudication) -> list[tuple[str, str, int | None]]:
    """(kind, letter, value) of what is about the second step itself."""
    step = Step.objects.get(trajectory=case.trajectory_id, message_index=4)
    entries = history(user, case.trajectory_id, step)
    return [(entry.kind, entry.letter, entry.value) for entry in entries if entry.about == "step"]


def kinds(entries: list[HistoryEntry]) -> list[str]:
    return [entry.kind for entry in entries]


@pytest.mark.postgres
def test_history_is_ones_own_then_that_of_the_discussion_and_all_of_it_once_resolved(
    cast: Cast, disputed_case: Adjudication, talk: Discussion
) -> None:
    ann, ben = (letter_of(user, talk) for user in (cast.ann, cast.ben))
    say(cast.ben, talk)
    revise(cast.ann, talk, 4, 0)
    decision = {"actor": cast.judith, "adjudication": disputed_case, "value": -1}
    adjudicate.decide(**decision, message_index=4, note="Read it again.")
    said = [("comment", ben, None), ("revision", ann, 0)]
    own, other = ("save", ann, 1), ("save", ben, -1)

    assert seen(cast.ann, disputed_case) == [own, *said]
    assert seen(cast.judith, disputed_case) == [own, other, *said, ("decision", "", -1)]
    adjudicate.decide(**decision, message_index=None)
    adjudicate.close_case(actor=cast.judith, adjudication=disputed_case)
    whole = [own, other, *said, ("decision", "", -1), ("resolved", "", -1)]
    for reader in (cast.ann, cast.judith, cast.admin):
        assert seen(reader, disputed_case) == whole
    assert Exposure.objects.filter(user=cast.ann, kind="consensus").exists()


def test_history_tells_what_concerns_the_whole_with_every_step(
    cast: Cast, disputed_case: Adjudication, talk: Discussion
) -> None:
    say(cast.ann, talk, at=None)
    adjudicate.decide(actor=cast.judith, adjudication=disputed_case, message_index=4, value=-1)
    adjudicate.decide(actor=cast.judith, adjudication=disputed_case, message_index=None, value=-1)
    adjudicate.close_case(actor=cast.judith, adjudication=disputed_case)
    made = release.freeze(actor=OPERATOR, project=cast.project, version="1.0")
    release.withdraw(actor=cast.admin, release=made, reason="faulty")
    step = Step.objects.get(trajectory=disputed_case.trajectory_id, message_index=4)

    entries = history(cast.admin, disputed_case.trajectory_id, step)

    assert {kind for kind in kinds(entries) if kind in WHOLE} == set(WHOLE) - {"seen.consensus"}
    assert kinds(entries)[-2:] == ["release.freeze", "release.withdraw"]
    assert {entry.about for entry in entries} == {"step", "whole"}
    assert {entry.name for entry in entries if entry.kind == "case.close"} == {"Judith"}
    assert "comment" not in kinds(entries)  # of the thread of the whole
    of_outcome = history(cast.admin, disputed_case.trajectory_id, None)
    assert "comment" in kinds(of_outcome)
    assert [one.value for one in of_outcome if one.about == "outcome"] == [1, -1, -1, -1]
    everything = history(cast.admin, disputed_case.trajectory_id)
    assert {one.number for one in everything} == {None, 1, 2, 3}
    assert [one.at for one in everything] == sorted(one.at for one in everything)


def test_history_names_people_to_admins_alone(
    cast: Cast, disputed_case: Adjudication, talk: Discussion
) -> None:
    say(cast.ben, talk)
    for user, names in ((cast.admin, {"Ann", "Ben", "Judith"}), (cast.judith, {""}), (cast.ann, {""})):
        assert {one.name for one in history(user, disputed_case.trajectory_id)} == names


def test_history_without_a_discussion_is_ones_own(cast: Cast, disputed_case: Adjudication) -> None:
    entries = history(cast.ann, disputed_case.trajectory_id)
    assert kinds(entries) == ["save"] * 4 + ["assignment.submit"]
    assert {(entry.own, entry.letter) for entry in entries} == {(True, "")}
    assert not Exposure.objects.filter(user=cast.ann).exists()


def test_history_of_sights_is_everybodys_to_admins_and_ones_own_to_others(
    cast: Cast, disputed_case: Adjudication
) -> None:
    assert [one.name for one in history(cast.admin, disputed_case.trajectory_id) if "seen" in one.kind] == [
        "Judith"
    ]
    talked = history(cast.judith, disputed_case.trajectory_id)
    assert [one.own for one in talked if one.kind == "seen.label"] == [True]
    again = history(cast.admin, disputed_case.trajectory_id)
    assert [one.name for one in again if one.kind == "seen.label"] == ["Judith", "Admin"]


def test_history_tells_a_reveal_once_and_a_claim_that_was_taken_back(cast: Cast) -> None:
    (row,) = people.import_records(cast.project, 1)
    suggest(make_imported_judge(cast.project, "a judge of name"), row)
    mine = people.claim(cast.ann, cast.project)
    people.label_all(mine, 1)
    label.reveal(actor=cast.ann, assignment=mine, message_index=people.step_indexes(row)[0])
    assign.take_back(actor=cast.admin, project=cast.project, assignments=[mine], reason="idle")
    assign.resume_assignment(actor=cast.ann, assignment=mine)

    entries = history(cast.ann, row.pk)

    assert kinds(entries)[-3:] == ["reveal", "assignment.expire", "assignment.resume"]
    expired = entries[-2]
    assert (expired.voice, expired.own, expired.name) == ("admin", False, "")
    assert expired.detail == {"because": "taken_back"}


@pytest.mark.postgres
def test_history_of_a_recheck_is_that_of_any_assignment(third: Cast) -> None:
    (row,) = resolved(third)
    relabel(third.cleo, third.project)

    assert kinds(history(third.cleo, row.pk)) == ["save", "save", "save", "assignment.submit"]
    assert {one.voice for one in history(third.cleo, row.pk)} == {"annotator"}
    assert "Cleo" not in {one.name for one in history(third.admin, row.pk)}


def test_history_does_not_show_the_labels_that_are_asked_for_again(retest: Cast) -> None:
    (row,) = resolved(retest)
    assert history(retest.ann, row.pk) == []
    again = people.claim(retest.ann, retest.project)
    assert again.trajectory_id == row.pk
    assert history(retest.ann, row.pk) == []
    people.label_all(again, -1)
    assert {one.value for one in history(retest.ann, row.pk)} == {-1, 1}  # the outcome is 1
    first = Assignment.objects.get(trajectory=row, annotator=retest.ann)
    assert all(one.at > first.submitted_at + timedelta(days=1) for one in history(retest.ann, row.pk))


def test_history_takes_as_many_queries_however_much_happened(cast: Cast) -> None:
    people.import_records(
        cast.project, [people.make_record(query, steps=2 + 6 * query) for query in range(2)]
    )
    people.make_disputed(cast, 2)
    found = []
    for row in Trajectory.objects.order_by("step_count"):
        people.make_adjudicated(cast, row)
        history(cast.admin, row.pk)
        trajectory = Trajectory.objects.select_related("project", "subset", "task").get(pk=row.pk)
        with CaptureQueriesContext(connection) as asked:
            noted_reads.history(actor=cast.admin, trajectory=trajectory, place="everything")
        found.append(len(asked))
    assert found == [found[0]] * 2 and found[0] <= 25


def test_history_of_a_step_says_what_came_from_a_file(cast: Cast) -> None:
    (row,) = people.import_records(cast.project, 1)
    line = {"record_id": row.record_id, "step_labels": {"2": 1, "4": -1}, "final_label": 0}
    file = io.BytesIO(people.jsonl([line]))
    given = {"project": cast.project, "annotator": "ann", "subset": "tiny"}
    label.import_labels(actor=OPERATOR, stream=file, filename="labels.jsonl", **given)
    steps = Step.objects.filter(trajectory=row).order_by("ordinal")
    found = [next(one.value for one in history(cast.admin, row.pk, place)) for place in (*steps, None)]
    assert found == [1, -1, 0]
