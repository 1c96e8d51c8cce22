"""Judges over the API: settings within what the operator allows, locks, files of suggestions."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from annotation.core.judging import LATEST
from annotation.models import Judge, Suggestion
from tests.fixtures.judges import URL, make_imported_judge
from tests.people import Cast, import_records, jsonl

from .conftest import Callers
from .shape import ok, refused

pytestmark = pytest.mark.usefixtures("judge_urls")

JUDGES = "/projects/bench/judges/"
SERVER = {
    "name": "Sage",
    "kind": "openai_compatible",
    "model": "sage-1",
    "base_url": f"{URL}/",
    "key_name": "TRISTEP_JUDGE_KEY_SAGE",
    "sampling": {"temperature": 0, "extra": {"reasoning": {"effort": "low"}}},
    "price_input": "0.4",
    "price_output": 1.6,
}
LINE = {"record_id": "tiny:0:0", "step_labels": {"2": 1, "4": "bad"}, "final_label": 1}


def test_judge_is_made_read_listed_changed_and_retired(by: Callers) -> None:
    answer = by.admin.post(JUDGES, SERVER)
    made = ok(answer, 201)
    assert (made["base_url"], made["price_input"], made["price_output"]) == (URL, "0.400000", "1.600000")
    assert made["prompt_version"] == LATEST and made["suggestions"] == 0 and made["locked"] is False
    assert ok(by.admin.client.get(answer["Location"])) == made
    assert ok(by.admin.get(JUDGES))["results"] == [made]
    where = f"/judges/{made['id']}/"
    changed = ok(by.admin.patch(where, {"rate_per_minute": 30, "name": "Wise"}))
    assert (changed["rate_per_minute"], changed["name"]) == (30, "Wise")
    assert ok(by.admin.post(f"{where}retire/"))["retired_at"] is not None
    assert ok(by.admin.post(f"{where}restore/"))["retired_at"] is None


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("base_url", "https://elsewhere.test/v1"),
        ("base_url", "file:///etc/passwd"),
        ("key_name", "TRISTEP_SECRET_KEY"),
        ("kind", "oracle"),
        ("sampling", {"temperature": "hot"}),
        ("sampling", {"stop": 1}),
        ("sampling", {"extra": {"a": "\x00"}}),
        ("sampling", {"extra": {"a": "\ud800"}}),
        ("sampling", [1]),
        ("concurrency", 65),
        ("concurrency", "4"),
        ("price_input", "NaN"),
        ("price_input", -1),
        ("context_tokens", 1),
        ("structured_output", "perhaps"),
        ("prompt_version", "v0"),
        ("name", "a\x00b"),
        ("api_key", "sk-1"),
    ],
)
def test_judge_that_makes_no_sense_is_refused_by_field(by: Callers, field: str, value: Any) -> None:
    error = refused(by.admin.post(JUDGES, {**SERVER, field: value}), 400)
    assert any(name.split(".")[0] == field for name in error["fields"]), error
    assert not Judge.objects.exists()


def test_judge_with_suggestions_is_locked_in_what_its_answers_depend_on(by: Callers, cast: Cast) -> None:
    import_records(cast.project, 1)
    made = ok(by.admin.post(JUDGES, SERVER), 201)
    row = Judge.objects.get()
    Suggestion.objects.create(
        judge=row, trajectory=cast.project.trajectories.get(), created_at=row.created_at
    )
    where = f"/judges/{made['id']}/"
    refused(by.admin.patch(where, {"model": "other"}), 409, "judge_locked")
    assert ok(by.admin.patch(where, {"model": "sage-1", "price_input": 3}))["locked"] is True


def send(by: Callers, judge: Judge, data: bytes, **options: str) -> Any:
    """Upload as a form does."""
    file = SimpleUploadedFile("p.jsonl", data)
    return by.admin.client.post(f"/api/v1/judges/{judge.pk}/suggestions/", {"file": file, **options})


def test_file_of_suggestions_is_taken_once_as_a_form_or_as_the_body(by: Callers, cast: Cast) -> None:
    import_records(cast.project, 1)
    judge = make_imported_judge(cast.project)
    counts = ok(send(by, judge, jsonl([LINE]), subset="tiny"))
    assert counts == {
        "created": 1, "unchanged": 0, "labels": 1, "missing": 0, "invalid": 1, "extra": 0, "failed": 0,
    }  # fmt: skip
    again = by.admin.client.post(
        f"/api/v1/judges/{judge.pk}/suggestions/?filename=p.jsonl",
        jsonl([LINE]),
        content_type="application/x-ndjson",
    )
    assert ok(again)["unchanged"] == 1
    assert ok(by.admin.get(f"/judges/{judge.pk}/"))["suggestions"] == 1


def test_file_that_does_not_fit_is_refused_whole_with_its_lines(
    by: Callers, cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    import_records(cast.project, 1)
    judge = make_imported_judge(cast.project)
    error = refused(send(by, judge, jsonl([LINE, {**LINE, "record_id": "tiny:9:0"}])), 400, "import_refused")
    assert error["details"]["errors"][0]["line"] == 2
    refused(send(by, judge, b""), 400)
    refused(send(by, judge, b"\xff\xfe{"), 400)
    refused(send(by, judge, jsonl([LINE]), subset="nowhere"), 400)
    refused(by.admin.post(f"/judges/{judge.pk}/suggestions/", {"file": "x"}), 415)
    monkeypatch.setattr("api.views.base.MAX_FILE", 10)
    refused(send(by, judge, jsonl([LINE])), 413, "too_large")
    assert not Suggestion.objects.exists()
