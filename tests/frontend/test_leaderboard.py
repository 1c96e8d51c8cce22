"""The leaderboard of a release in the browser: reading, sorting, uploading, one model, deleting."""

from __future__ import annotations

import zlib
from types import SimpleNamespace

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from annotation.models import Exposure, PredictionSet, Trajectory
from annotation.reports.evaluation import powered_board
from annotation.reports.evaluation.leaderboard import ModelPair
from annotation.services import evaluate
from annotation.services import release as service
from frontend.pages.evaluation.evaluation import names_at
from frontend.pages.evaluation.leaderboard_pairs import pairs_of
from frontend.templatetags.tristep import percent
from tests import people
from tests.fixtures.judges import make_imported_judge
from tests.fixtures.resolved_tasks import make_resolved_tasks
from tests.fixtures.shared_rows import shared_rows
from tests.services.predicting import bring, content, line
from tests.services.rechecking import claim_as_reader
from tests.suggesting import suggest as suggests


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
    page = text(client.get(address))
    assert "the trained baseline are being computed" in page and "Rank" not in page
    assert "Tasks here: 2. Intervals and ranks need at least 20, so there are none." in page
    assert "Sage&lt;b&gt;" not in text(client.get(address + "?recalibrated=1"))
    service.set_public(actor=cast.admin, release=made, switches=service.PublicSwitches(True, True, False))
    known = browse("nobody").get(at("public-release", "bench", "1.0"))
    assert "Tasks here: 2." in text(known) and "Rank" not in text(known)

    evaluate.fit_release(release_id=made.pk)
    fitted = browse("nobody").get(known.wsgi_request.path_info, headers={"If-None-Match": known["ETag"]})
    assert fitted.status_code == 200 and "The trained baseline" in text(fitted)
    plain, page = text(client.get(address)), text(client.get(address + "?recalibrated=1&sort=kappa"))
    assert "the trained baseline are being computed" not in plain + page
    assert "The trained baseline" in plain and "All models, stacked" in plain
    assert "Sage&lt;b&gt;" in page and "are not ranked" in page and "Rank" not in page
    assert "Once" not in page and "fewer than two tasks" in page
    assert "+0.0" in page, "of the outcomes, which stay"
    page = text(client.get(at("model", "bench", "1.0", pk)))
    assert "after a regression" in page and "Tasks here: 2." in page


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


def test_leaderboard_shows_the_figures_that_its_address_names(browse, frozen, at):
    def headings(query: str) -> tuple[list[str], list[str]]:
        shown = browse("judith").get(at("leaderboard", "bench", "1.0") + query)
        kept = [one.split('"')[0] for one in shown.content.decode().split('<a class="sort" href="')[1:]]
        return [str(column["title"]) for column in shown.context["columns"]], kept

    assert headings("")[0] == ["Model", "StepAcc", "FirstErrAcc", "Cohen’s κ", "Outcome accuracy"]
    chosen, sorts = headings("?figure=f1_minus&figure=kappa&figure=none&sort=-f1_minus")
    assert chosen == ["Model", "Cohen’s κ", "F1 score of −1"]
    assert all("figure=f1_minus&amp;figure=kappa" in address for address in sorts), sorts


def test_upload_of_predictions_says_what_came_of_it(browse, frozen, at, text):
    client = browse("admin")
    data = content(line(0, {"2": 1, "4": 1}), line(0, {"2": 1, "4": "?"}))
    answer = client.post(at("predictions-import", "bench", "1.0"), upload(data, cost="2.5"))
    assert answer.status_code == 200
    page = " ".join(text(answer).split())
    assert "Bold: imported records: 1, unchanged: 0; missing labels: 1, failed judgements: 0." in page
    assert "not a label, and count as missing: 1." in page and "newer ones of the same record: 1." in page
    again = client.post(at("predictions-import", "bench", "1.0"), upload(data))
    assert "Bold: imported records: 0, unchanged: 1" in text(again)
    assert PredictionSet.objects.get(model="Bold").cost == 2.5


def test_numbers_from_elsewhere_are_pasted_or_uploaded_and_shown_with_their_correlations(
    browse, frozen, at, text
):
    client, place = browse("admin"), at("outside-numbers", "bench", "1.0")
    table = SimpleUploadedFile("gaia.csv", b"model,score\nSage<b>,0.5\nNobody,0.1\n")
    answer = client.post(place, {"title": "GAIA <i>", "numbers": "Late,7", "table": table}, follow=True)
    page = " ".join(text(answer).split())
    assert "Numbers set: 3." in page and "GAIA &lt;i&gt;" in page
    assert "Nobody <span" in page and "is neither on the leaderboard nor a policy model" in page
    assert "a correlation needs at least three models" in page
    client.post(place, {"title": "Elo", "numbers": "Nobody,-1.5"})
    page = text(browse("judith").get(at("leaderboard", "bench", "1.0") + "?outside=Elo"))
    assert "−1.5" in page and "Set numbers" not in page, "adjudicators read"
    for sent, said in (
        ({"title": "Elo", "numbers": "Sage,x"}, "Line 1: “x” is not a number."),
        ({"title": "Elo", "numbers": " "}, "Give at least one model"),
        ({"title": "", "numbers": "Sage,1"}, "This field is required"),
        ({"title": "Elo", "table": SimpleUploadedFile("a.csv", b"\xff\xfe")}, "not text in UTF-8"),
        ({"title": "Elo", "numbers": "x" * 121 + ",1"}, "at most 120 characters"),
    ):
        refused = client.post(place, sent)
        assert refused.status_code == 400 and said in text(refused), sent


def test_uploads_of_several_files_come_in_each_for_itself(browse, frozen, at, text):
    files = [
        SimpleUploadedFile("good.jsonl", content(line(0, {"2": 1, "4": 1}))),
        SimpleUploadedFile("bad.jsonl", content(line(8), line(9))),
        SimpleUploadedFile("empty.jsonl", b""),
    ]
    answer = browse("admin").post(
        at("predictions-import", "bench", "1.0"), {"model": "Bold", "subset": "two", "file": files}
    )
    assert answer.status_code == 400
    page = text(answer)
    assert "Bold: imported records: 1, unchanged: 0" in page
    assert "bad.jsonl: 2 errors" in " ".join(page.split()) and "is not in the subset" in page
    assert "empty.jsonl:" in page and "good.jsonl:" not in page
    assert PredictionSet.objects.get(model="Bold").record_count == 1


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
    page = text(client.get(at("leaderboard", "bench", "1.0")))
    assert "The predictions of Sage&lt;b&gt; are deleted." in page
    assert "the blind human are being computed" in page, "nobody has looked for it yet"
    assert not PredictionSet.objects.exists()


def test_best_of_n_and_the_benchmark_have_pages_that_say_what_is_undefined(browse, frozen, at, text):
    client = browse("judith")
    page = text(client.get(at("release-best-of-n", "bench", "1.0")))
    assert "Nothing to choose from" in page, "each task has one run"
    page = text(client.get(at("release-benchmark", "bench", "1.0")))
    assert "Pearson’s r is undefined over 0 models: a correlation needs at least three models." in page
    assert "Labels and first errors by policy model" in page and "Reading the benchmark" in page
    assert "20 tasks, are needed to say how large a benchmark has to be" in page
    PredictionSet.objects.all().delete()
    assert "No predictions yet" in text(client.get(at("release-best-of-n", "bench", "1.0")))


def test_errors_of_a_model_open_as_the_release_holds_them(browse, cast, frozen, at, text):
    row = PredictionSet.objects.get()
    client = browse("judith")
    errors = at("release-errors", "bench", "1.0", row.pk)
    page = text(client.get(errors))
    assert "1 trajectory" in page and "tiny:0:0" in page
    cell = text(client.get(f"{errors}?released=1&predicted=0"))
    assert "Steps labelled +1 in the release, and 0 by the model" in cell and "#m4" in cell
    assert "Nothing matches" in text(client.get(f"{errors}?released=-1&predicted=none"))
    lines = b"".join(client.get(f"{errors}?subset=one&as=csv").streaming_content).decode().splitlines()
    assert lines == ["record_id,subset,wrong_steps,steps,first_error,outcome", "tiny:0:0,one,1,2,right,right"]
    assert "The first error: no error, as in the release" in text(client.get(f"{errors}?first=neither"))
    assert "“x” is no value of the filter “first”." in text(client.get(f"{errors}?first=x"))
    there = at("release-predicted", "bench", "1.0", row.pk, 0)
    trajectory = Trajectory.objects.get(subset__name="one")
    content = trajectory.content
    # a list that tells of labels is noted like the reading of them
    assert Exposure.objects.get(user=cast.judith).trajectory == trajectory
    Exposure.objects.all().delete()
    type(content).objects.filter(pk=content.pk).update(content=zlib.compress(b'{"messages": []}'))
    page = text(client.get(there))
    assert "differs from the release on 1 of 2 steps" in page and "Question 0?" in page
    assert page.count('class="msg msg--step msg--disputed"') == 1
    assert Exposure.objects.get(user=cast.judith).trajectory == trajectory
    assert client.get(at("release-predicted", "bench", "1.0", row.pk, 9)).status_code == 404
    assert "The model has no prediction" in text(
        client.get(at("release-predicted", "bench", "1.0", row.pk, 1))
    )
    message = client.get(at("release-message", "bench", "1.0", 0, 2)).json()
    assert message["exact"] and message["text"]


def test_whoever_labels_a_trajectory_reads_no_labels_of_it_in_a_release(browse, cast, frozen, at, text):
    claim_as_reader(cast.cleo, Trajectory.objects.get(subset__name="one"))
    people.make_member(cast.project, cast.cleo, "annotator", "adjudicator")
    row = PredictionSet.objects.get()
    client = browse("cleo")
    detail = f"/api/v1/projects/bench/releases/1.0/predictions/{row.pk}/"
    for who, listed in (("judith", 1), ("cleo", 0)):
        page, stated = text(browse(who).get(at("model", "bench", "1.0", row.pk))), browse(who).get(detail)
        assert page.count("tiny:0:0") == len(stated.json()["scores"]["worst"]) == listed
    assert set(Exposure.objects.values_list("user__username", "kind")) == {("judith", "consensus")}
    assert client.get(at("release-predicted", "bench", "1.0", row.pk, 0)).status_code == 403
    assert client.get(at("release-record", "bench", "1.0", 0)).status_code == 403
    assert b"tiny:0:0" not in client.get(at("release-errors", "bench", "1.0", row.pk)).content
    assert client.get(at("release-record", "bench", "1.0", 1)).status_code == 200


def test_names_of_models_in_a_picture_keep_off_each_other_and_off_other_points():
    side_by_side = [(230.0, 0.0), (200.0, 2.0), (20.0, 1.0)]
    right, left, alone = names_at(side_by_side)
    assert right["left"] and left["left"] and not alone["left"]
    assert float(right["y"]) - float(left["y"]) == 12  # its name would run over the other's point
    assert float(alone["y"]) == 5
    assert names_at([(1.0, 1.0)] * 9) == [None] * 9


def test_shares_below_nothing_have_a_minus_that_is_no_hyphen_and_nothing_has_none():
    assert [percent(share) for share in (-0.109, -0.0001, 0.159, None)] == [
        *("−10.9\u00a0%", "0.0\u00a0%", "15.9\u00a0%", "–")
    ]


def test_pairs_that_do_not_hold_with_so_many_wrong_labels_are_grey():
    def pair(tolerated: float | None) -> ModelPair:
        return ModelPair("A", "B", 0.2, 0.1, 0.01, tolerated)

    row = SimpleNamespace
    board = SimpleNamespace(pairs=(pair(0.03),), models=(row(name="A"), row(name="B"), row(name="C")))
    for error, holds in (("", True), ("2,9", True), ("3", False), ("nonsense", True), ("-1", True)):
        (found,) = pairs_of(board, {"error": error})["rows"]
        assert found.holds is holds, error
    board.pairs = (pair(None),)
    (found,) = pairs_of(board, {"with": "B"})["rows"]
    assert not found.holds and found.pair.low == pytest.approx(0.1)


def test_figures_with_judges_labels_are_a_choice_with_what_they_are_worth_and_no_rank(
    browse, cast, at, text, monkeypatch
):
    rows = make_resolved_tasks(cast, tasks=22, spare=20)
    judges = [make_imported_judge(cast.project, name) for name in ("One", "Two")]
    for place, row in enumerate(rows):
        for judge in judges:
            suggests(judge, row, [1, -1 if row.sample_index and place % 3 else 1, 1])
    made = service.freeze(actor=cast.admin, project=cast.project, version="1.0")
    for model, misses in (("Sage<b>", 5), ("Bold", 7)):
        said = [1 if not row.sample_index or place % misses == 0 else -1 for place, row in enumerate(rows)]
        bring(
            cast,
            made,
            *(
                {
                    "record_id": row.record_id,
                    "step_labels": {"2": 1, "4": middle, "6": 1},
                    "final_label": middle,
                }
                for row, middle in zip(rows, said, strict=True)
            ),
            model=model,
        )
    bring(
        cast, made, {"record_id": rows[0].record_id, "step_labels": {"2": 1}, "final_label": 1}, model="Once"
    )
    client, address = browse("judith"), at("leaderboard", "bench", "1.0")
    assert "they are being worked out" in text(client.get(address + "?powered=1"))
    evaluate.fit_release(release_id=made.pk)
    assert "at least 50 tasks with people’s labels" in text(client.get(address + "?powered=1"))
    monkeypatch.setattr(powered_board, "FEWEST_TASKS", 20)
    page = text(client.get(address + "?powered=1"))
    assert "Trajectories in the unlabelled part of this release: 20." in page
    assert "22 tasks, worth" in page and "Sage&lt;b&gt;" in page
    assert "there are no predictions for all of the release" in page and "Differences of neighbours" in page
    assert "at least 200 tasks with people’s labels" in page and "Rank" not in page
    assert "tasks, worth" not in text(client.get(address))
