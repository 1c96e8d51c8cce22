"""Freezing, withdrawing and exporting a release."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from annotation.core.errors import Conflict, Denied, Invalid
from annotation.models import (
    AuditEvent,
    Consensus,
    Release,
    ReleaseLabel,
    ReleaseRecord,
)
from annotation.policies import OPERATOR
from annotation.services import adjudicate, projects, release
from tests import people
from tests.people import Cast
from tests.services.publishing import export, freeze


# ── Freezing ──────────────────────────────
def test_release_holds_what_is_resolved_and_nothing_else(resolved: Cast) -> None:
    made = freeze(resolved.project, note="First.")

    assert (made.number, made.record_count, made.label_count) == (1, 3, 9)
    kinds = set(ReleaseLabel.objects.values_list("kind", flat=True))
    assert kinds == {"unanimous", "adjudicated"}
    manifest = json.loads(made.manifest)
    assert manifest["label_distribution"] == {"-1": 2, "0": 5, "+1": 2}
    assert manifest["outcome_distribution"] == {"-1": 2, "0": 1, "+1": 0}
    assert manifest["label_kinds"] == {"adjudicated": 3, "unanimous": 6}
    assert (manifest["guideline_version"], manifest["annotators_per_trajectory"]) == (1, 2)
    assert manifest["digest"] == made.digest
    assert AuditEvent.objects.get(verb="release.freeze").detail["digest"] == made.digest


def test_release_says_nothing_of_who_labelled_and_what_they_noted(resolved: Cast, tmp_path: Path) -> None:
    made = freeze(resolved.project)
    export(made, tmp_path)

    written = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert b'"step_labels"' in written
    for word in (b"secret note", b'"ann"', b"Ann", b"judith"):
        assert word not in written


def test_freeze_of_the_same_again_gives_the_same_digest_and_the_next_number(resolved: Cast) -> None:
    first, second = freeze(resolved.project, "1.0"), freeze(resolved.project, "1.1")

    assert (first.number, second.number) == (1, 2)
    assert first.digest == second.digest


def test_version_is_taken_for_ever(resolved: Cast) -> None:
    freeze(resolved.project)

    with pytest.raises(Conflict) as refusal:
        freeze(resolved.project)

    assert refusal.value.code == "version_taken"
    assert (Release.objects.count(), ReleaseRecord.objects.count()) == (1, 3)


@pytest.mark.parametrize("version", ["", " ", "../1", "a b", "1/2", ".1", "x" * 41, "\x00", "1\n", "ä"])
def test_freeze_refuses_what_cannot_be_a_version_in_words(resolved: Cast, version: str) -> None:
    if version == "1\n":
        assert freeze(resolved.project, version).version == "1"
        return
    with pytest.raises(Invalid) as refusal:
        freeze(resolved.project, version)

    assert set(refusal.value.fields) == {"version"}


def test_freeze_needs_something_resolved(cast: Cast) -> None:
    people.import_records(cast.project, 1)

    with pytest.raises(Invalid) as refusal:
        freeze(cast.project)

    assert refusal.value.code == "nothing_resolved"
    assert not Release.objects.exists()


@pytest.mark.parametrize("who", ["ann", "judith", "oscar"])
def test_freeze_and_withdraw_are_for_admins_only(resolved: Cast, who: str) -> None:
    made = freeze(resolved.project)
    user = resolved.everybody[who]

    with pytest.raises(Denied):
        release.freeze(actor=user, project=resolved.project, version="2.0")
    with pytest.raises(Denied):
        release.withdraw(actor=user, release=made, reason="No.")


def test_freeze_keeps_later_changes_from_the_copy(resolved: Cast, tmp_path: Path) -> None:
    made = freeze(resolved.project)
    export(made, tmp_path / "before")
    case = resolved.project.adjudications.get()

    release.withdraw(actor=resolved.admin, release=made, reason="Faulty.")  # or the case stays closed
    adjudicate.reopen_case(actor=resolved.judith, adjudication=case)
    for decision in case.decisions.all():
        index = decision.step.message_index if decision.step else None
        adjudicate.decide(
            actor=resolved.judith, adjudication=case, message_index=index, value=-1, version=decision.version
        )
    adjudicate.close_case(actor=resolved.judith, adjudication=case)
    projects.write_guidelines(actor=resolved.admin, project=resolved.project, text="Other.")
    people.import_records(resolved.project, [people.make_record(9)], subset="more")
    Consensus.objects.filter(kind="unanimous").update(value=0, root=None)

    made.refresh_from_db()
    assert release.verify(actor=OPERATOR, release=made).ok
    export(made, tmp_path / "after")
    for name in ("tiny.jsonl", "manifest.json"):
        assert (tmp_path / "before" / name).read_bytes() == (tmp_path / "after" / name).read_bytes()
    assert freeze(resolved.project, "2.0").digest != made.digest


def test_release_is_withdrawn_once_with_a_reason_and_stays(resolved: Cast) -> None:
    made = freeze(resolved.project)
    with pytest.raises(Invalid):
        release.withdraw(actor=resolved.admin, release=made, reason="  ")

    release.withdraw(actor=resolved.admin, release=made, reason="A leak.\x00")
    with pytest.raises(Conflict) as refusal:
        release.withdraw(actor=resolved.admin, release=made, reason="Again.")

    assert refusal.value.code == "withdrawn"
    assert release.verify(actor=OPERATOR, release=made).ok
