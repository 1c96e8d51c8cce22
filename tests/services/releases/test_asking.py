"""Prompts of a release: made, made again, and refused; what they tell, and who is noted as knowing it."""

from __future__ import annotations

import hashlib
import json
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from annotation.core.asking.making import Mark
from annotation.core.asking.settings import PromptSettings
from annotation.core.errors import Conflict, Denied, Invalid, NotFound
from annotation.core.vocabulary import ExposureKind, PromptSetState
from annotation.models import (
    Assignment,
    AuditEvent,
    Exposure,
    Project,
    PromptSet,
    Release,
    ReleaseRecord,
    Trajectory,
)
from annotation.services import asking, release
from annotation.services.asking import making
from tests import people
from tests.fixtures.decisions import make_decisions_cast
from tests.fixtures.questions import KEY
from tests.people import Cast
from tests.services.publishing import export, freeze, tampered

pytestmark = pytest.mark.django_db
OPTIONS = PromptSettings.of(shots=2, split=0.5, seed=3)


def made(cast: Cast, frozen: Release, name: str = "p", options: PromptSettings = OPTIONS) -> PromptSet:
    row = asking.make_prompts(actor=cast.admin, release=frozen, name=name, options=options, enqueue=False)
    return asking.run_prompts(set_id=row.pk)


def rows_of(cast: Cast, row: PromptSet) -> list[dict[str, Any]]:
    return [json.loads(line) for line in asking.prompt_lines(actor=cast.admin, row=row)]


@pytest.mark.postgres
def test_prompts_are_made_and_come_out_with_the_same_bytes(asked_cast: Cast, asked_release: Release) -> None:
    seen: list[tuple[int, int]] = []
    row = asking.make_prompts(
        actor=asked_cast.admin, release=asked_release, name="p", options=OPTIONS, enqueue=False
    )
    row = asking.run_prompts(set_id=row.pk, progress=lambda done, total: seen.append((done, total)))

    assert (row.state, row.progress_done, row.error) == (PromptSetState.MADE, 24, "")
    assert seen == [(12, 24), (24, 24)]
    counts = row.parsed_counts or {}
    assert (counts["test"], counts["train"], counts["cut"], counts["not_asked"]) == (6, 6, 0, {})
    lines = list(asking.prompt_lines(actor=asked_cast.admin, row=row))
    assert hashlib.sha256(b"".join(lines)).hexdigest() == row.digest
    other = made(asked_cast, asked_release, "other")
    assert (other.digest, other.drawn, bytes(other.marked)) == (row.digest, row.drawn, bytes(row.marked))
    elsewhere = made(asked_cast, asked_release, "more", PromptSettings.of(shots=2, split=0.5, seed=4))
    assert elsewhere.digest != row.digest

    found = [json.loads(line) for line in lines]
    tested = {one["record_id"] for one in found if one["split"] == "test"}
    drawn = {one["record_id"] for group in json.loads(row.drawn) for one in group["examples"]}
    assert drawn.isdisjoint(tested)
    assert len(drawn) == 5  # of the eight choices one to spare
    assert {(one["kind"], one["language"], one["prompt"][-1]) for one in found} == {
        ("choice", "en", "("),
        ("answer", "zh", "["),
    }
    answers = [one for one in found if one["kind"] == "answer"]
    assert all(one["prompt"].count(KEY) == one["shots"] for one in answers)


def test_split_is_that_of_exports(asked_cast: Cast, asked_release: Release, tmp_path: Any) -> None:
    row = made(asked_cast, asked_release)
    export(asked_release, tmp_path, format="aptbench", split="0.5", seed="3")
    for split in ("train", "test"):
        exported = {
            json.loads(line)["uuid"]
            for path in tmp_path.glob(f"data/*/{split}.jsonl")
            for line in path.read_text().splitlines()
        }
        assert exported == {one["uuid"] for one in rows_of(asked_cast, row) if one["split"] == split}


def test_asked_for_twice_is_one_and_another_under_the_name_is_refused(
    asked_cast: Cast, asked_release: Release
) -> None:
    row = made(asked_cast, asked_release)
    assert made(asked_cast, asked_release).pk == row.pk
    assert AuditEvent.objects.filter(verb="prompts.make").count() == 1
    with pytest.raises(Conflict) as refused:
        made(asked_cast, asked_release, options=PromptSettings.of(shots=1))
    assert refused.value.code == "name_taken"


@pytest.mark.parametrize(
    ("name", "templates", "field"),
    [
        ("no name", {}, "name"),
        ("", {}, "name"),
        ("x" * 65, {}, "name"),
        ("p", {"nowhere": "{{examples}} {{history}} {{options}}"}, "templates.nowhere"),
    ],
)
def test_what_cannot_be_is_refused_by_field(
    asked_cast: Cast, asked_release: Release, name: str, templates: dict[str, str], field: str
) -> None:
    with pytest.raises(Invalid) as refused:
        made(asked_cast, asked_release, name, PromptSettings.of(templates=templates))
    assert set(refused.value.fields) == {field}
    assert not PromptSet.objects.exists()


def test_only_admins_make_them_of_a_release_of_decisions_that_stands(
    asked_cast: Cast, asked_release: Release
) -> None:
    with pytest.raises(Denied):
        asking.make_prompts(actor=asked_cast.judith, release=asked_release, name="p", options=OPTIONS)
    with pytest.raises(Denied):
        asking.prompt_lines(actor=asked_cast.ann, row=made(asked_cast, asked_release))
    with pytest.raises(Conflict, match="no step is an alternative"):
        made(asked_cast, Release(project=Project.objects.get(slug="bench")))
    release.withdraw(actor=asked_cast.admin, release=asked_release, reason="Faulty.")
    with pytest.raises(Conflict, match="withdrawn"):
        made(asked_cast, Release.objects.get(pk=asked_release.pk), "other")


def test_release_without_questions_fails_with_a_sentence_and_can_be_asked_again() -> None:
    cast = make_decisions_cast(1)
    for user in (cast.ann, cast.ben):
        people.label_next(user, cast.project, [1, -1])
    frozen = freeze(cast.project)
    row = made(cast, frozen)
    assert (row.state, row.error) == (
        PromptSetState.FAILED,
        "This release has no question that can be asked.",
    )
    with pytest.raises(Conflict) as refused:
        asking.prompt_lines(actor=cast.admin, row=row)
    assert refused.value.code == "not_made"
    again = made(cast, frozen, options=PromptSettings.of(shots=0))
    assert (again.pk, again.parsed_settings.shots) == (row.pk, 0)


def test_damaged_record_fails_it(asked_cast: Cast, asked_release: Release) -> None:
    tampered(ReleaseRecord.objects.filter(release=asked_release).latest("ordinal"), body=b"no")
    row = made(asked_cast, asked_release)
    assert row.state == PromptSetState.FAILED
    assert "is damaged" in row.error


def test_file_that_does_not_come_out_as_it_was_made_is_never_whole(
    asked_cast: Cast, asked_release: Release
) -> None:
    row = made(asked_cast, asked_release)
    PromptSet.objects.filter(pk=row.pk).update(digest="0" * 64)
    row.refresh_from_db()
    sent: list[bytes] = []
    with pytest.raises(Conflict, match="make them anew"):
        for line in asking.prompt_lines(actor=asked_cast.admin, row=row):
            sent.append(line)
    assert len(sent) == 11


def test_examples_are_noted_as_known_and_nothing_else(asked_cast: Cast, asked_release: Release) -> None:
    row = made(asked_cast, asked_release)
    known = Exposure.objects.filter(user=asked_cast.judith, kind=ExposureKind.CONSENSUS)

    found = asking.shown_prompt(actor=asked_cast.judith, row=row, number=1, wanted=Mark.TEST)
    assert found is not None
    shown = {one.record_id for one in found.examples}
    assert set(known.values_list("trajectory__record_id", flat=True)) == shown
    assert len(shown) == 2
    list(asking.prompt_lines(actor=asked_cast.judith, row=row))
    drawn = {one["record_id"] for group in json.loads(row.drawn) for one in group["examples"]}
    assert set(known.values_list("trajectory__record_id", flat=True)) == drawn
    with pytest.raises(NotFound):
        asking.shown_prompt(actor=asked_cast.judith, row=row, number=13)


def test_whoever_labels_an_example_is_not_shown_it(asked_cast: Cast, asked_release: Release) -> None:
    row = made(asked_cast, asked_release)
    found = asking.shown_prompt(actor=asked_cast.judith, row=row, number=1, wanted=Mark.TEST)
    assert found is not None
    example = Trajectory.objects.get(record_id=found.examples[0].record_id)
    now = timezone.now()
    Assignment.stored.create(
        project=asked_cast.project,
        trajectory=example,
        annotator=asked_cast.judith,
        slot=0,
        claimed_at=now,
        last_used_at=now,
    )
    with pytest.raises(Conflict) as refused:
        asking.shown_prompt(actor=asked_cast.judith, row=row, number=1, wanted=Mark.TEST)
    assert refused.value.code == "labelling"


def test_dead_worker_leaves_it_to_the_next(
    asked_cast: Cast, asked_release: Release, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[Any] = []
    monkeypatch.setattr("annotation.dispatch.send", lambda *what: sent.append(what))
    row = asking.make_prompts(actor=asked_cast.admin, release=asked_release, name="p", options=OPTIONS)
    assert sent == [("run_prompts", row.pk)]
    PromptSet.objects.filter(pk=row.pk).update(
        state="running", attempt=1, lease_until=timezone.now() - timedelta(seconds=1)
    )
    asking.reap()
    assert sent[1:] == [("run_prompts", row.pk)]
    row = asking.run_prompts(set_id=row.pk)
    assert (row.state, row.attempt) == (PromptSetState.MADE, 2)

    PromptSet.objects.filter(pk=row.pk).update(
        state="running", attempt=making.MAX_ATTEMPTS, lease_until=timezone.now() - timedelta(seconds=1)
    )
    asking.reap()
    row.refresh_from_db()
    assert (row.state, "stopped unexpectedly 3 times" in row.error) == (PromptSetState.FAILED, True)


def test_worker_that_lost_its_lease_writes_nothing(
    asked_cast: Cast, asked_release: Release, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(making, "BEAT_SECONDS", 0.0)
    row = asking.make_prompts(
        actor=asked_cast.admin, release=asked_release, name="p", options=OPTIONS, enqueue=False
    )

    def taken_over(_done: int, _total: int) -> None:
        PromptSet.objects.filter(pk=row.pk).update(attempt=7)

    row = asking.run_prompts(set_id=row.pk, progress=taken_over)
    assert (row.state, row.digest) == (PromptSetState.RUNNING, "")
