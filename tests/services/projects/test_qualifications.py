"""Qualifications of members: who notes and sees them, and what a release says of them."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from annotation.core.errors import Denied, Invalid, StaleVersion
from annotation.core.releases.qualifications import (
    Qualifications,
    qualification_counts,
    qualification_sentences,
)
from annotation.models import AuditEvent, Membership, Qualification
from annotation.policies import OPERATOR, visible
from annotation.services import projects, release
from tests import people
from tests.people import Cast
from tests.services.publishing import export, freeze


def noted(cast: Cast, user: Any, actor: Any = None, version: str | None = None, **values: Any) -> Any:
    membership = Membership.objects.get(project=cast.project, user=user)
    return projects.set_qualifications(
        actor=actor or cast.admin, membership=membership, values=values, version=version
    )


# ── Noting them ───────────────────────────
def test_qualifications_are_noted_in_one_spelling_and_audited_without_values(cast: Cast) -> None:
    row = noted(
        cast, cast.ann, degree="master", field=" computer  science ", languages="English，中文, english"
    )

    assert (row.degree, row.field, row.years, row.languages) == (
        "master",
        "computer science",
        None,
        "english, 中文",
    )
    event = AuditEvent.objects.get(verb="member.qualifications")
    assert event.detail == {"username": "ann", "fields": ["degree", "field", "languages"]}
    assert noted(cast, cast.ann, years=3).field == "computer science"
    assert noted(cast, cast.ann, years=3).pk == row.pk
    assert AuditEvent.objects.filter(verb="member.qualifications").count() == 2


def test_qualifications_are_for_admins_only(cast: Cast) -> None:
    noted(cast, cast.ann, degree="master")

    for user in (cast.ann, cast.judith, cast.oscar):
        assert not visible(user, Qualification.objects.all()).exists()
        with pytest.raises(Denied):
            noted(cast, cast.ann, actor=user, degree="none")
    assert visible(cast.admin, Qualification.objects.all()).count() == 1


@pytest.mark.parametrize(
    "wrong",
    [
        {"degree": "knight"},
        {"years": 81},
        {"years": -1},
        {"field": "x" * 81},
        {"pay_rate": Decimal(-1)},
        {"shoe": 43},
    ],
)
def test_qualifications_that_cannot_be_are_refused_by_field(cast: Cast, wrong: dict[str, Any]) -> None:
    with pytest.raises(Invalid) as refusal:
        noted(cast, cast.ann, **wrong)

    assert set(refusal.value.fields) == set(wrong)


def test_qualifications_are_not_written_over_what_one_has_not_seen(cast: Cast) -> None:
    began = Qualification(membership=Membership.objects.get(user=cast.ann)).version
    noted(cast, cast.ann, version=began, years=4)

    with pytest.raises(StaleVersion):
        noted(cast, cast.ann, version=began, years=5)


# ── Counting them ─────────────────────────
def test_counts_are_of_groups_and_of_nobody() -> None:
    scientist = Qualifications("master", "computer science", 6, "English, 中文")
    other = Qualifications("doctorate", "Law", 1, "Latin")

    assert qualification_counts([scientist] * 4) == {}
    assert qualification_counts([Qualifications()] * 9) == {}
    block = qualification_counts([scientist] * 4 + [Qualifications("none", "Computer Science")] + [other])
    assert block == {
        "annotators": 6,
        "smallest_count": 3,
        "degree": {"master": 4},
        "degree_in": {"computer science": 4},
        "years": {"5–9": 4},
        "languages": {"English": 4, "中文": 4},
    }
    tested = qualification_counts([Qualifications()] * 6, {"test 2": 6, "test 3": 2})
    assert qualification_sentences(tested) == ["6 of 6 annotators passed test 2"]


def six_annotators(cast: Cast) -> None:
    """Twelve unanimous trajectories, each labelled by two of six."""
    people.import_records(cast.project, 3)
    others = [people.make_user(f"extra{number}") for number in range(3)]
    for user in others:
        people.make_member(cast.project, user, "annotator")
    for pair in ((cast.ann, cast.ben), (cast.cleo, others[0]), (others[1], others[2])):
        for user in pair:
            people.label_next(user, cast.project, [1, 1], outcome=1)


def test_release_counts_qualifications_and_stays_as_it_was_without(cast: Cast, tmp_path: Path) -> None:
    six_annotators(cast)
    before = json.loads(freeze(cast.project).manifest)
    members = Membership.objects.filter(project=cast.project, is_annotator=True).select_related("user")
    for member in members.exclude(user=cast.ben):
        noted(cast, member.user, degree="bachelor", field="*computer* science", languages="Klingon")
    noted(cast, cast.ben, degree="doctorate", field="theology", pay_rate=Decimal("98765.43"))
    made = freeze(cast.project, "1.1")

    manifest = json.loads(made.manifest)
    assert "qualifications" not in before
    assert manifest["qualifications"]["degree_in"] == {"*computer* science": 5}
    same = {"version", "number", "previous", "created_at", "manifest_sha256", "qualifications"}
    assert {k: v for k, v in manifest.items() if k not in same} == {
        k: v for k, v in before.items() if k not in same
    }
    assert release.verify(actor=OPERATOR, release=made).ok
    assert "theology" not in made.manifest and "98765" not in made.manifest
    export(made, tmp_path, format="parquet")
    assert "5 of 6 hold a degree in \\*computer\\* science" in (tmp_path / "README.md").read_text()


def test_release_of_few_annotators_counts_nothing(resolved: Cast) -> None:
    for user in (resolved.ann, resolved.ben, resolved.cleo):
        noted(resolved, user, degree="master", field="computer science")

    assert "qualifications" not in json.loads(freeze(resolved.project).manifest)
