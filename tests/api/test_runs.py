"""Runs over the API: estimated, started, watched, steered, audited."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from annotation.models import SuggestionRun
from tests.fixtures.judges import (
    make_judge,
)
from tests.people import Cast, import_records, make_project, make_records

from .conftest import Callers
from .shape import ok, refused

pytestmark = pytest.mark.usefixtures("judge_urls")

RUNS = "/projects/bench/runs/"


def test_estimate_starts_nothing_and_a_start_does(by: Callers, cast: Cast) -> None:
    import_records(cast.project, 3)
    import_records(cast.project, make_records(2), subset="other")
    body = {"judge": make_judge(cast).pk, "subset": "other", "limit": 1}
    seen = ok(by.admin.post(f"{RUNS}estimate/", body))
    assert seen["trajectories"] == 1 and seen["tokens_in"] > 0 and Decimal(seen["cost"]) > 0
    assert not SuggestionRun.objects.exists()
    answer = by.admin.post(RUNS, {**body, "budget": "2.5"})
    made = ok(answer, 201)
    assert (made["state"], made["progress"]) == ("queued", {"done": 0, "failed": 0, "total": 1})
    assert made["selection"] == {"subset": "other", "limit": 1} and Decimal(made["budget"]) == Decimal("2.5")
    assert ok(by.admin.client.get(answer["Location"]))["id"] == made["id"]
    refused(by.admin.post(RUNS, body), 409, "judge_at_work")


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"subset": "none"}, 400),
        ({"state": "odd"}, 400),
        ({"limit": 0}, 400),
        ({"limit": True}, 400),
        ({"budget": "0"}, 400),
        ({"budget": "NaN"}, 400),
        ({"judge": 99999}, 404),
        ({"judge": "1"}, 400),
        ({"failed_of": 1}, 400),
        ({"policy_model": "a\x00"}, 400),
        ({"policy_model": "nobody"}, 400),
    ],
)
def test_run_that_makes_no_sense_is_refused(
    by: Callers, cast: Cast, body: dict[str, Any], status: int
) -> None:
    import_records(cast.project, 1)
    refused(by.admin.post(RUNS, {"judge": make_judge(cast).pk, **body}), status)
    assert not SuggestionRun.objects.exists()


def test_judge_of_another_project_is_not_found(by: Callers, cast: Cast) -> None:
    import_records(cast.project, 1)
    judge = make_judge(cast)
    judge.project = make_project("other")
    judge.save()
    refused(by.admin.post(RUNS, {"judge": judge.pk}), 404)


def test_run_is_watched_and_its_failures_lead_to_the_raw_answer(
    by: Callers, failed_run: SuggestionRun
) -> None:
    seen = ok(by.admin.get(f"/runs/{failed_run.pk}/"))
    assert seen["progress"] == {"done": 2, "failed": 2, "total": 4} and seen["state"] == "finished"
    assert seen["failures"] == [{"kind": "not_json", "count": 2, "message": "Broken."}]
    assert Decimal(seen["cost"]) == Decimal("0.02") and seen["seconds_left"] is None
    rows = ok(by.admin.get(f"/runs/{failed_run.pk}/failures/"))["results"]
    assert [row["record_id"] for row in rows] == ["tiny:1:0", "tiny:3:0"]
    answer = ok(by.admin.get(f"/answers/{rows[0]['answer']}/"))
    assert (answer["request"], answer["response"], answer["status"]) == ("asked", "<html>", 500)
    assert answer["trajectory"] == rows[0]["trajectory"] and answer["tries"] == 2
    listed = ok(by.admin.get(RUNS, {"judge": failed_run.judge_id}))
    assert [row["id"] for row in listed["results"]] == [failed_run.pk]
    assert ok(by.admin.get(RUNS, {"judge": 99999}))["count"] == 0


def test_run_is_paused_resumed_with_a_budget_cancelled_and_retried(
    by: Callers, cast: Cast, failed_run: SuggestionRun
) -> None:
    where = f"/runs/{failed_run.pk}/"
    refused(by.admin.post(f"{where}pause/"), 409, "stale_state")
    assert ok(by.admin.post(f"{where}retry/"))["progress"]["failed"] == 0
    assert ok(by.admin.post(f"{where}pause/"))["state"] == "paused"
    refused(by.admin.post(f"{where}resume/", {"budget": "0.01"}), 400)
    resumed = ok(by.admin.post(f"{where}resume/", {"budget": "3"}))
    assert resumed["state"] == "queued" and Decimal(resumed["budget"]) == 3
    assert ok(by.admin.post(f"{where}cancel/"))["state"] == "cancelled"
    refused(by.admin.post(f"{where}resume/", {}), 409)
