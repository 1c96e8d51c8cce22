"""Predictions of a release over the API: importing, the leaderboard, best-of-N, deleting."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from annotation.models import PredictionSet
from annotation.services import release
from tests.callers import Caller
from tests.fixtures.shared_rows import shared_rows
from tests.people import Cast, import_records, make_unanimous
from tests.services.predicting import content, line

from .conftest import Callers
from .shape import ok, refused

RELEASE = "/projects/bench/releases/1.0"
SETS = f"{RELEASE}/predictions/"
BOTH = {"2": 1, "4": 1}


@shared_rows
def frozen(cast: Cast) -> None:
    """A release 1.0 of two trajectories in the subset tiny; all labels are the same."""
    import_records(cast.project, 2)
    make_unanimous(cast, 2)
    release.freeze(actor=cast.admin, project=cast.project, version="1.0")


def raw(caller: Caller, data: bytes, query: str = "model=Sage", path: str = SETS) -> Any:
    return caller.client.post(f"/api/v1{path}?{query}", data, content_type="application/x-ndjson")


@pytest.mark.usefixtures("frozen")
def test_predictions_come_as_a_body_or_as_a_form_and_once(by: Callers) -> None:
    data = content(line(0, BOTH), line(1, {"2": 1, "4": None}))
    said = ok(raw(by.admin, data, "model=Sage&prompt_version=v1&cost=1.5&judged_on=2026-11-22&filename=f"))
    assert (said["created"], said["missing"]) == (2, 1)
    assert said["prediction_set"]["cost"] == "1.5000" and said["prediction_set"]["version"] == "1.0"
    form = {"model": "Sage", "subset": "tiny", "file": SimpleUploadedFile("sage.jsonl", data)}
    again = ok(by.admin.client.post(f"/api/v1{SETS}", form))
    assert (again["created"], again["unchanged"]) == (0, 2)
    assert [row["model"] for row in ok(by.judith.get(SETS))["results"]] == ["Sage"]
    number = said["prediction_set"]["id"]
    seen = ok(by.judith.get(f"{SETS}{number}/"))
    assert seen["records"] == 2 and sum(map(sum, seen["scores"]["confusion"])) == 4
    assert [one["record_id"] for one in seen["scores"]["worst"]]


@pytest.mark.usefixtures("frozen")
def test_predictions_that_are_wrong_are_refused_as_a_whole_by_line(by: Callers) -> None:
    some_elsewhere = content(line(0, BOTH), line(9, BOTH))
    said = refused(raw(by.admin, some_elsewhere, "model=S&strict=true"), 400, "import_refused")
    assert said["details"]["errors"][0]["line"] == 2
    for query in ("", "model=", "model=" + "x" * 121, "model=S&cost=-1", "model=S&subset=none"):
        assert raw(by.admin, content(line(0, BOTH)), query).status_code == 400, query
    refused(raw(by.admin, b"", path="/projects/bench/releases/9/predictions/"), 404)
    assert not PredictionSet.objects.exists()


@pytest.mark.usefixtures("frozen")
def test_leaderboard_and_best_of_n_are_for_adjudicators_and_admins(by: Callers) -> None:
    ok(raw(by.admin, content(line(0, BOTH), line(1, BOTH))))
    for caller in (by.admin, by.judith, by.root):
        (row,) = ok(caller.get(f"{RELEASE}/leaderboard/"))["models"]
        assert (row["model"], row["overall"]["exact_match"]) == (
            "Sage",
            row["subsets"]["tiny"]["exact_match"],
        )
        (row,) = ok(caller.get(f"{RELEASE}/best-of-n/"))["models"]
        assert row["overall"]["final"]["averaged"] == row["overall"]["oracle"]
    for path in (SETS, f"{RELEASE}/leaderboard/", f"{RELEASE}/best-of-n/"):
        refused(by.ann.get(path), 403)
        refused(by.oscar.get(path), 404)


@pytest.mark.usefixtures("frozen")
def test_outside_numbers_are_set_by_admins_and_read_by_adjudicators(by: Callers) -> None:
    path = f"{RELEASE}/outside-numbers/"
    (row,) = ok(by.admin.patch(path, {"title": "GAIA", "numbers": {"Sage": 0.5, "Bold": 0.25}}))
    assert row == {"title": "GAIA", "numbers": {"Bold": 0.25, "Sage": 0.5}}
    (row,) = ok(by.admin.patch(path, {"title": "GAIA", "numbers": {"Sage": None}}))
    assert ok(by.judith.get(path))["results"] == [{"title": "GAIA", "numbers": {"Bold": 0.25}}]
    assert ok(by.judith.get(f"{RELEASE}/leaderboard/"))["outside_numbers"][0]["numbers"] == {"Bold": 0.25}
    refused(by.judith.patch(path, {"title": "GAIA", "numbers": {"Sage": 1}}), 403)
    for wrong in ({"title": "GAIA"}, {"title": "GAIA", "numbers": {"Sage": "high"}}, {"numbers": {"A": 1}}):
        refused(by.admin.patch(path, wrong), 400)


@pytest.mark.usefixtures("frozen")
def test_prediction_set_is_deleted_by_admins(by: Callers) -> None:
    number = ok(raw(by.admin, content(line(0, BOTH))))["prediction_set"]["id"]
    refused(by.judith.delete(f"{SETS}{number}/"), 403)
    refused(raw(by.judith, content(line(0, BOTH))), 403)
    assert by.admin.delete(f"{SETS}{number}/").status_code == 204
    refused(by.admin.delete(f"{SETS}{number}/"), 404)
    assert ok(by.admin.get(f"{RELEASE}/leaderboard/"))["models"] == []
