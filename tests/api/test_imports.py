"""Importing over the API: as a form, and as a raw body."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from annotation.core.errors import ImportRefused
from annotation.models import ImportFile, Trajectory
from annotation.services import ingest, label
from tests.callers import Caller
from tests.people import Cast, import_file, import_records, jsonl, make_record, make_records
from tests.services.long_writes import lines
from tests.services.receiving import stored

from .conftest import Callers
from .shape import ok, refused

IMPORTS = "/projects/bench/imports/"


def form(caller: Caller, data: bytes, name: str = "tiny.jsonl", **options: Any) -> Any:
    """Upload as a form does."""
    file = SimpleUploadedFile(name, data)
    return caller.client.post(f"/api/v1{IMPORTS}", {"file": file, **options})


def raw(caller: Caller, data: bytes, query: str = "", content_type: str = "application/x-ndjson") -> Any:
    """Upload as `curl --data-binary` does."""
    return caller.client.post(f"/api/v1{IMPORTS}{query}", data, content_type=content_type)


def test_file_sent_as_a_form_is_queued_and_can_be_followed(by: Callers) -> None:
    answer = form(by.admin, jsonl(make_records(3)), policy_models='{"0": "Tiny-1"}')
    made = ok(answer, 202)
    assert made["state"] == "queued" and made["subset"] == "tiny" and made["format"] == "agentprocessbench"
    ingest.run_import(source_id=made["id"])
    seen = ok(by.admin.client.get(answer["Location"]))
    assert seen["state"] == "published" and seen["created_count"] == 3 and seen["step_count"] == 6
    assert seen["progress"]["done"] == seen["progress"]["total"] == seen["size"]
    assert {row.policy_model for row in Trajectory.objects.all()} == {"Tiny-1"}
    assert seen["offers_suspension"] is False


def test_import_of_tasks_in_several_turns_says_that_it_offers_suspension(by: Callers) -> None:
    record = make_record(0, 0)
    request = [{"role": "system", "content": "State."}, {"role": "user", "content": "Now this."}]
    record["messages"] = [*record["messages"], *request, {"role": "assistant", "content": "Done."}]
    record["step_labels"] = {}
    answer = form(by.admin, jsonl([record]))
    ingest.run_import(source_id=ok(answer, 202)["id"])
    assert ok(by.admin.client.get(answer["Location"]))["offers_suspension"] is True
    ok(by.admin.patch("/projects/bench/subsets/tiny/", {"suspend_on_user_turn": True}))
    assert ok(by.admin.client.get(answer["Location"]))["offers_suspension"] is False


@pytest.mark.parametrize("content_type", ["application/x-ndjson", "application/octet-stream"])
def test_file_may_be_the_whole_body(by: Callers, content_type: str) -> None:
    query = "?subset=other&filename=some.jsonl&replace=true&format=agentprocessbench"
    made = ok(raw(by.admin, jsonl(make_records(1)), query, content_type), 202)
    assert made["subset"] == "other" and made["filename"] == "some.jsonl" and made["replace"] is True
    ingest.run_import(source_id=made["id"])
    assert Trajectory.objects.filter(live=True, subset__name="other").count() == 1


def test_import_of_a_bad_file_says_line_field_and_reason_of_everything(by: Callers, cast: Cast) -> None:
    bad = jsonl([make_record(0), {"messages": 7}]) + b"{broken\n"
    with pytest.raises(ImportRefused):
        import_file(cast.project, bad, format="agentprocessbench")
    row = ok(by.admin.get(IMPORTS))["results"][0]
    assert row["state"] == "failed" and row["error_count"] >= 2 and "errors" not in row
    seen = ok(by.admin.get(f"/imports/{row['id']}/"))
    assert {error["line"] for error in seen["errors"]} == {2, 3}
    assert all(error["reason"] for error in seen["errors"])


@pytest.mark.parametrize(
    "options",
    [
        {"format": "word"},
        {"policy_models": "[1]"},
        {"policy_models": "{"},
        {"policy_models": '{"x": "y"}'},
        {"policy_models": '{"0": 1}'},
        {"policy_models": '{"0": "a\\u0000b"}'},
        {"policy_models": '{"0": "\\ud800"}'},
        {"policy_models": "[" * 10_000},
        {"subset": "no such name!"},
        {"replace": "perhaps"},
        {"subset": "a\x00b"},
    ],
)
def test_import_refuses_options_that_make_no_sense_and_leaves_nothing(
    by: Callers, options: dict[str, str]
) -> None:
    before = stored()
    refused(form(by.admin, jsonl(make_records(1)), **options), 400)
    assert not ImportFile.objects.exists() and stored() == before


def test_import_refuses_an_empty_a_strange_or_a_missing_file_and_leaves_nothing(by: Callers) -> None:
    before = stored()
    refused(form(by.admin, b""), 400)
    refused(form(by.admin, b"just some words"), 400)
    refused(raw(by.admin, b""), 400)
    refused(by.admin.client.post(f"/api/v1{IMPORTS}", {"subset": "x"}), 400, "empty_file")
    refused(by.admin.client.post(f"/api/v1{IMPORTS}", {"file": "not a file"}), 400, "empty_file")
    refused(by.admin.post(IMPORTS), 400)
    assert not ImportFile.objects.exists() and stored() == before


def test_json_is_not_a_way_to_send_a_file(by: Callers) -> None:
    refused(by.admin.post(IMPORTS, {"file": "x"}), 415, "unsupported_media_type")


def test_import_of_a_broken_form_is_a_400(by: Callers) -> None:
    for content_type in (
        "multipart/form-data",
        "multipart/form-data; boundary=x",
        "multipart/form-data; boundary=é",
    ):
        refused(raw(by.admin, b"--x\r\nrubbish", content_type=content_type), 400)


def test_import_that_is_unfinished_is_abandoned_once(by: Callers) -> None:
    made = ok(form(by.admin, jsonl(make_records(1))), 202)
    assert ok(by.admin.post(f"/imports/{made['id']}/abandon/"))["state"] == "abandoned"
    refused(by.admin.post(f"/imports/{made['id']}/abandon/"), 409, "import_ended")


def test_previews_are_discarded_together_and_nothing_else(by: Callers) -> None:
    queued = ok(form(by.admin, jsonl(make_records(1))), 202)
    waiting = [ok(form(by.admin, jsonl(make_records(1)), preview="true"), 202) for _ in range(2)]
    refused(by.ann.post(f"{IMPORTS}discard-previews/"), 403)
    assert ok(by.admin.post(f"{IMPORTS}discard-previews/")) == {"discarded": 2}
    assert ok(by.admin.post(f"{IMPORTS}discard-previews/")) == {"discarded": 0}
    states = {row["id"]: row["state"] for row in ok(by.admin.get(IMPORTS))["results"]}
    assert states == {queued["id"]: "queued", **{row["id"]: "abandoned" for row in waiting}}


def test_import_over_the_limit_is_413_before_it_is_read(by: Callers, settings: Any) -> None:
    settings.MAX_UPLOAD_BYTES = 100
    refused(form(by.admin, b"x" * 1000), 413, "too_large")
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 100
    refused(by.admin.patch("/me/", {"display_name": "x" * 1000}), 413, "too_large")


def test_labels_are_previewed_and_imported_as_those_of_one_person(by: Callers, cast: Cast) -> None:
    rows = import_records(cast.project, make_records(2, steps=2))
    query, address = (
        "?annotator=ann&preview=true&filename=ann.jsonl",
        f"/api/v1{IMPORTS}labels/",
    )
    sent = {"data": lines(rows).read(), "content_type": "application/x-ndjson"}
    made = ok(by.admin.client.post(address + query, **sent), 202)
    assert (made["format"], made["subset"], made["state"]) == ("labels", "", "uploaded")
    seen = ok(by.admin.get(f"/imports/{made['id']}/label-preview/"))
    assert (seen["records"], seen["steps"], seen["lines"][0]["steps"], seen["errors"]) == (2, 4, 2, [])
    refused(by.admin.get(f"/imports/{made['id']}/preview/"), 400, "label_file")
    ok(by.admin.post(f"/imports/{made['id']}/start/"), 202)
    label.run_import(source_id=made["id"])
    assert ok(by.admin.get(f"/imports/{made['id']}/"))["created_count"] == 2
    refused(by.admin.client.post(f"{address}?annotator=oscar", **sent), 400)
    refused(by.ann.client.post(f"{address}?name=x", **sent), 403)
    refused(by.oscar.client.post(f"{address}?name=x", **sent), 404)
