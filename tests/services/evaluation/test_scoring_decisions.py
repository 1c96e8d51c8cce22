"""Predictions of a release of decisions: what a line may say, what of it is kept, and the figures of it."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotation.core.decisions.derive import Derivation
from annotation.core.decisions.recipes import Recipe
from annotation.core.decisions.record import decision_draft
from annotation.core.errors import ImportRefused
from annotation.core.label_files import read_label_lines
from annotation.models import PredictionSet, Release
from annotation.policies import OPERATOR
from annotation.reports.evaluation.leaderboard import leaderboard
from annotation.reports.evaluation.model_scores import model_scores
from annotation.reports.evaluation.predicted_records import add_predictions, frozen_record
from annotation.services import evaluate, label
from annotation.services.release import verify
from tests import people
from tests.callers import Caller, signed_in
from tests.commands.calling import run
from tests.fixtures import published_labels
from tests.fixtures.decisions import make_decisions_cast
from tests.fixtures.shared_rows import shared_rows
from tests.people import Cast
from tests.services.predicting import bring, content
from tests.services.publishing import freeze, publish

BOARD = "/projects/bench/releases/1.0/leaderboard/"


@shared_rows
def cast() -> Cast:
    """A project of four decisions with the options 3, 4 and 5, two of each of two categories."""
    return make_decisions_cast(4, options=3)


@shared_rows
def frozen(cast: Cast) -> Release:
    """A release of all of them; the first option is better than the others."""
    for user in (cast.ann, cast.ben):
        for _ in range(4):
            people.label_next(user, cast.project, (1, -1, -1))
    return freeze(cast.project)


@pytest.fixture
def records(frozen: Release) -> list[str]:
    """The record ids, in the order of the release."""
    return list(frozen.records.order_by("ordinal").values_list("record_id", flat=True))


def board(cast: Cast) -> dict[str, Any]:
    found: dict[str, Any] = Caller(cast.admin).get(BOARD).json()
    return found


@pytest.mark.postgres
def test_lines_of_all_three_forms_make_one_set_and_are_told_again(
    cast: Cast, frozen: Release, records: list[str]
) -> None:
    choices = [{"order": [3, 4, 5], "choice": 3}, {"order": [5, 4, 3], "choice": 5}]
    lines: list[dict[str, Any]] = [
        {"record_id": records[0], "labels": {"3": 1, "4": -1, "5": 0}, "final_label": 1},
        {"record_id": records[1], "scores": {"3": 0.25, "4": 0.5, "5": 0.125}, "comment": "slept well"},
        {"record_id": records[2], "choices": choices},
    ]
    first = bring(cast, frozen, lines[0])
    rest = bring(cast, frozen, *lines)
    again = bring(cast, frozen, *lines)
    assert [(one.created, one.unchanged, one.missing) for one in (first, rest, again)] == [
        (1, 0, 0),
        (2, 1, 0),
        (0, 3, 0),
    ]
    (row,) = board(cast)["models"]
    whole = row["overall"]
    assert {name: whole[name] for name in ("pairs", "won", "tied", "lost")} == {
        "pairs": 8,
        "won": 2 + 1 + 1,
        "tied": 0.5,
        "lost": 3.5,
    }
    assert (whole["first_chosen"], whole["right_in_both"], whole["unreadable"]) == (1.0, 0.0, 2 / 8)
    assert (whole["absent"], row["overall"]["ranks"]["pair_accuracy"]) == (1, None)
    shares = {name: one["pair_accuracy"] for name, one in row["categories"].items()}
    assert sorted(shares.values()) == [1 / 4, 3.25 / 4]
    assert whole["category_mean"] == whole["pair_accuracy"] == 4.25 / 8

    shown = [frozen_record(actor=cast.admin, release=frozen, ordinal=at) for at in range(4)]
    for one in shown:
        add_predictions(one, PredictionSet.objects.get())
    assert [one.predicted for one in shown[0].steps] == [1, -1, 0] and shown[0].pairs == (2, 2)
    assert [one.score for one in shown[1].steps] == [0.25, 0.5, 0.125] and shown[1].pairs == (1, 2)
    assert [one.chosen for one in shown[2].steps] == [(1, 2), (0, 2), (1, 2)] and shown[2].wrong == 0
    assert (shown[1].comment, shown[3].asked) == ("slept well", False)
    assert verify(actor=OPERATOR, release=frozen).problems == ()


@pytest.mark.parametrize(
    ("said", "problem"),
    [
        ({"labels": {"2": 1}}, ("labels.2", "is not an option of this decision")),
        ({"scores": {"2": 1}}, ("scores.2", "is not an option of this decision")),
        ({"scores": {"x": 1}}, ('scores."x"', "is not a message index")),
        ({"choices": [{"order": [3, 9]}]}, ("choices[0].order", "is not an option of this decision")),
        ({"choices": [{"order": [3]}]}, ("choices[0].order", "must be a list of two or more different")),
        ({"labels": {}, "choices": []}, ("choices", "must hold one of labels, scores and choices")),
        ({}, ("labels", "must hold one of labels, scores and choices")),
        ({"labels": [1]}, ("step_labels", "must be an object of message index and label")),
    ],
)
def test_line_that_says_no_answer_is_refused_by_line_and_field_and_nothing_is_stored(
    cast: Cast, frozen: Release, records: list[str], said: dict[str, Any], problem: tuple[str, str]
) -> None:
    good = {"record_id": records[0], "scores": {"3": 1, "4": 0, "5": 0}}
    with pytest.raises(ImportRefused) as refused:
        bring(cast, frozen, good, {"record_id": records[1], **said})
    (error,) = refused.value.report["errors"]
    assert (error["line"], error["field"]) == (2, problem[0]) and error["reason"].startswith(problem[1])
    assert not PredictionSet.objects.exists()


def test_other_answer_to_a_record_is_refused_though_its_ranks_are_the_same(
    cast: Cast, frozen: Release, records: list[str]
) -> None:
    bring(cast, frozen, {"record_id": records[0], "scores": {"3": 1, "4": 0, "5": 0}})
    for other in ({"scores": {"3": 2, "4": 0, "5": 0}}, {"labels": {"3": 1, "4": 0, "5": 0}}):
        with pytest.raises(ImportRefused) as refused:
            bring(cast, frozen, {"record_id": records[0], **other})
        assert "another prediction" in refused.value.report["errors"][0]["reason"]


def test_api_and_page_take_choices_and_name_line_and_field_and_everybody_may_read_the_board(
    cast: Cast, frozen: Release, records: list[str]
) -> None:
    good = {"record_id": records[0], "choices": [{"order": [3, 4, 5], "choice": 3}]}
    bad = {"record_id": records[1], "choices": [{"order": [3, 3], "choice": 3}]}
    api, page = "/api/v1/projects/bench/releases/1.0/predictions/", "/p/bench/releases/1.0/"
    for lines, status in (((good, bad), 400), ((good,), 200)):
        said = Caller(cast.admin).client.post(
            f"{api}?model=Sage", content(*lines), content_type="application/x-ndjson"
        )
        assert said.status_code == status, said.content
        if status == 400:
            (error,) = said.json()["error"]["details"]["errors"]
            assert (error["line"], error["field"]) == (2, "choices[0].order")
    client = signed_in(cast.admin)
    file = SimpleUploadedFile("bold.jsonl", content(good, bad))
    refused = client.post(f"{page}predictions/", {"model": "Bold", "file": file}).content.decode()
    assert "choices[0].order" in refused and "one of labels, scores and choices" in refused
    assert PredictionSet.objects.get().model == "Sage"
    by_category = client.get(f"{page}leaderboard/?category=search").content.decode()
    assert "Makes a call" in by_category and "4 pairs: won 2, tied 0, lost 2" in by_category

    publish(frozen, shows_leaderboard=True)
    shown = signed_in(None).get("/public/bench/1.0/").content.decode()
    assert "Pair accuracy" in shown and "Makes a call" in shown and "Blind human" not in shown


def test_board_and_page_of_a_model_take_as_many_queries_however_many_there_are(
    cast: Cast, frozen: Release, records: list[str], django_assert_num_queries: Any
) -> None:
    said = [{"record_id": record, "scores": {"3": 1, "4": 0, "5": 0}} for record in records]
    bring(cast, frozen, *said)
    evaluate.fit_release(release_id=frozen.pk)
    with CaptureQueriesContext(connection) as one:
        leaderboard(actor=cast.admin, release=frozen)
    for name in ("Bold", "Calm"):
        bring(cast, frozen, *said, model=name)
    evaluate.fit_release(release_id=frozen.pk)
    with django_assert_num_queries(len(one)):
        made = leaderboard(actor=cast.admin, release=frozen)
    assert [row.name for row in made.models] == ["Bold", "Calm", "Sage"]
    row = PredictionSet.objects.select_related("release__project").get(model="Bold")
    with django_assert_num_queries(2):
        found = model_scores(actor=cast.admin, row=row)
    assert found.cuts["category"].keys() == {"search", "answer"} and found.confusion is None


# ── Published figures ─────────────────────
@pytest.mark.django_db
@pytest.mark.published
def test_published_labels_and_cues_win_tie_and_lose_the_pairs_of_hotpotqa(
    published: Path,
) -> None:
    """The 22 decisions where runs part; of each option, models said what they said of its step."""
    cast = people.make_cast(kind="decisions", annotators_per_trajectory=1)
    runs = Derivation(lambda: published_labels.hotpotqa_records(published), Recipe.SHARED)
    drafts = [decision_draft(decision) for decision in runs.decisions()]
    people.import_file(cast.project, b"\n".join(draft.raw for draft in drafts), subset="shared")
    keys = [
        {
            "record_id": draft.record_id,
            "step_labels": {one.message: one.value for one in draft.source_labels},
            "final_label": 1,
        }
        for draft in drafts
    ]
    stream = io.BytesIO(content(*keys))
    label.import_labels(
        actor=OPERATOR, project=cast.project, annotator="ann", stream=stream, filename="keys.jsonl"
    )
    made = freeze(cast.project)
    for model in published_labels.MODELS:
        with published_labels.prediction_file(published, model).open("rb") as file:
            steps = {one.record_id: one.step_labels for one in read_label_lines(file, "f").lines.values()}
        bring(cast, made, *(labels_of(json.loads(draft.raw), steps) for draft in drafts), model=model)
    evaluate.fit_release(release_id=made.pk)

    found = board(cast)

    counts = ("pairs", "won", "tied", "lost")
    everybody = (*found["models"], *found["baselines"])
    rows = {row["model"]: [row["overall"][name] for name in counts] for row in everybody}
    assert rows["makes_call"] == [104, 85, 16, 3]
    assert [rows[model] for model in published_labels.MODELS] == [
        [104, 65, 38, 1],
        [104, 61, 39, 4],
        [104, 7, 45, 52],
    ]
    first = found["models"][0]
    assert first["model"] == published_labels.MODELS[0] and not found["pending"]
    assert first["overall"]["pair_accuracy"] == (65 + 19) / 104
    assert first["overall"]["tasks"] == 22 and first["overall"]["intervals"]["pair_accuracy"] is not None
    assert run("leaderboard", "bench", "1.0", "--json").document == found


def labels_of(record: dict[str, Any], steps: dict[str, dict[int, int | None]]) -> dict[str, Any]:
    """The prediction line of a decision from a model's labels of the runs' steps."""
    first = len(record["history"])
    sources = [option["source"]["steps"][0] for option in record["options"]]
    labels = {at: steps[one["record_id"]].get(one["step"]) for at, one in enumerate(sources, first)}
    return {"record_id": record["record_id"], "labels": labels}
