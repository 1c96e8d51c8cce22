"""Judges in the browser: setting one up, what is locked, files of suggestions, figures beside always +1."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from annotation.core.judging.kinds import KINDS, JudgeKind
from annotation.core.judging.prompts import template
from annotation.models import Judge, Suggestion
from annotation.policies import OPERATOR
from annotation.services import suggest
from tests import people
from tests.fixtures.judges import URL, make_imported_judge

SERVER = {
    "name": "Sage",
    "model": "sage-1",
    "base_url": URL,
    "path": "",
    "key_name": "TRISTEP_JUDGE_KEY_SAGE",
    "prompt_version": "v1",
    "structured_output": "auto",
    "context_tokens": "32768",
    "temperature": "0.5",
    "max_tokens": "2000",
    "extra": '{"reasoning_effort": "low"}',
    "price_input": "0.4",
    "price_output": "1.6",
    "rate_per_minute": "60",
    "concurrency": "8",
    "timeout_seconds": "90",
}


@pytest.fixture(autouse=True)
def two_judge_urls(settings: Any) -> None:
    settings.JUDGE_URLS = [URL, "https://other.test/api"]


def lines(cast: people.Cast, value: Callable[[int], Any], how_many: int = 2) -> bytes:
    """A file of suggestions about the made records; `value` by message index."""
    rows = [
        {
            "record_id": f"tiny:{query}:0",
            "step_labels": {"2": value(2), "4": value(4)},
            "final_label": 1,
            "explanations": {"steps": {"2": "because"}, "final": "done"},
            "updated_at": "2026-01-01T00:00:00+00:00",
        }
        for query in range(how_many)
    ]
    return people.jsonl(rows)


def bring(cast: people.Cast, judge: Judge, data: bytes) -> None:
    """Import suggestions as the operator does."""
    stream = SimpleUploadedFile("p.jsonl", data)
    suggest.import_suggestions(
        actor=OPERATOR, project=cast.project, judge_name=judge.name, stream=stream, filename="p.jsonl"
    )


# ── Setting up ────────────────────────────
def test_judges_page_without_a_judge_says_how_to_get_one(browse, at, text):
    page = text(browse("admin").get(at("judges", "bench")))
    assert "No judge yet" in page
    for kind in KINDS:
        assert at("judge-create", "bench", kind) in page


def test_kind_of_judge_is_offered_and_set_up_by_its_declaration_alone(browse, at, text, monkeypatch):
    echo = JudgeKind(
        name="echo", title="an echo", heading="Echo", about="Says it again.", button="Add", provider="echo"
    )
    monkeypatch.setitem(KINDS, "echo", echo)
    client = browse("admin")
    address = at("judge-create", "bench", "echo")
    offered = text(client.get(at("judge-new", "bench")))
    assert address in offered
    assert "Says it again." in offered
    page = client.get(address)
    assert list(page.context["form"].fields) == ["name"]
    assert "an echo" in text(page)


def test_baseline_is_added_and_run_from_the_pages(browse, at, text, cast):
    people.import_records(cast.project, 1)
    client = browse("admin")
    added = at("judge-create", "bench", "baseline")
    run = at("run-new", "bench")
    assert added in text(client.get(at("judge-new", "bench")))
    assert run not in text(client.get(at("judges", "bench")))

    client.post(added, {"name": "Steady"})

    assert run in text(client.get(at("judges", "bench")))
    page = client.get(run)
    assert [judge.name for judge in page.context["form"].fields["judges"].queryset] == ["Steady"]
    assert "Steady" in text(page)
    judge = Judge.objects.get()
    assert "runs" in client.get(at("judge", "bench", judge.pk)).context
    client.post(run, {"judges": [judge.pk]})
    assert judge.runs.count() == 1


def test_judge_is_set_up_with_everything_the_form_has(browse, at, cast):
    response = browse("admin").post(at("judge-create", "bench", "openai_compatible"), SERVER)
    judge = Judge.objects.get()
    assert response.url == at("judge", "bench", judge.pk)
    assert (judge.name, judge.model, judge.base_url, judge.created_by) == ("Sage", "sage-1", URL, cast.admin)
    assert judge.sampling == {"temperature": 0.5, "max_tokens": 2000, "extra": {"reasoning_effort": "low"}}
    assert (judge.rate_per_minute, judge.concurrency, judge.timeout_seconds) == (60, 8, 90)
    assert judge.key_name == "TRISTEP_JUDGE_KEY_SAGE"


def test_judge_form_takes_what_it_shows(browse, at):
    client = browse("admin")
    client.post(at("judge-create", "bench", "openai_compatible"), {**SERVER, "path": "/deep/er/"})
    judge = Judge.objects.get()
    assert judge.base_url == f"{URL}/deep/er"
    page = client.get(at("judge-edit", "bench", judge.pk)).context
    form = page["form"]
    values = {field.name: field.value() for field in form}
    again = {name: "" if value is None else value for name, value in values.items() if value is not False}
    again["began"] = page["began"]
    assert client.post(at("judge-edit", "bench", judge.pk), again).status_code == 302
    after = Judge.objects.get()
    assert (after.base_url, after.sampling, after.price_input) == (
        judge.base_url,
        judge.sampling,
        judge.price_input,
    )


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("base_url", "https://elsewhere.test/v1"),
        ("path", "../admin"),
        ("path", "x?y=1"),
        ("key_name", "TRISTEP_SECRET_KEY"),
        ("key_name", "PATH"),
        ("extra", "[1]"),
        ("extra", '{"a": NaN}'),
        ("extra", "{" * 3000),
        ("context_tokens", "1500"),
        ("price_input", "-1"),
        ("concurrency", "65"),
        ("concurrency", "0"),
        ("temperature", "nan"),
        ("name", "  "),
        ("prompt_version", "v0"),
    ],
)
def test_judge_that_makes_no_sense_is_refused_at_its_field(browse, at, field, value):
    response = browse("admin").post(
        at("judge-create", "bench", "openai_compatible"), {**SERVER, field: value}
    )
    assert response.status_code == 400
    assert field in response.context["form"].errors
    assert not Judge.objects.exists()


def test_judge_with_a_name_that_is_taken_is_refused_at_the_name(browse, at, cast):
    make_imported_judge(cast.project, "Sage")
    response = browse("admin").post(at("judge-create", "bench", "openai_compatible"), SERVER)
    assert response.status_code == 400 and "name" in response.context["form"].errors


def test_judges_page_without_allowed_addresses_says_what_the_operator_must_set(browse, at, text, settings):
    settings.JUDGE_URLS = []
    page = text(browse("admin").get(at("judge-create", "bench", "openai_compatible")))
    assert "TRISTEP_JUDGE_URLS" in page and 'name="model"' not in page


def test_keys_are_never_shown_not_even_their_presence(browse, at, text, monkeypatch):
    monkeypatch.setenv("TRISTEP_JUDGE_KEY_SAGE", "sk-very-secret")
    client = browse("admin")
    client.post(at("judge-create", "bench", "openai_compatible"), SERVER)
    pk = Judge.objects.get().pk
    for page in (at("judge", "bench", pk), at("judge-edit", "bench", pk), at("judges", "bench")):
        assert "sk-very-secret" not in text(client.get(page))


def test_judge_with_suggestions_is_locked_in_what_its_answers_depend_on(browse, at, text, cast):
    people.import_records(cast.project, 2)
    client = browse("admin")
    client.post(at("judge-create", "bench", "openai_compatible"), SERVER)
    judge = Judge.objects.get()
    Suggestion.objects.create(
        judge=judge, trajectory=cast.project.trajectories.first(), created_at=judge.created_at
    )
    url = at("judge-edit", "bench", judge.pk)
    page = client.get(url)
    assert "has made suggestions" in text(page)
    fields = page.context["form"].fields
    assert fields["model"].disabled and fields["prompt_version"].disabled
    assert not fields["price_input"].disabled
    given = {"name": "Wise", "model": "other", "temperature": "2", "price_input": "9"}
    client.post(url, {**SERVER, **given, "began": page.context["began"]})
    judge.refresh_from_db()
    assert (judge.name, judge.model, judge.price_input) == ("Wise", "sage-1", 9)
    assert judge.sampling["temperature"] == 0.5


def test_judge_is_retired_and_restored(browse, at, text, cast):
    judge = make_imported_judge(cast.project, "Filed")
    client = browse("admin")
    client.post(at("judge-retire", "bench", judge.pk))
    judge.refresh_from_db()
    assert judge.retired_at is not None
    page = text(client.get(at("judge", "bench", judge.pk)))
    assert "retired" in page and 'type="file"' not in page
    assert "Filed" in text(client.get(at("judges", "bench")))
    client.post(at("judge-restore", "bench", judge.pk))
    judge.refresh_from_db()
    assert judge.retired_at is None


def test_prompt_of_its_version_can_be_read_and_settings_are_words(browse, at, text):
    client = browse("admin")
    client.post(at("judge-create", "bench", "openai_compatible"), SERVER)
    answer = client.get(at("judge", "bench", Judge.objects.get().pk))
    assert template("v1")[0].splitlines()[0] in text(answer)
    facts = dict(answer.context["facts"])
    assert facts["Structured output"] == "Use it if the server supports it"
    assert (facts["Input, $ per million tokens"], facts["Cached input, $ per million tokens"]) == (
        "$0.40",
        "–",
    )
    assert facts["Additional parameters"] == '{"reasoning_effort": "low"}'
    assert (facts["Maximum answer length, in tokens"], facts["Top p"]) == ("2,000", "–")


# ── Files ─────────────────────────────────
def upload(client: Any, url: str, data: bytes, **more: str) -> Any:
    """Send a file by the form."""
    return client.post(url, {"file": SimpleUploadedFile("p.jsonl", data), **more})


def test_file_comes_in_and_the_page_says_what_came_of_it(browse, at, text, cast):
    people.import_records(cast.project, 2)
    judge = make_imported_judge(cast.project, "Filed")
    url = at("judge-import", "bench", judge.pk)
    client = browse("admin")
    data = lines(cast, lambda index: 1 if index == 2 else None)

    first = upload(client, url, data)

    outcome = first.context["outcome"]
    assert (outcome.created, outcome.labels, outcome.missing, outcome.failed) == (2, 2, 2, 0)
    assert "File imported" in text(first)
    assert Suggestion.objects.filter(judge=judge).count() == 2
    again = upload(client, url, data)
    assert "nothing has changed" in text(again)
    assert Suggestion.objects.count() == 2


def test_suggestions_of_a_bad_file_are_refused_whole_and_every_line_is_named(browse, at, text, cast):
    people.import_records(cast.project, 1)
    judge = make_imported_judge(cast.project, "Filed")
    response = upload(browse("admin"), at("judge-import", "bench", judge.pk), lines(cast, lambda _: 1, 3))
    page = text(response)
    assert response.status_code == 400
    assert "tiny:1:0" in page and "tiny:2:0" in page and "2 errors" in page
    assert not Suggestion.objects.exists()


def test_suggestions_of_no_file_an_empty_one_and_an_unknown_subset_are_refused(browse, at, cast):
    people.import_records(cast.project, 1)
    judge = make_imported_judge(cast.project, "Filed")
    client = browse("admin")
    url = at("judge-import", "bench", judge.pk)
    assert client.post(url).status_code == 400
    assert upload(client, url, b"").status_code == 400
    assert upload(client, url, lines(cast, lambda _: 1, 1), subset="nowhere").status_code == 400
    assert not Suggestion.objects.exists()


# ── Figures ───────────────────────────────
def test_judge_stands_beside_always_plus(browse, at, text, cast):
    people.import_records(cast.project, 2)
    people.make_unanimous(cast)
    people.make_disputed(cast)
    judge = make_imported_judge(cast.project, "Filed")
    bring(cast, judge, lines(cast, lambda index: -1 if index == 4 else 1))
    response = browse("admin").get(at("judge", "bench", judge.pk))
    rows = {row["title"]: row["cells"] for row in response.context["figures"]}
    # resolved: one trajectory of +1 +1; blind: ann twice +1 +1, ben +1 +1 and −1 −1
    shown = [cell["measure"].value for cell in rows["StepAcc"]]
    assert shown == [0.5, 1.0, 0.5, 0.75]
    listed = browse("admin").get(at("judges", "bench")).context["page"][0]
    assert (listed.suggestions, listed.compared, listed.agreement) == (2, 8, 0.5)


def test_labels_that_may_still_be_given_count_nowhere(browse, at, cast):
    people.import_records(cast.project, 2)
    people.label_next(cast.ann, cast.project)
    judge = make_imported_judge(cast.project, "Filed")
    bring(cast, judge, lines(cast, lambda _: 1))
    assert browse("admin").get(at("judges", "bench")).context["page"][0].agreement is None
    assert browse("admin").get(at("judge", "bench", judge.pk)).context["figures"] == []


def test_suggestion_is_none_of_a_failed_judgement(browse, at, cast):
    people.import_records(cast.project, 2)
    judge = make_imported_judge(cast.project, "Filed")
    failed = {
        "record_id": "tiny:1:0",
        "step_labels": {"2": None, "4": None},
        "final_label": 0,
        "comment": "llm_annotate_failed: no answer",
    }
    bring(cast, judge, lines(cast, lambda _: 1, 1) + json.dumps(failed).encode())
    listed = browse("admin").get(at("judges", "bench")).context["page"][0]
    assert (listed.suggestions, listed.failed) == (1, 1)
