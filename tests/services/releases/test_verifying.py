"""Verifying a release: every byte that could differ, every row that could be missing."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection, transaction

from annotation.core.jsonio.canonical import sha256_hex
from annotation.models import (
    Release,
    ReleaseLabel,
    ReleaseRecord,
    frozen,
)
from annotation.policies import OPERATOR
from annotation.services import release
from tests import people
from tests.people import Cast
from tests.services.publishing import flipped, freeze, tampered


# ── Verifying ─────────────────────────────
def test_verify_is_content_with_an_untouched_release(resolved: Cast) -> None:
    made = freeze(resolved.project, note="With\x00 a \ud800 note.")

    found = release.verify(actor=OPERATOR, release=made)

    assert found.ok, found.problems
    assert (found.records, found.labels, found.digest) == (3, 9, made.digest)


def says_no(made: Release) -> bool:
    fresh = Release.objects.get(pk=made.pk)
    found = release.verify(actor=OPERATOR, release=fresh)
    return not found.ok and bool(found.problems)


@pytest.mark.parametrize(
    "column",
    ["number", "version", "note", "digest", "record_count", "label_count", "manifest", "created_at"],
)
def test_verify_finds_one_byte_changed_in_a_releases_own_row(resolved: Cast, column: str) -> None:
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
def test_verify_finds_one_byte_changed_in_a_record(resolved: Cast, column: str) -> None:
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
def test_verify_finds_one_byte_changed_in_a_label(resolved: Cast, column: str) -> None:
    made = freeze(resolved.project)
    for row in made.labels.all():
        value = getattr(row, column)
        changed = 1 if value is None else flipped(value)
        tampered(row, **{column: changed})
        assert says_no(made), column
        tampered(row, **{column: value})
    assert not says_no(made)


def test_verify_finds_a_release_moved_to_another_project(resolved: Cast) -> None:
    made = freeze(resolved.project)

    tampered(made, project=people.make_project("other"))

    assert says_no(made)


def test_verify_finds_rows_that_are_missing_moved_or_too_many(resolved: Cast) -> None:
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


def test_verify_finds_a_record_that_was_replaced_with_its_checksum(resolved: Cast) -> None:
    made = freeze(resolved.project)
    for body in (b"[]", b"{}", b'{"step_labels": []}', b"null", b"not json"):
        tampered(made.records.all()[0], body=zlib.compress(body), sha256=sha256_hex(body))
        assert says_no(made), body
