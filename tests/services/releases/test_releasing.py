"""Freezing, also in the background, and withdrawing a release; what it says of its makers."""

from __future__ import annotations

import json
import threading
import zlib
from collections.abc import Callable
from datetime import timedelta
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from annotation.core.errors import Conflict, Invalid
from annotation.core.releases.record_format import FORMAT
from annotation.core.vocabulary import ExposureKind
from annotation.models import (
    Assignment,
    AuditEvent,
    Consensus,
    Freeze,
    Release,
    ReleaseLabel,
    ReleaseOutline,
    ReleaseRecord,
    Trajectory,
)
from annotation.policies import OPERATOR
from annotation.services import adjudicate, exposures, projects, release
from tests import people
from tests.people import Cast
from tests.services.publishing import export, freeze, lines


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


def records(made: Release) -> list[dict[str, Any]]:
    rows = ReleaseRecord.objects.filter(release=made).order_by("ordinal")
    return [json.loads(zlib.decompress(bytes(row.body))) for row in rows]


def test_release_holds_blind_labels_under_pseudonyms_that_no_export_shows(
    resolved: Cast, tmp_path: Path
) -> None:
    peeked, late = Trajectory.objects.filter(state="unanimous").order_by("position")
    submitted = Assignment.objects.get(trajectory=peeked, annotator=resolved.ann).submitted_at
    assert submitted is not None
    for at, when in ((peeked, submitted.replace(year=2020)), (late, None)):
        exposures.note(user=resolved.ann, kind=ExposureKind.SUGGESTION, seen=[(at.pk, None)], now=when)
    made = freeze(resolved.project)

    first, second, disputed = ([one["annotator"] for one in row["blind_labels"]] for row in records(made))
    assert second == disputed == ["annotator-1", "annotator-2"]
    assert len(first) == 1
    for one in records(made)[1]["blind_labels"]:
        assert one["step_labels"] == {"2": 1, "4": 0, "6": -1} and one["final_label"] == -1
    assert [one["final_label"] for one in records(made)[2]["blind_labels"]] != [-1, -1]
    manifest = json.loads(made.manifest)
    assert manifest["format"] == FORMAT
    (ann,) = {"annotator-1", "annotator-2"} - set(first)
    told = manifest["annotators"]["people"]
    assert manifest["annotators"]["number"] == 2
    assert (told[ann]["trajectories"], told[ann]["blind_trajectories"], told[ann]["labels"]) == (3, 2, 9)
    assert told[first[0]]["blind_trajectories"] == 3
    assert manifest["exposure"]["blind_trajectories"] == 5
    export(made, tmp_path)
    assert not any("blind_labels" in line for line in lines(tmp_path))
    assert b"Ann" not in made.manifest.encode() and b'"ann"' not in made.manifest.encode()


@pytest.mark.postgres
def test_manifest_has_agreement_twice_and_names_what_was_left_out(resolved: Cast) -> None:
    people.import_records(resolved.project, [people.make_record(9, steps=2)], subset="more")
    for person, value in ((resolved.ann, 1), (resolved.ben, 1)):
        people.label_next(person, resolved.project, [value] * 3)
        people.label_next(person, resolved.project, [value] * 2)
    made = freeze(resolved.project, title="Tiny", licence="CC-BY-4.0", leave_out=["more"])

    manifest = json.loads(made.manifest)
    both = manifest["agreement"]
    assert (both["project"]["n"], both["release"]["n"]) == (14, 12)
    assert set(both["project"]["subsets"]) == {"tiny", "more"}
    assert both["release"]["subsets"]["tiny"]["overall"] == both["release"]["overall"]
    assert both["release"]["overall"]["kappa"]["interval_reason"] == "an interval needs at least 20 tasks"
    assert manifest["left_out"] == {"subsets": {"more": 1}, "not_resolved": {"labelling": 0, "disputed": 0}}
    assert (manifest["title"], manifest["licence"]) == ("Tiny", "CC-BY-4.0")
    assert manifest["origins"]["steps"] == {"adjudicated": 3, "unanimous": 9}
    assert manifest["subsets"]["tiny"]["origins"]["outcomes"] == {"adjudicated": 1, "unanimous": 3}
    assert manifest["label_audit"]["certificate"] is None and manifest["label_audit"]["reason"]
    assert manifest["guideline_versions"]["1"]["labels"] == 24
    assert manifest["exposure"]["experiment"] is None and manifest["exposure"]["experiment_reason"]


@pytest.mark.parametrize(
    ("field", "value"), [("title", "two\nlines"), ("licence", "x" * 2_001), ("leave_out", ["nowhere"])]
)
def test_freeze_refuses_what_cannot_be_said_of_a_release(resolved: Cast, field: str, value: Any) -> None:
    with pytest.raises(Invalid) as refusal:
        freeze(resolved.project, **{field: value})

    assert set(refusal.value.fields) == {field}
    assert not Release.objects.exists()


# the function of the same name stands before it in the package
freezing = import_module("annotation.services.release.freeze")


class Killed(BaseException):
    """Thrown in place of a kill: the process does nothing any more."""


@pytest.fixture
def meanwhile(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], Any]], None]:
    """Have something happen once, when all records are read."""

    def register(happens: Callable[[], Any]) -> None:
        original = freezing.described

        def described(*args: Any) -> Any:
            monkeypatch.setattr(freezing, "described", original)
            happens()
            return original(*args)

        monkeypatch.setattr(freezing, "described", described)

    return register


def ask(cast: Cast, version: str = "1.0", **more: Any) -> Freeze:
    return release.start_freeze(actor=cast.admin, project=cast.project, version=version, **more)


def killed() -> None:
    raise Killed


def beside(act: Callable[[], Any]) -> None:
    """Another person's request, on a connection of its own."""

    def run() -> None:
        try:
            act()
        finally:
            connection.close()

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
def test_freeze_of_a_killed_worker_is_taken_up_again_and_one_that_is_stopped_freezes_nothing(
    cast: Cast, meanwhile: Callable[[Callable[[], Any]], None], settings: Any, tmp_path: Path
) -> None:
    settings.DATA_DIR = tmp_path
    people.import_records(cast.project, 3)
    people.make_unanimous(cast, 2)
    job = ask(cast, title="Once")
    assert ask(cast, title="Once") == job
    for version, title in (("1.0", "Another"), ("2.0", "Once")):
        with pytest.raises(Conflict) as refusal:
            ask(cast, version, title=title)
        assert refusal.value.code == "freezing"

    meanwhile(killed)
    with pytest.raises(Killed):
        release.run_freeze(job_id=job.pk)
    assert release.run_freeze(job_id=job.pk).state == "running", "it is still leased"
    assert release.reap() == 0
    assert release.reap(now=timezone.now() + timedelta(minutes=2)) == 2, "queued, and sent"
    done = release.run_freeze(job_id=job.pk)
    assert ReleaseOutline.objects.exclude(details=None).count() == 1, "its page need not wait for it"
    assert (done.state, done.attempt, done.progress_done, done.progress_total) == ("frozen", 2, 2, 2)
    made = Release.objects.get()
    assert done.release == made and json.loads(made.manifest)["title"] == "Once"
    assert release.verify(actor=OPERATOR, release=made).ok
    assert release.run_freeze(job_id=job.pk).attempt == 2

    late = ask(cast, "2.0")
    meanwhile(lambda: beside(lambda: release.cancel_freeze(actor=cast.admin, job=late)))
    assert release.run_freeze(job_id=late.pk).state == "cancelled"
    assert Release.objects.count() == 1
    assert AuditEvent.objects.filter(verb="release.freeze").count() == 1
    with pytest.raises(Conflict):
        ask(cast, "1.0")


@pytest.mark.postgres
def test_freeze_that_cannot_be_says_why_and_is_given_up_after_three_dead_workers(
    cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    people.import_records(cast.project, 1)
    people.make_unanimous(cast)
    job = ask(cast)
    Freeze.objects.update(state="running", attempt=3, lease_until=timezone.now() - timedelta(seconds=1))
    assert release.reap() == 1
    job.refresh_from_db()
    assert job.state == "failed" and "3 times" in job.error

    job = ask(cast)
    monkeypatch.setattr(freezing, "signing_key", lambda: [][1])
    with pytest.raises(IndexError):
        release.run_freeze(job_id=job.pk)
    job.refresh_from_db()
    assert job.state == "failed" and "log" in job.error

    job = ask(cast)
    Freeze.objects.filter(pk=job.pk).update(leave_out=["nowhere"])
    assert release.run_freeze(job_id=job.pk).state == "failed"
    job.refresh_from_db()
    assert "nowhere" in job.error
