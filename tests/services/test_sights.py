"""Whoever sees what others said of a trajectory: what is noted, and what cannot be made out."""

from __future__ import annotations

from annotation.models import Adjudication
from annotation.reports import cases as reports
from tests import people
from tests.people import Cast


def test_letters_differ_from_case_to_case_and_stay_within_one(cast: Cast) -> None:
    rows = people.import_records(cast.project, 8)
    people.make_disputed(cast, 8)
    opened = [people.open_case(cast.judith, row) for row in rows]
    for seed, case in enumerate(opened):
        Adjudication.objects.filter(pk=case.pk).update(letter_seed=seed)
    cases = Adjudication.objects.order_by("pk").select_related("trajectory__project", "trajectory__task")

    first, again = (
        [
            [label.value for label in reports.case(actor=cast.judith, adjudication=case).outcome.labels]
            for case in cases
        ]
        for _ in range(2)
    )

    assert first == again and {tuple(values) for values in first} == {(1, -1), (-1, 1)}
    assert len({case.letter_seed for case in opened}) == 8
