"""Pairs of labels as figures read them: written when a trajectory is settled, and right ever after."""

from __future__ import annotations

import random

import pytest

from annotation.core.agreement.label_pair_codec import CALL, CONFIRMED, TOUCHED
from annotation.core.errors import TristepError
from annotation.core.vocabulary import ExposureKind
from annotation.models import Assignment, PairedLabels, Trajectory
from annotation.policies import OPERATOR
from annotation.services import assign, exposures, label, pairing, projects
from tests import people
from tests.commands.calling import fails, run
from tests.fixtures.judges import make_imported_judge
from tests.people import Cast, change, import_records, make_record
from tests.services.revealing import reveal
from tests.services.saving import fill, save
from tests.suggesting import suggest


def test_pairing_is_done_when_the_last_label_is_in(cast: Cast) -> None:
    row = import_records(cast.project, [make_record(steps=3)])[0]
    people.label_next(cast.ann, cast.project, [1, 0, -1], outcome=-1)
    assert not PairedLabels.objects.exists()

    people.label_next(cast.ben, cast.project, [1, -1, -1], outcome=1)

    pair = PairedLabels.objects.get()
    assert (pair.trajectory_id, pair.first_id, pair.second_id, pair.n) == (
        row.pk,
        cast.ann.pk,
        cast.ben.pk,
        3,
    )
    assert bytes(pair.steps) == bytes([0b1010 + CALL, 0b0100 + CALL, 0b0000])
    assert pair.outcome == 0b0010


@pytest.mark.postgres
def test_pairing_leaves_out_what_is_not_blind_and_tells_touched_and_confirmed_labels(cast: Cast) -> None:
    row = import_records(cast.project, [make_record(steps=4)])[0]
    suggest(make_imported_judge(cast.project), row)
    mine = assign.claim_this(actor=cast.ann, trajectory=row)
    seen = [row.steps.get(message_index=2).pk]
    exposures.expose_suggestions(user=cast.ann, trajectory=row, steps=seen, now=row.source.created_at)
    save(mine, change(2, 1), change(4, -1))
    save(mine, fill(6, 4), change(8, 1), change(None, 1))
    label.submit(actor=cast.ann, assignment=mine)
    people.label_next(cast.ben, cast.project, 1)

    pair = PairedLabels.objects.get()

    assert list(bytes(pair.steps)) == [
        0b1110 + CALL,
        0b0010 + CALL + TOUCHED,
        0b0010 + CALL + TOUCHED + CONFIRMED,
        0b1010 + TOUCHED,
    ]
    assert pair.n == 3


def test_pairing_of_three_people_gives_three_pairs(cast: Cast) -> None:
    projects.update_project(actor=OPERATOR, project=cast.project, values={"annotators_per_trajectory": 3})
    import_records(cast.project, 1)
    for user, value in ((cast.ann, 1), (cast.ben, 0), (cast.cleo, -1)):
        people.label_next(user, cast.project, value)

    rows = PairedLabels.objects.order_by("first", "second").values_list("first", "second", "n")

    ids = sorted(user.pk for user in (cast.ann, cast.ben, cast.cleo))
    assert list(rows) == [(ids[0], ids[1], 2), (ids[0], ids[2], 2), (ids[1], ids[2], 2)]


def test_pairing_after_any_acts_is_what_the_labels_give(cast: Cast) -> None:
    chance = random.Random(0)
    rows = import_records(cast.project, [make_record(q, s, steps=3) for q in range(2) for s in range(2)])
    judge = make_imported_judge(cast.project)
    for row in rows:
        suggest(judge, row)
    annotators = (cast.ann, cast.ben, cast.cleo)

    def one_act(acts: tuple[str, ...]) -> None:
        user = chance.choice(annotators)
        mine = list(Assignment.objects.filter(annotator=user).order_by("pk"))
        act = chance.choice(acts)
        if act == "claim":
            assign.claim_next(actor=user, project=cast.project)
        elif act == "look":
            exposures.expose(
                user=chance.choice((*annotators, cast.judith)),
                trajectory=chance.choice(rows),
                kind=ExposureKind.LABEL,
            )
        elif not mine:
            return
        else:
            one = chance.choice(mine)
            if act == "save":
                people.label_all(one, [chance.choice((-1, 0, 1)) for _ in range(3)])
            elif act == "reveal":
                reveal(one, chance.choice((2, 4, 6)))
            elif act == "submit":
                label.submit(actor=user, assignment=one)
            elif act == "reopen":
                label.reopen(actor=user, assignment=one)
            else:
                assign.return_assignment(actor=user, assignment=one, reason="Not for me.")

    labelling = ("claim", "save", "save", "reveal", "submit", "submit", "submit", "reopen", "return")
    for turn in range(220):
        try:
            one_act(labelling if turn < 180 else (*labelling, "look"))
        except (TristepError, AssertionError):
            continue

    settled = Trajectory.objects.exclude(state="labelling")
    assert settled.exists()
    assert set(PairedLabels.objects.values_list("trajectory", flat=True)) == {row.pk for row in settled}
    assert not [row.pk for row in settled if pairing.differing(row.pk)]


@pytest.mark.postgres
def test_pairing_that_is_missing_or_wrong_is_found_and_repaired(cast: Cast) -> None:
    import_records(cast.project, 2)
    people.make_disputed(cast, 2)
    columns = ("trajectory", "first", "second", "steps", "outcome", "week", "n")
    stored = list(map(_plain, PairedLabels.objects.values(*columns)))
    PairedLabels.objects.all().delete()

    run("paired_labels", "bench", "--repair")

    assert list(map(_plain, PairedLabels.objects.values(*columns))) == stored
    run("paired_labels", "bench")
    PairedLabels.objects.update(outcome=0)
    assert "2 of 2" in fails("paired_labels", "bench").out
    run("paired_labels", "bench", "--repair")
    assert not [
        pk for pk in PairedLabels.objects.values_list("trajectory", flat=True) if pairing.differing(pk)
    ]


def _plain(row: dict[str, object]) -> dict[str, object]:
    return {name: bytes(value) if name == "steps" else value for name, value in row.items()}  # type: ignore[call-overload]
