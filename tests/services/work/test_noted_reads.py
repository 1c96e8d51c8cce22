"""Reads of others' labels: their records, and the things that cannot be made out."""

from __future__ import annotations

import zlib
from datetime import UTC, datetime

import pytest

from annotation.core.errors import Conflict, Denied
from annotation.core.vocabulary import ExposureKind
from annotation.models import Adjudication, Exposure, JudgeAnswer, Label, OutcomeLabel, SuggestionRun
from annotation.models.blindness import with_blind_values
from annotation.policies import OPERATOR
from annotation.reports.cases import side_by_side as reports
from annotation.services import assign, exposures, noted_reads, release
from tests import people
from tests.fixtures.judges import make_imported_judge
from tests.people import Cast, change
from tests.services.saving import save

NOW = datetime(2026, 3, 14, 12, 0, tzinfo=UTC)


def test_letters_differ_from_case_to_case_and_stay_within_one(cast: Cast) -> None:
    rows = people.import_records(cast.project, 2)
    people.make_disputed(cast, 2)
    opened = [people.open_case(cast.judith, row) for row in rows]

    def letters(seed: int) -> list[tuple[int | None, ...]]:
        Adjudication.objects.update(letter_seed=seed)
        cases = Adjudication.objects.order_by("pk").select_related("trajectory__project", "trajectory__task")
        said = [reports.case(actor=cast.judith, adjudication=case).outcome.labels for case in cases]
        return [tuple(label.value for label in labels) for labels in said]

    # so many that they are not all alike by chance, whatever ids the rows have
    found = [letters(seed) for seed in range(12)]

    assert {order for orders in found for order in orders} == {(1, -1), (-1, 1)}
    assert letters(3) == found[3]
    assert opened[0].letter_seed != opened[1].letter_seed


@pytest.mark.postgres
def test_record_or_raw_answer_read_before_the_claim_is_an_exposure(cast: Cast) -> None:
    record, answer, other = people.import_records(cast.project, 3)
    people.make_member(cast.project, cast.admin, "admin", "annotator")
    judge = make_imported_judge(cast.project)
    said = zlib.compress(b"-1")
    run = SuggestionRun.objects.create(judge=judge, project=cast.project, state="finished", created_at=NOW)
    JudgeAnswer.objects.create(
        run=run, judge=judge, trajectory=answer, request=said, response=said, created_at=NOW
    )

    assert b"messages" in noted_reads.record(actor=cast.admin, trajectory=record)
    assert noted_reads.judge_answer(actor=cast.admin, answer=JudgeAnswer.objects.get()).response == b"-1"

    with pytest.raises(Conflict, match="not available to you"):
        assign.claim_this(actor=cast.admin, trajectory=record)
    people.label_all(assign.claim_this(actor=cast.admin, trajectory=answer))
    people.label_all(assign.claim_this(actor=cast.admin, trajectory=other))
    for model, blind in ((Label, 2), (OutcomeLabel, 1)):
        assert (
            list(with_blind_values(model.objects.all()).values_list("assignment__trajectory", flat=True))
            == [other.pk] * blind
        )


@pytest.mark.parametrize("who", ["admin", "root"])
def test_label_changed_after_a_sight_of_others_labels_does_not_count_as_blind(cast: Cast, who: str) -> None:
    user = cast.everybody[who]
    people.make_member(cast.project, user, "admin", "annotator")
    (row,) = people.import_records(cast.project, 1)
    mine = assign.claim_this(actor=user, trajectory=row)
    save(mine, change(2, 1), change(None, 1))
    people.label_next(cast.ann, cast.project, -1, outcome=-1)
    with pytest.raises(Denied):
        noted_reads.inspection(actor=user, trajectory=row)
    with pytest.raises(Denied):
        noted_reads.record(actor=user, trajectory=row)

    # as when the trajectory was claimed in another window while the page was being read
    exposures.expose(user=user, trajectory=row, kind=ExposureKind.LABEL)
    save(mine, change(2, -1, version=1), change(4, -1), change(None, -1, version=1))

    blind = with_blind_values(Label.objects.filter(assignment=mine))
    assert [(label.step.message_index, label.value, label.blind) for label in blind] == [(2, -1, 1)]
    assert [outcome.blind for outcome in with_blind_values(OutcomeLabel.objects.filter(assignment=mine))] == [
        1
    ]


def test_release_that_is_read_exposes_its_consensus_once(cast: Cast) -> None:
    rows = people.import_records(cast.project, 3)
    people.import_records(cast.project, 1, subset="more")
    people.make_unanimous(cast, 2)
    made = release.freeze(actor=cast.admin, project=cast.project, version="1.0")

    for _ in range(2):
        assert len(list(release.export_lines(actor=cast.judith, release=made, subset="tiny"))) == 2

    seen = Exposure.objects.filter(user=cast.judith)
    assert set(seen.values_list("trajectory", "kind")) == {(row.pk, "consensus") for row in rows[:2]}
    list(release.export_lines(actor=OPERATOR, release=made))
    assert Exposure.objects.count() == 2
