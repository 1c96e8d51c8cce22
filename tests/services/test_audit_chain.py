"""The chain of the audit log: whoever gets past the triggers is found out, and nobody waits for it."""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.core.checks import run_checks
from django.core.management import CommandError, call_command
from django.db import transaction
from django.utils import timezone

from annotation import jobs
from annotation.models import AuditEvent, AuditLink, Project, User, frozen
from annotation.policies import OPERATOR
from annotation.services import audit
from tests import people
from tests.databases import lifted
from tests.fixtures.shared_rows import shared_rows
from tests.people import Cast
from tests.services.together import together

# What every database gives back in another guise, or another order.
DETAIL = {"b": 1e22, "a": [1.0, 0.05, -0.0, None, "ü\u2028"], "c": {"z": 2**70, "y": True}}


def write(rows: int = 1, **detail: Any) -> list[AuditEvent]:
    return [audit.record(actor=OPERATOR, verb="test.done", **detail) for _ in range(rows)]


def problems() -> list[str]:
    return [one.msg for one in run_checks(tags=["database"], databases=["default"])]


@shared_rows
def chained(cast: Cast) -> list[AuditEvent]:
    """Five rows at the end of a chain that holds all of the log."""
    rows = write(5, **DETAIL)
    audit.chain()
    return rows


def test_chain_takes_in_every_row_once_and_fits(
    chained: list[AuditEvent], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "close_old_connections", lambda: None)
    assert audit.verify().misfit is None and problems() == []
    assert AuditLink.objects.count() == AuditEvent.objects.count() == audit.verify().position
    assert audit.chain() == 0
    write()
    assert audit.verify().waiting == 1
    jobs.reap()
    assert audit.verify().waiting == 0


def _changed(row: AuditEvent) -> None:
    AuditEvent.objects.filter(pk=row.pk).update(detail={"fields": []})


def _taken_away(row: AuditEvent) -> None:
    AuditLink.objects.filter(pk=row.pk)._raw_delete("default")
    AuditEvent.objects.filter(pk=row.pk)._raw_delete("default")


def _closed_up(row: AuditEvent) -> None:
    place = AuditLink.objects.get(pk=row.pk).position
    _taken_away(row)
    for link in AuditLink.objects.filter(position__gt=place).order_by("position"):
        AuditLink.objects.filter(pk=link.pk).update(position=link.position - 1)


def _given_anothers_actor(row: AuditEvent) -> None:
    AuditEvent.objects.filter(pk=row.pk).update(actor=User.objects.get(username="oscar"))


def _moved_in_time(row: AuditEvent) -> None:
    AuditEvent.objects.filter(pk=row.pk).update(created_at=row.created_at + timedelta(microseconds=1))


@pytest.mark.parametrize(
    ("deed", "named"),
    [
        (_changed, "row {row}, test.done"),
        (_given_anothers_actor, "row {row}, test.done"),
        (_moved_in_time, "row {row}, test.done"),
        (_taken_away, "row missing"),
        (_closed_up, "row {next}, test.done"),
    ],
)
def test_first_row_that_does_not_fit_is_named(
    chained: list[AuditEvent], deed: Callable[[AuditEvent], None], named: str
) -> None:
    row, after = chained[1], chained[2]
    place = AuditLink.objects.get(pk=row.pk).position
    with lifted():
        deed(row)

    sentence = f"place {place} ({named.format(row=row.pk, next=after.pk)}"
    assert any(sentence in said for said in problems())
    with pytest.raises(CommandError) as said:
        call_command("verify_audit_log")
    assert sentence in str(said.value)


def test_end_that_was_cut_off_or_computed_anew_misses_the_link_that_was_noted(
    chained: list[AuditEvent], caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.INFO)
    write()
    audit.chain()
    (noted,) = [record.head for record in caplog.records if hasattr(record, "head")]
    call_command("verify_audit_log", noted=noted)
    assert noted in capsys.readouterr().err

    with lifted():
        _changed(chained[4])
        AuditLink.objects.filter(pk__gte=chained[4].pk)._raw_delete("default")
    audit.chain()

    assert audit.verify().misfit is None
    with pytest.raises(CommandError, match="no longer has the link"):
        call_command("verify_audit_log", noted=noted)
    with pytest.raises(CommandError, match="is no link"):
        call_command("verify_audit_log", noted="head")


def test_rows_that_nobody_chains_are_told_of(cast: Cast) -> None:
    AuditEvent.objects.create(verb="test.done", created_at=timezone.now() - timedelta(hours=2))
    (said,) = problems()
    assert "not chained since" in said


def test_account_and_project_of_a_row_cannot_be_deleted(cast: Cast) -> None:
    audit.record(actor=cast.oscar, verb="test.done", project=cast.project)
    for row in (User.objects.get(pk=cast.oscar.pk), Project.objects.get(pk=cast.project.pk)):
        with pytest.raises(Exception, match="protected"), transaction.atomic():
            row.delete()


@pytest.mark.django_db(transaction=True)
def test_chain_is_one_however_many_append_to_it_while_people_work() -> None:
    cast = people.make_cast()

    def work() -> None:
        for _ in range(10):
            with transaction.atomic():
                # who comes first is who locks both, whatever audit rows they have written before
                write()
                list(User.objects.select_for_update().filter(pk=cast.oscar.pk))
            with transaction.atomic():
                list(User.objects.select_for_update().filter(pk=cast.oscar.pk))
                write()

    def append() -> None:
        for _ in range(20):
            audit.chain()

    assert together(work, work, append, append, append) == [None] * 5
    audit.chain()
    assert audit.verify().misfit is None and audit.verify().waiting == 0
    assert AuditEvent.objects.filter(verb="test.done").count() == 40


def test_triggers_know_every_table_of_the_log() -> None:
    assert (AuditEvent._meta.db_table, AuditLink._meta.db_table) == frozen.LOG
