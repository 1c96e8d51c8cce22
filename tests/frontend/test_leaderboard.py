"""The leaderboard of a release in the browser: reading, sorting, uploading, one model, deleting."""

from __future__ import annotations

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from annotation.models import PredictionSet
from annotation.services import evaluate
from annotation.services import release as service
from tests import people
from tests.fixtures.shared_rows import shared_rows
from tests.services.predicting import bring, content, line


@shared_rows
def frozen(cast):
    """A release of two unanimous trajectories in two subsets, of which Sage predicts one."""
    people.import_records(cast.project, 1, subset="one")
    people.import_records(cast.project, 1, subset="two")
    people.make_unanimous(cast, 2)
    made = service.freeze(actor=cast.admin, project=cast.project, version="1.0")
    bring(cast, made, line(0, {"2": 1, "4": 0}), model="Sage<b>", subset="one")
    return made


def test_recalibrated_models_are_shown_with_their_change_once_they_are_worked_out(browse, cast, at, text):
    people.import_records(cast.project, 2)
    people.make_unanimous(cast, 2)
    made = service.freeze(actor=cast.admin, project=cast.project, version="1.0")
    bring(cast, made, *(line(query, {"2": 1, "4": 0}) for query in (0, 1)), model="Sage<b>")
    bring(cast, made, line(0, {"2": 1, "4": 0}), model="Once")
    client, pk = browse("judith"), PredictionSet.objects.get(model="Sage<b>").pk
    address = at("leaderboard", "bench", "1.0")
    assert "are being worked out" in text(client.get(address))
    assert "Sage&lt;b&gt;" not in text(client.get(address + "?recalibrated=1"))

    evaluate.fit_release(release_id=made.pk)
    plain, page = text(client.get(address)), text(client.get(address + "?recalibrated=1&sort=kappa"))
    assert "are being worked out" not in plain + page
    assert "The trained baseline" in plain and "All models, stacked" in plain
    assert "Sage&lt;b&gt;" in page and "are not ranked" in page and "Rank" not in page
    assert "Once" not in page and "fewer than two tasks" in page
    assert "+0.0" in page, "of the outcomes, which stay"
    assert "after a regression" in text(client.get(at("model", "bench", "1.0", pk)))


def upload(data: bytes, **more: str) -> dict[str, object]:
    return {"model": "Bold", "subset": "two", "file": SimpleUploadedFile("bold.jsonl", data), **more}


def test_leaderboard_shows_models_and_baselines_by_subset_and_in_order(browse, frozen, at, text):
    client = browse("judith")
    page = text(client.get(at("leaderboard", "bench", "1.0")))
    assert "Sage&lt;b&gt;" in page and "only one; not ranked" in page
    assert "Always +1" in page and "The commonest label" in page
    assert "Upload predictions" not in page, "adjudicators read"
    there = text(client.get(at("leaderboard", "bench", "1.0") + "?subset=two"))
    assert "Sage&lt;b&gt;" not in there and "Always +1" in there
    names = {}
    for sort in ("model", "-model", "nonsense", "kappa"):
        page = text(client.get(at("leaderboard", "bench", "1.0") + f"?sort={sort}"))
        names[sort] = page.index("Sage&lt;b&gt;") < page.index("Always +1")
    assert names["-model"] and not names["model"]


def test_upload_of_predictions_says_what_came_of_it(browse, frozen, at, text):
    client = browse("admin")
    data = content(line(0, {"2": 1, "4": None}))
    answer = client.post(at("predictions-import", "bench", "1.0"), upload(data, cost="2.5"))
    assert answer.status_code == 200
    assert "Bold: 1 records imported, 0 unchanged; 1 labels missing, 0 judgements failed." in text(answer)
    again = client.post(at("predictions-import", "bench", "1.0"), upload(data))
    assert "Bold: 0 records imported, 1 unchanged" in text(again)
    assert PredictionSet.objects.get(model="Bold").cost == 2.5


@pytest.mark.parametrize(
    ("data", "more", "said"),
    [
        (content(line(7)), {}, "is not in the subset"),
        (b"", {}, "empty"),
        (b"{", {}, "cut off"),
        (b"{}", {"cost": "-1"}, "greater than or equal to 0"),
        (b"{}", {"model": ""}, "This field is required"),
        (b"{}", {"subset": "three"}, "is not one of the available choices"),
    ],
)
def test_upload_of_bad_predictions_says_why(browse, frozen, at, text, data, more, said):
    answer = browse("admin").post(at("predictions-import", "bench", "1.0"), upload(data, **more))
    assert answer.status_code == 400 and said in text(answer)
    assert PredictionSet.objects.count() == 1


def test_model_shows_where_it_errs_and_can_be_deleted(browse, frozen, at, text):
    row = PredictionSet.objects.get()
    client = browse("admin")
    page = text(client.get(at("model", "bench", "1.0", row.pk)))
    for words in (
        "Sage&lt;b&gt;",
        "Confusion matrix",
        "one step too early",
        "All figures",
        "tiny:0:0",
        "1 of 2",
    ):
        assert words in page, words
    assert client.get(at("model", "bench", "1.0", row.pk + 1)).status_code == 404
    assert client.post(at("predictions-delete", "bench", "1.0", row.pk)).status_code == 302
    assert "The predictions of Sage&lt;b&gt; are deleted." in text(
        client.get(at("leaderboard", "bench", "1.0"))
    )
    assert not PredictionSet.objects.exists()
