"""Judges: what the operator allows, and what is fixed once they have judged."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from annotation.core.errors import Conflict, Denied, Invalid, Locked
from annotation.core.judging import LATEST
from annotation.models import AuditEvent, Judge, Suggestion
from annotation.policies import OPERATOR
from annotation.providers import Hooks
from annotation.services import suggest
from annotation.services.suggest.judge_setup import open_provider
from tests import people
from tests.fixtures.judges import URL, Scripted, do, install, make_judge, start
from tests.people import Cast

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def judge_keys(settings: Any, judge_urls: None) -> None:
    settings.JUDGE_KEYS = ["OTHER_API_KEY", "OPENAI_KEY"]


def problems(cast: Cast, **values: Any) -> set[str]:
    with pytest.raises(Invalid) as refused:
        make_judge(cast, **values)
    assert all(refused.value.fields.values())
    assert not Judge.objects.exists()
    return set(refused.value.fields)


def test_admins_make_judges_and_nobody_else_does(cast: Cast) -> None:
    for user in (cast.ann, cast.judith, cast.oscar):
        with pytest.raises(Denied):
            suggest.create_judge(actor=user, project=cast.project, name="x", kind="baseline")

    judge = suggest.create_judge(
        actor=cast.admin,
        project=cast.project,
        name=" Sage ",
        kind="openai_compatible",
        model="m",
        base_url=f"{URL}/",
        key_name="TRISTEP_JUDGE_KEY_SAGE",
        sampling={"temperature": 0, "max_tokens": 4_000},
        rate_per_minute=60,
    )

    assert (judge.name, judge.base_url, judge.prompt_version) == ("Sage", URL, LATEST)
    assert judge.created_by == cast.admin
    assert AuditEvent.objects.filter(verb="judge.create", actor=cast.admin).count() == 1
    with pytest.raises(Invalid) as taken:
        make_judge(cast)
    assert list(taken.value.fields) == ["name"]


def test_judge_is_asked_at_addresses_of_the_operator_only(cast: Cast, settings: Any) -> None:
    for address in ("http://judge.test:81/v1", "https://judge.test/v1", "http://judge.test@evil/v1", "", "x"):
        assert problems(cast, base_url=address) == {"base_url"}
    judge = make_judge(cast)
    settings.JUDGE_URLS = []
    with pytest.raises(Invalid) as gone:
        open_provider(judge, Hooks())
    assert list(gone.value.fields) == ["base_url"]


@pytest.mark.parametrize(
    "name", ["TRISTEP_SECRET_KEY", "DATABASE_URL", "PATH", "tristep_judge_key_x", "SOME_API_KEY", "A B"]
)
def test_key_cannot_be_named_after_another_variable_of_the_server(
    cast: Cast, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, "secret")
    assert problems(cast, key_name=name) == {"key_name"}
    judge = make_judge(cast)
    Judge.objects.update(key_name=name)
    judge.refresh_from_db()
    with pytest.raises(Invalid) as refused:
        open_provider(judge, Hooks())
    assert "secret" not in str(refused.value.fields)


def test_keys_that_the_operator_names_are_read_from_the_environment(
    cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("TRISTEP_JUDGE_KEY_A", "OTHER_API_KEY", "OPENAI_KEY"):
        judge = make_judge(cast, name=name, key_name=name)
        with pytest.raises(Invalid):
            open_provider(judge, Hooks())
        monkeypatch.setenv(name, "sk-1")
        provider = open_provider(judge, Hooks())
        assert "sk-1" not in repr(provider)
        provider.close()


def test_judge_has_every_wrong_value_named(cast: Cast) -> None:
    wrong: dict[str, Any] = {
        "model": "",
        "sampling": {"temperature": 9},
        "concurrency": 65,
        "price_input": Decimal(-1),
        "rate_per_minute": 0,
        "timeout_seconds": 0,
        "prompt_version": "v999",
        "structured_output": "xml",
    }
    assert problems(cast, **wrong) == set(wrong) - {"sampling"} | {"temperature"}
    assert problems(cast, sampling={"stop": "x"}) == {"sampling"}
    assert problems(cast, context_tokens=8_192) == {"context_tokens"}
    assert problems(cast, colour="blue") == {"colour"}


@pytest.mark.postgres
def test_value_from_before_a_bound_keeps_nothing_else_from_changing(cast: Cast) -> None:
    judge = make_judge(cast)
    Judge.objects.update(sampling={"seed": -5})
    changed = suggest.update_judge(actor=cast.admin, judge=judge, values={"concurrency": 9})
    assert (changed.concurrency, changed.sampling) == (9, {"seed": -5})
    open_provider(changed, Hooks()).close()
    with pytest.raises(Invalid) as refused:
        suggest.update_judge(actor=cast.admin, judge=judge, values={"sampling": {"seed": -6}})
    assert list(refused.value.fields) == ["seed"]


@pytest.mark.postgres
def test_judge_may_change_until_it_has_judged(cast: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    people.import_records(cast.project, 1)
    judge = make_judge(cast)
    judge = suggest.update_judge(actor=cast.admin, judge=judge, values={"model": "other", "name": "Sage 2"})
    install(monkeypatch, Scripted())
    run = start(judge)
    with pytest.raises(Locked):
        suggest.update_judge(actor=cast.admin, judge=judge, values={"model": "third"})
    do(run)

    for name, value in (("model", "third"), ("sampling", {"seed": 1}), ("with_reference", True)):
        with pytest.raises(Locked):
            suggest.update_judge(actor=cast.admin, judge=judge, values={name: value})
    changed = suggest.update_judge(
        actor=cast.admin, judge=judge, values={"model": "other", "concurrency": 9, "price_input": Decimal(3)}
    )

    assert (changed.model, changed.concurrency, changed.price_input) == ("other", 9, Decimal(3))
    last = AuditEvent.objects.filter(verb="judge.change").latest("pk")
    assert last.detail == {"fields": ["concurrency", "price_input"]}
    with pytest.raises(Denied):
        suggest.update_judge(actor=cast.ann, judge=judge, values={"concurrency": 2})
    with pytest.raises(Invalid):
        suggest.update_judge(actor=OPERATOR, judge=judge, values={"kind": "baseline"})


@pytest.mark.postgres
def test_judge_that_is_retired_keeps_its_suggestions_and_is_asked_no_more(
    cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    people.import_records(cast.project, 2)
    judge = make_judge(cast)
    install(monkeypatch, Scripted())
    run = start(judge)
    with pytest.raises(Conflict):
        suggest.retire_judge(actor=cast.admin, judge=judge)
    do(run)

    suggest.retire_judge(actor=cast.admin, judge=judge)
    suggest.retire_judge(actor=cast.admin, judge=judge)

    assert Suggestion.objects.filter(judge=judge).count() == 2
    people.import_records(cast.project, [people.make_record(9)], filename="more.jsonl")
    with pytest.raises(Conflict):
        start(judge)
    suggest.restore_judge(actor=cast.admin, judge=judge)
    assert start(judge).progress_total == 1
    assert AuditEvent.objects.filter(verb="judge.retire").count() == 1
