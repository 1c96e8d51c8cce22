"""Freezing, verifying, withdrawing and exporting a release."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import connection, models, transaction

from annotation.core.canonical import sha256_hex
from annotation.core.errors import Conflict, Denied, Invalid
from annotation.core.publishing import PUBLISHED_KEYS
from annotation.models import (
    AuditEvent,
    Consensus,
    Project,
    Release,
    ReleaseLabel,
    ReleaseRecord,
    Trajectory,
    frozen,
)
from annotation.policies import OPERATOR
from annotation.services import adjudicate, projects, release
from tests import people
from tests.people import Cast


def freeze(project: Project, version: str = "1.0", **more: Any) -> Release:
    return release.freeze(actor=OPERATOR, project=project, version=version, **more)


def lines(folder: Path, subset: str = "tiny") -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / f"{subset}.jsonl").read_bytes().splitlines()]


def export(made: Release, folder: Path) -> dict[str, Any]:
    return release.export_release(actor=OPERATOR, release=made, format="agentprocessbench", output=folder)


@pytest.fixture
def resolved(cast: Cast) -> Cast:
    """Three trajectories: two unanimous, one adjudicated; a fourth is still being labelled."""
    people.import_records(cast.project, [people.make_record(query, steps=3) for query in range(4)])
    for _ in range(2):
        people.label_next(cast.ann, cast.project, [1, 0, -1], outcome=-1, note="Ann's secret note.")
        people.label_next(cast.ben, cast.project, [1, 0, -1], outcome=-1)
    people.make_disputed(cast)
    people.make_adjudicated(cast, Trajectory.objects.get(state="disputed"), value=0)
    return cast


# ── Freezing ────────────────────────────────────────────────────────────────
def test_a_release_holds_what_is_resolved_and_nothing_else(resolved: Cast) -> None:
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


def test_a_release_says_nothing_of_who_labelled_and_what_they_noted(resolved: Cast, tmp_path: Path) -> None:
    made = freeze(resolved.project)
    export(made, tmp_path)

    written = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    for word in (b"secret note", b'"ann"', b"Ann", b"judith"):
        assert word not in written


def test_freezing_the_same_again_gives_the_same_digest_and_the_next_number(resolved: Cast) -> None:
    first, second = freeze(resolved.project, "1.0"), freeze(resolved.project, "1.1")

    assert (first.number, second.number) == (1, 2)
    assert first.digest == second.digest


def test_a_version_is_taken_for_ever(resolved: Cast) -> None:
    freeze(resolved.project)

    with pytest.raises(Conflict) as refusal:
        freeze(resolved.project)

    assert refusal.value.code == "version_taken"
    assert (Release.objects.count(), ReleaseRecord.objects.count()) == (1, 3)


@pytest.mark.parametrize("version", ["", " ", "../1", "a b", "1/2", ".1", "x" * 41, "\x00", "1\n", "ä"])
def test_what_cannot_be_a_version_is_refused_in_words(resolved: Cast, version: str) -> None:
    if version == "1\n":
        assert freeze(resolved.project, version).version == "1"
        return
    with pytest.raises(Invalid) as refusal:
        freeze(resolved.project, version)

    assert set(refusal.value.fields) == {"version"}


def test_nothing_resolved_is_nothing_to_freeze(cast: Cast) -> None:
    people.import_records(cast.project, 1)

    with pytest.raises(Invalid) as refusal:
        freeze(cast.project)

    assert refusal.value.code == "nothing_resolved"
    assert not Release.objects.exists()


@pytest.mark.parametrize("who", ["ann", "judith", "oscar"])
def test_only_admins_freeze_and_withdraw(resolved: Cast, who: str) -> None:
    made = freeze(resolved.project)
    user = resolved.everybody[who]

    with pytest.raises(Denied):
        release.freeze(actor=user, project=resolved.project, version="2.0")
    with pytest.raises(Denied):
        release.withdraw(actor=user, release=made, reason="No.")


def test_later_changes_do_not_reach_a_frozen_copy(resolved: Cast, tmp_path: Path) -> None:
    made = freeze(resolved.project)
    export(made, tmp_path / "before")
    case = resolved.project.adjudications.get()

    adjudicate.reopen_case(actor=resolved.judith, adjudication=case)
    for decision in case.decisions.all():
        index = decision.step.message_index if decision.step else None
        adjudicate.decide(
            actor=resolved.judith, adjudication=case, message_index=index, value=-1, version=decision.version
        )
    adjudicate.close_case(actor=resolved.judith, adjudication=case)
    projects.write_guidelines(actor=resolved.admin, project=resolved.project, text="Other.")
    people.import_records(resolved.project, [people.make_record(9)], subset="more")
    Consensus.objects.filter(kind="unanimous").update(value=0)

    made.refresh_from_db()
    assert release.verify(actor=OPERATOR, release=made).ok
    export(made, tmp_path / "after")
    for name in ("tiny.jsonl", "manifest.json"):
        assert (tmp_path / "before" / name).read_bytes() == (tmp_path / "after" / name).read_bytes()
    assert freeze(resolved.project, "2.0").digest != made.digest


def test_a_release_is_withdrawn_once_with_a_reason_and_stays(resolved: Cast) -> None:
    made = freeze(resolved.project)
    with pytest.raises(Invalid):
        release.withdraw(actor=resolved.admin, release=made, reason="  ")

    release.withdraw(actor=resolved.admin, release=made, reason="A leak.\x00")
    with pytest.raises(Conflict) as refusal:
        release.withdraw(actor=resolved.admin, release=made, reason="Again.")

    assert refusal.value.code == "withdrawn"
    assert release.verify(actor=OPERATOR, release=made).ok


# ── Verifying ───────────────────────────────────────────────────────────────
def test_an_untouched_release_is_verified(resolved: Cast) -> None:
    made = freeze(resolved.project, note="With\x00 a \ud800 note.")

    found = release.verify(actor=OPERATOR, release=made)

    assert found.ok, found.problems
    assert (found.records, found.labels, found.digest) == (3, 9, made.digest)


def flipped(value: Any, place: int = 0) -> Any:
    """`value` with one byte (of a number or time: one unit) changed."""
    if isinstance(value, bytes | memoryview):
        raw = bytearray(bytes(value))
        raw[place] ^= 0xFF
        return bytes(raw)
    if isinstance(value, str):
        if not value:
            return "x"
        return value[:place] + ("0" if value[place] != "0" else "1") + value[place + 1 :]
    if isinstance(value, int):
        return value + 1 if value < 1 else value - 1
    return value + timedelta(microseconds=1)


def tampered(row: models.Model, **values: Any) -> None:
    frozen.lift(connection)
    assert type(row)._default_manager.filter(pk=row.pk).update(**values) == 1
    frozen.install(connection)
    assert frozen.missing(connection) == []


def says_no(made: Release) -> bool:
    fresh = Release.objects.get(pk=made.pk)
    found = release.verify(actor=OPERATOR, release=fresh)
    return not found.ok and bool(found.problems)


@pytest.mark.parametrize(
    "column",
    ["number", "version", "note", "digest", "record_count", "label_count", "manifest", "created_at"],
)
def test_one_byte_changed_in_a_releases_own_row_is_found(resolved: Cast, column: str) -> None:
    made = freeze(resolved.project, note="First.")
    value = getattr(made, column)
    places = [0]
    if isinstance(value, str) and column != "note":
        places = [0, len(value) // 3, len(value) // 2, len(value) - 1]

    for place in places:
        tampered(made, **{column: flipped(value, place)})
        assert says_no(made), (column, place)
        tampered(made, **{column: value})
    assert not says_no(made)


@pytest.mark.parametrize("column", ["ordinal", "subset", "record_id", "sha256", "body"])
def test_one_byte_changed_in_a_record_is_found(resolved: Cast, column: str) -> None:
    made = freeze(resolved.project)
    for row in made.records.all():
        value = getattr(row, column)
        places = [0, 1, 2, len(value) // 2, len(value) - 1] if column == "body" else [0]
        for place in places:
            changed = row.ordinal + 10 if column == "ordinal" else flipped(value, place)
            tampered(row, **{column: changed})
            assert says_no(made), (column, place)
            tampered(row, **{column: value})
    assert not says_no(made)


@pytest.mark.parametrize("column", ["message_index", "value", "kind"])
def test_one_byte_changed_in_a_label_is_found(resolved: Cast, column: str) -> None:
    made = freeze(resolved.project)
    for row in made.labels.all():
        value = getattr(row, column)
        changed = 1 if value is None else flipped(value)
        tampered(row, **{column: changed})
        assert says_no(made), column
        tampered(row, **{column: value})
    assert not says_no(made)


def test_a_release_moved_to_another_project_is_found(resolved: Cast) -> None:
    made = freeze(resolved.project)

    tampered(made, project=people.make_project("other"))

    assert says_no(made)


def test_rows_that_are_missing_moved_or_too_many_are_found(resolved: Cast) -> None:
    made, other = freeze(resolved.project), freeze(resolved.project, "2.0")
    first, second, third = made.records.all()
    label = first.labels.filter(message_index=4).get()

    def without(deed: Callable[[], Any]) -> bool:
        try:
            with transaction.atomic():
                frozen.lift(connection)
                deed()
                outcome = says_no(made)
                raise LookupError
        except LookupError:
            return outcome

    assert without(lambda: ReleaseLabel.objects.filter(pk=label.pk).delete())
    assert without(lambda: ReleaseLabel.objects.filter(pk=label.pk).update(release=other))
    assert without(lambda: ReleaseLabel.objects.filter(pk=label.pk).update(record=second, message_index=98))
    assert without(lambda: ReleaseLabel.objects.filter(record=first).delete())
    assert without(lambda: ReleaseLabel.objects.filter(record=third).delete())
    assert without(
        lambda: ReleaseLabel.objects.create(release=made, record=third, message_index=98, value=1, kind="x")
    )
    assert without(
        lambda: (
            ReleaseLabel.objects.filter(record=third).delete(),
            ReleaseRecord.objects.filter(pk=third.pk).delete(),
        )
    )
    assert not says_no(made)


def test_a_record_that_was_replaced_with_its_checksum_is_found(resolved: Cast) -> None:
    made = freeze(resolved.project)
    for body in (b"[]", b"{}", b'{"step_labels": []}', b"null", b"not json"):
        tampered(made.records.all()[0], body=zlib.compress(body), sha256=sha256_hex(body))
        assert says_no(made), body


# ── Exporting ───────────────────────────────────────────────────────────────
def test_an_export_has_exactly_the_published_keys_in_their_order(resolved: Cast, tmp_path: Path) -> None:
    manifest = export(freeze(resolved.project), tmp_path)

    for line, original in zip(
        lines(tmp_path), [people.make_record(query, steps=3) for query in range(3)], strict=True
    ):
        assert tuple(line) == PUBLISHED_KEYS
        labels, outcome = line.pop("step_labels"), line.pop("final_label")
        assert line == original
        assert list(labels) == ["2", "4", "6"]
        assert set(labels.values()) | {outcome} <= {-1, 0, 1}
    assert [path.name for path in sorted(tmp_path.iterdir())] == ["manifest.json", "tiny.jsonl"]
    assert json.loads((tmp_path / "manifest.json").read_bytes()) == manifest
    assert release.verify_export(path=tmp_path).ok


def test_an_export_can_be_imported_and_comes_back_unchanged(resolved: Cast, tmp_path: Path) -> None:
    export(freeze(resolved.project), tmp_path)
    other = people.make_project("other")

    rows = people.import_records(other, lines(tmp_path))

    assert [row.record_id for row in rows] == ["tiny:0:0", "tiny:1:0", "tiny:2:0"]
    digests = dict(
        Trajectory.objects.filter(project=resolved.project).values_list("record_id", "content_digest")
    )
    assert all(digests[row.record_id] == row.content_digest for row in rows)


HOSTILE = {
    "nul": "a\x00b",
    "surrogate": "\ud83d alone",
    "pair": "😀",
    "markup": "<script>alert('x')</script> & </textarea>",
    "lines": "a\u2028b\r\nc\u0085d",
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_every_text_is_exported_exactly(cast: Cast, tmp_path: Path, text: str) -> None:
    record = people.make_record(steps=2)
    record["question"] = record["messages"][3]["content"] = text
    record["messages"][2]["tool_calls"][0]["function"]["arguments"] = "{not json " + text
    record["ground_truth"] = {"target": [text], "number": 1e999, "nan": float("inf")}
    people.import_records(cast.project, [record])
    people.make_unanimous(cast)

    made = freeze(cast.project)
    export(made, tmp_path)

    (line,) = lines(tmp_path)
    for key in ("question", "messages", "ground_truth"):
        assert line[key] == record[key]
    assert release.verify(actor=OPERATOR, release=made).ok
    assert (tmp_path / "tiny.jsonl").read_bytes().count(b"\n") == 1


def test_chats_without_indexes_get_indexes_that_meet_no_given_ones(cast: Cast, tmp_path: Path) -> None:
    def chat(question: str, answer: str) -> dict[str, Any]:
        return {
            "id": f"{question}-{answer}",
            "messages": [{"role": "user", "content": question}, {"role": "assistant", "content": answer}],
        }

    people.import_records(cast.project, [people.make_record(7, data_source="mixed", steps=1)], subset="mixed")
    people.import_records(
        cast.project,
        [chat("Q", "one"), chat("R", "two"), chat("Q", "three")],
        subset="mixed",
        format="openai_chat",
    )
    people.make_unanimous(cast, 4)
    made = freeze(cast.project)
    export(made, tmp_path)

    written = lines(tmp_path, "mixed")
    places = [(line["data_source"], line["query_index"], line["sample_index"]) for line in written]
    assert places == [("mixed", 7, 0), ("mixed", 8, 0), ("mixed", 9, 0), ("mixed", 8, 1)]
    assert all(tuple(line) == PUBLISHED_KEYS for line in written)
    assert len({line["total_index"] for line in written}) == 4
    again = people.import_records(people.make_project("again"), written)
    assert len(again) == 4


def test_an_export_over_an_older_one_replaces_it(resolved: Cast, tmp_path: Path) -> None:
    export(freeze(resolved.project, "1.0"), tmp_path)

    export(freeze(resolved.project, "2.0"), tmp_path)

    assert release.verify_export(path=tmp_path).ok
    assert json.loads((tmp_path / "manifest.json").read_bytes())["version"] == "2.0"


def test_a_damaged_release_is_not_exported(resolved: Cast, tmp_path: Path) -> None:
    made = freeze(resolved.project)
    row = made.records.all()[1]
    tampered(row, body=flipped(row.body, 5))

    with pytest.raises(Conflict) as refusal:
        export(Release.objects.get(pk=made.pk), tmp_path / "out")

    assert refusal.value.code == "damaged"
    assert list((tmp_path / "out").iterdir()) == []


@pytest.mark.parametrize("name", ["tiny.jsonl", "manifest.json"])
def test_one_byte_changed_in_an_exported_file_is_found(resolved: Cast, tmp_path: Path, name: str) -> None:
    export(freeze(resolved.project), tmp_path)
    path = tmp_path / name
    good = path.read_bytes()
    for place in sorted({0, 1, len(good) // 3, len(good) // 2, len(good) - 2, len(good) - 1}):
        for changed in (good[place] ^ 0xFF, good[place] ^ 1, 0x20 if good[place] != 0x20 else 0x0A):
            path.write_bytes(good[:place] + bytes([changed]) + good[place + 1 :])
            assert not release.verify_export(path=tmp_path).ok, (place, changed)
    path.write_bytes(good)
    assert release.verify_export(path=tmp_path).ok


def test_files_that_are_missing_or_too_many_are_found(resolved: Cast, tmp_path: Path) -> None:
    export(freeze(resolved.project), tmp_path)
    (tmp_path / "stray.jsonl").write_bytes(b"{}\n")
    assert release.verify_export(path=tmp_path).problems == (
        "stray.jsonl: this file is not part of the release.",
    )
    (tmp_path / "stray.jsonl").unlink()

    (tmp_path / "tiny.jsonl").unlink()
    assert release.verify_export(path=tmp_path).problems == ("tiny.jsonl: the file is missing.",)
    (tmp_path / "manifest.json").unlink()
    with pytest.raises(Invalid) as refusal:
        release.verify_export(path=tmp_path)
    assert refusal.value.code == "no_manifest"


def test_only_those_who_see_releases_export_them(resolved: Cast, tmp_path: Path) -> None:
    made = freeze(resolved.project)

    for who in ("ann", "oscar"):
        with pytest.raises(Denied):
            release.export_lines(actor=resolved.everybody[who], release=made)
    assert len(list(release.export_lines(actor=resolved.judith, release=made, subset="tiny"))) == 3
    assert list(release.export_lines(actor=resolved.judith, release=made, subset="other")) == []
