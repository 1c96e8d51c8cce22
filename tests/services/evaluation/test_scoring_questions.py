"""Predictions of a release of questions: what a line may say, what of it is kept, and the figures of it."""

from __future__ import annotations

import csv
import io
import json
import zlib
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from annotation.core.errors import ImportRefused
from annotation.core.trajectories.trajectory import TrajectoryDraft
from annotation.importers import FORMATS, ReadContext
from annotation.models import PredictionSet, Project, Release, ReleaseOutline
from annotation.policies import OPERATOR
from annotation.services import label
from annotation.services.release import verify
from tests import people
from tests.callers import Caller, signed_in
from tests.commands.calling import run
from tests.fixtures.decisions import import_decisions
from tests.fixtures.shared_rows import shared_rows
from tests.people import Cast
from tests.services.predicting import bring, content
from tests.services.publishing import freeze, publish

BOARD = "/projects/bench/releases/1.0/leaderboard/"
SAID = ("B) because", "The answer is B)", "I think (C) not (B)", "b)", "B", "**B**", "B）")
"""Outputs about as many choices whose key is B (the third: C)."""
PUBLISHED = ("B", "B", "C", "b", None, None, None)
COMMAND, TWICE = "run", "twice"


def question(uuid: str, key: str = "B") -> dict[str, Any]:
    """A choice, as APTBench has it."""
    asked = {"setup_instruct": "Set up.", "issue_title": f"Fails: {uuid}", "issue_body": "Why?"}
    return {"uuid": uuid, **asked, "choices": "(A) one\n(B) two, rather\n(C) three", "answer": key}


def by_key(project: Project, subset: str, lines: list[dict[str, Any]], filename: str = "f.jsonl") -> None:
    """Import lines as a set, and label them as their keys say."""
    data = people.jsonl(lines)
    people.import_file(project, data, format="aptbench", subset=subset, filename=filename)
    drafts = list(FORMATS["aptbench"].read(io.BytesIO(data), ReadContext(filename)))
    keys = [
        {
            "record_id": draft.record_id,
            "step_labels": {one.message: one.value for one in draft.source_labels},
            "final_label": 1,
        }
        for draft in drafts
        if isinstance(draft, TrajectoryDraft)
    ]
    stream = io.BytesIO(content(*keys))
    label.import_labels(
        actor=OPERATOR,
        project=project,
        annotator="ann",
        stream=stream,
        filename="keys.jsonl",
        subset=subset,
    )


@shared_rows
def cast() -> Cast:
    """A project of choices u0 … u6, a command, and a choice that two sets have."""
    cast = people.make_cast(kind="decisions", annotators_per_trajectory=1)
    command = {"uuid": COMMAND, "execution_plan": "step1: run", "executed_cmds": "", "target_cmd": "run it"}
    choices = [question(f"u{at}", "C" if at == 2 else "B") for at in range(len(SAID))]
    by_key(cast.project, "one", [*choices, command, question(TWICE)])
    by_key(cast.project, "two", [question(TWICE)], "g_zh.jsonl")
    return cast


@shared_rows
def frozen(cast: Cast) -> Release:
    """A release of all of them."""
    return freeze(cast.project)


def board(cast: Cast, query: str = "") -> dict[str, Any]:
    found: dict[str, Any] = Caller(cast.admin).get(BOARD + query).json()
    return found


def outputs(*said: str) -> list[dict[str, Any]]:
    return [{"uuid": f"u{at}", "output": output} for at, output in enumerate(said)]


@pytest.mark.postgres
def test_outputs_are_read_twice_and_what_is_empty_or_unreadable_is_counted(
    cast: Cast, frozen: Release
) -> None:
    made = bring(cast, frozen, *outputs(*SAID), {"uuid": COMMAND, "pred": " \n"})
    assert (made.created, made.missing, made.invalid) == (8, 0, 0)
    (row,) = board(cast)["models"]
    whole, first = row["overall"], row["subsets"]["one"]
    assert whole["counts"] == {
        "questions": 9,
        "empty": 2,  # the command, and the choice without a line
        "unreadable": 0,
        "right": 7.0,
        "right_published": 3.0,
    }
    assert (whole["accuracy"], whole["accuracy_published"]) == (7 / 9, 3 / 7)
    assert (first["n"]["accuracy"], first["n"]["accuracy_published"]) == (9, 7)
    assert (row["all_subsets"], whole["absent"], whole["effective_questions"]) == (False, 1, None)
    assert {name: one["n"]["accuracy"] for name, one in row["abilities"].items()} == {
        "atomic": 8,
        "action": 1,
    }
    assert row["languages"].keys() == {"en"} and row["lengths"].keys() == {"0-2000"}
    assert verify(actor=OPERATOR, release=frozen).problems == ()


def test_labels_of_options_answer_choices_and_the_same_again_changes_nothing(
    cast: Cast, frozen: Release
) -> None:
    rows = dict(frozen.records.values_list("record_id", "ordinal"))
    record = min(rows, key=lambda name: rows[name])
    first = bring(cast, frozen, {"record_id": record, "labels": {"3": -1, "4": 1, "5": -1}})
    more = bring(
        cast, frozen, *outputs("A)", "A)")[1:], {"record_id": record, "labels": {"3": -1, "4": 1, "5": -1}}
    )
    again = bring(cast, frozen, *outputs("A)", "A)")[1:])
    assert [(one.created, one.unchanged) for one in (first, more, again)] == [(1, 0), (1, 1), (0, 1)]
    (row,) = board(cast)["models"]
    assert (row["overall"]["counts"]["right"], row["overall"]["counts"]["empty"]) == (1.0, 7)
    with pytest.raises(ImportRefused) as refused:
        bring(cast, frozen, {"uuid": "u1", "output": "A) "})
    assert "another prediction" in refused.value.report["errors"][0]["reason"]


@pytest.mark.parametrize(
    ("line", "field", "reason"),
    [
        ({"uuid": "u1", "output": 5}, "output", "must be text"),
        ({"uuid": "u1", "pred": None}, "pred", "must be text"),
        ({"uuid": "u1"}, "output", "is missing"),
        ({"output": "B)"}, "record_id", "is missing"),
        ({"uuid": 7, "output": "B)"}, "uuid", "must be text"),
        ({"uuid": "u1", "output": "B)", "pred": "B)"}, "pred", "stands beside output"),
        ({"uuid": "u1", "output": "B)", "labels": {"3": 1}}, "labels", "stands beside an output"),
        ({"uuid": TWICE, "output": "B)"}, "uuid", '"twice" is in several subsets'),
        ({"uuid": "u1", "record_id": "u2", "output": "B)"}, "record_id", '"u2" is not in this release'),
        ({"uuid": "u1", "scores": {"3": 1}}, "scores", "is about a question, which is answered by output"),
        ({"uuid": COMMAND, "labels": {"1": 1}}, "labels", "is about a question that asks for a text"),
    ],
)
def test_line_that_says_no_answer_is_refused_by_line_and_field_and_nothing_is_stored(
    cast: Cast, frozen: Release, line: dict[str, Any], field: str, reason: str
) -> None:
    with pytest.raises(ImportRefused) as refused:
        bring(cast, frozen, {"uuid": "u0", "output": "B)"}, line, strict=True)
    (error,) = refused.value.report["errors"]
    assert (error["line"], error["field"]) == (2, field) and error["reason"].startswith(reason)
    assert not PredictionSet.objects.exists()


def test_unknown_question_is_left_out_and_of_two_lines_the_later_counts(cast: Cast, frozen: Release) -> None:
    said = [
        {"uuid": "u0", "output": "A)"},
        {"uuid": "nobody's", "output": "A)"},
        {"uuid": "u0", "output": "B)"},
    ]
    made = bring(cast, frozen, *said, {"uuid": TWICE, "output": "B)"}, subset="one")
    assert (made.created, made.elsewhere, made.superseded) == (2, 1, 1)
    assert board(cast)["models"][0]["overall"]["counts"]["right"] == 2.0


def test_page_api_command_and_public_address_tell_of_questions(
    cast: Cast, frozen: Release, tmp_path: Path
) -> None:
    good, bad = outputs(*SAID), {"uuid": "u1", "output": 5}
    api, page = "/api/v1/projects/bench/releases/1.0/predictions/", "/p/bench/releases/1.0/"
    for lines, status in (([*good, bad], 400), (good, 200)):
        said = Caller(cast.admin).client.post(
            f"{api}?model=Sage", content(*lines), content_type="application/x-ndjson"
        )
        assert said.status_code == status, said.content
        if status == 400:
            (error,) = said.json()["error"]["details"]["errors"]
            assert (error["line"], error["field"]) == (8, "output")
    client = signed_in(cast.admin)
    file = SimpleUploadedFile("bold.jsonl", content(good[0], bad))
    refused = client.post(f"{page}predictions/", {"model": "Bold", "file": file}).content.decode()
    assert "a number is written in quotes" in refused and PredictionSet.objects.get().model == "Sage"

    path = tmp_path / "Calm.jsonl"
    path.write_bytes(content(*outputs("none of them", "", "A)")))
    run("import_predictions", "bench", "1.0", str(path))
    found = run("leaderboard", "bench", "1.0", "--json").document
    assert found == board(cast)
    assert [row["model"] for row in found["models"]] == ["Sage", "Calm"]
    assert [row["model"] for row in found["baselines"]] == ["chance", "always_a", "longest"]
    assert found["key_positions"]["counts"] == [0, 8, 1] and found["scored_by"] == "questions"
    assert "9 questions: empty 7, unreadable 1" in run("leaderboard", "bench", "1.0").out

    publish(frozen, shows_leaderboard=True)
    shown = signed_in(None).get("/public/bench/1.0/").content.decode()
    assert "Accuracy, published reading" in shown and "Always A" in shown


def test_page_of_a_model_lists_outputs_beside_keys_by_verdict(cast: Cast, frozen: Release) -> None:
    said = [*SAID[:4], "none of them", "", "<b>A)</b>"]
    bring(cast, frozen, *outputs(*said), {"uuid": COMMAND, "output": "run it"})
    place = f"/p/bench/releases/1.0/models/{PredictionSet.objects.get().pk}/"
    client = signed_in(cast.admin)
    for verdict, names in (
        ("right", ["u0", "u1", "u2", "u3", COMMAND]),
        ("wrong", ["u6"]),
        ("unreadable", ["u4"]),
        ("empty", ["u5", TWICE]),
    ):
        query = f"records/?verdict={verdict}&as=csv"
        rows = list(csv.DictReader(io.StringIO(b"".join(client.get(place + query)).decode("utf-8-sig"))))
        assert sorted(row["uuid"] for row in rows) == sorted(names)
        assert {row["verdict"] for row in rows} == {verdict}
        keys = {COMMAND: "run it", "u2": "C) three"}
        assert all(row["key"] == keys.get(row["uuid"], "B) two, rather") for row in rows)
    shown = client.get(f"{place}records/").content.decode()
    assert "&lt;b&gt;A)&lt;/b&gt;" in shown and "<b>A)" not in shown and "published: not right" in shown
    assert client.get(f"{place}records/?verdict=odd").status_code == 400
    page = client.get(place).content.decode()
    assert "Answers by verdict" in page and "?verdict=unreadable" in page
    record = client.get(f"{place}records/4/").content.decode()
    assert "none of them" in record and "not right by the published reading" in record


def test_release_that_asks_for_texts_alone_has_a_board_before_any_model(cast: Cast) -> None:
    other = people.make_project("texts", kind="decisions", annotators_per_trajectory=1)
    text = {"uuid": "c", "execution_plan": "step1: run", "executed_cmds": "", "target_cmd": "run it"}
    by_key(other, "one", [text])
    freeze(other)
    shown = signed_in(cast.root).get("/p/texts/releases/1.0/leaderboard/")
    assert shown.status_code == 200 and "No model has answered" in shown.content.decode()


def test_release_of_questions_and_pairs_is_scored_by_questions_with_a_switch(cast: Cast) -> None:
    (pair,) = import_decisions(cast.project, subset="pairs")
    label_as(cast, pair.record_id)
    made = freeze(cast.project)
    bring(cast, made, *outputs("B)"), {"record_id": pair.record_id, "scores": {"3": 1, "4": 0}})
    asked, pairs = board(cast), board(cast, "?by=pairs")
    assert (asked["scored_by"], asked["models"][0]["overall"]["counts"]["questions"]) == ("questions", 9)
    assert pairs["scored_by"] == "pairs" and pairs["models"][0]["subsets"]["pairs"]["won"] == 1
    with pytest.raises(ImportRefused, match="refused") as refused:
        bring(cast, made, {"record_id": pair.record_id, "output": "B)"}, model="Bold")
    assert refused.value.report["errors"][0]["reason"].startswith("is about no question")


def label_as(cast: Cast, record_id: str) -> None:
    """Label the first option of a pair +1, the other −1."""
    line = {"record_id": record_id, "step_labels": {"3": 1, "4": -1}, "final_label": 1}
    label.import_labels(
        actor=OPERATOR,
        project=cast.project,
        annotator="ann",
        stream=io.BytesIO(content(line)),
        filename="keys.jsonl",
        subset="pairs",
    )


def test_outline_of_an_older_version_is_made_anew(cast: Cast, frozen: Release) -> None:
    bring(cast, frozen, *outputs("B)"))
    made = board(cast)
    kept = ReleaseOutline.objects.get()
    older = json.loads(zlib.decompress(bytes(kept.labels)))
    del older["decisions"]["questions"]
    kept.labels = zlib.compress(json.dumps(older).encode())
    kept.save()
    assert board(cast) == made


# ── Published figures ─────────────────────
@pytest.mark.django_db
@pytest.mark.published
def test_published_outputs_earn_the_published_figures(published: Path) -> None:
    def lines(name: str) -> list[dict[str, Any]]:
        texts = (published / "aptbench" / f"{name}.jsonl").read_text().splitlines()
        return [json.loads(text) for text in dict.fromkeys(texts)]

    cast = people.make_cast(kind="decisions", annotators_per_trajectory=1)
    answers, commands = {name: lines(f"summ_ans_{name}") for name in ("en", "zh")}, lines("action")
    for name, asked in answers.items():
        by_key(cast.project, name, asked, f"summ_ans_{name}.jsonl")
    by_key(cast.project, "first", commands[:1000])
    by_key(cast.project, "rest", commands[1000:])
    release = freeze(cast.project)
    pip = [{"uuid": one["uuid"], "pred": "pip install -r requirements.txt"} for one in commands]
    nearly = [
        {"uuid": one["uuid"], "output": one["query_answer"] + "]"}
        for asked in answers.values()
        for one in asked
    ]
    bring(cast, release, *nearly, *pip)
    bring(cast, release, *({**one, "pred": ""} for one in pip[:2]), *pip[2:1000], model="Mute")

    rows = {row["model"]: row["subsets"] for row in board(cast)["models"]}

    near = {
        name: [round(100 * rows["Sage"][name][f"rouge_{which}"], 4) for which in "12l"] for name in answers
    }
    assert near == {"en": [21.4740, 12.8464, 21.3774], "zh": [33.8641, 29.9363, 33.8641]}
    right = {name: one["counts"]["right"] for name, one in rows["Sage"].items()}
    assert (right["en"], right["zh"], right["first"] + right["rest"]) == (17, 17, 101)
    assert {name: one["n"]["accuracy"] for name, one in rows["Sage"].items()} == {
        "en": 161,
        "zh": 138,
        "first": 1000,
        "rest": 84,
    }
    mute = rows["Mute"]["first"]
    lost = sum(one["target_cmd"] == "pip install -r requirements.txt" for one in commands[:2])
    assert mute["accuracy"] == (right["first"] - lost) / 1000
    assert mute["accuracy_published"] == (right["first"] - lost) / 998
    assert (mute["n"]["accuracy_published"], mute["counts"]["empty"]) == (998, 2)
