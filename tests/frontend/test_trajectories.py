"""Trajectories as admins read them: filters, and one with its labels; seeing labels is noted."""

from __future__ import annotations

import csv
import io

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotation.core.vocabulary import ExposureKind
from annotation.models import Exposure, Membership, Trajectory
from annotation.policies import OPERATOR
from annotation.reports.work import trajectory_list
from annotation.services import suggest
from frontend.rendering import csv_lines
from tests import people
from tests.fixtures.shared_rows import shared_rows

HOSTILE = "<script>alert(1)</script>\x00\ud800<img src=x onerror=alert(2)>"


def test_trajectories_are_filtered_by_subset_state_model_and_words(browse, cast, at, text):
    people.import_records(cast.project, 2, subset="one", policy_models={0: "Model A"})
    people.import_records(cast.project, [people.make_record(7, question="Where is Ürümqi?")], subset="two")
    people.make_unanimous(cast)
    client, url = browse("admin"), at("trajectories", "bench")

    def found(query: str) -> int:
        return client.get(url + query).context["page"].paginator.count

    assert found("") == 3
    assert found("?subset=one") == 2
    assert found("?state=unanimous") == 1
    assert found("?model=Model+A") == 2
    assert found("?q=tiny:7") == 1
    assert found("?q=is+%C3%9Cr%C3%BCmqi") == 1
    assert found("?q=nothing") == 0
    assert "Nothing matches" in text(client.get(url + "?q=nothing"))
    assert found("?subset=one&page=99") == 2
    assert client.get(url + "?q=%00").status_code == 400


def test_hostile_text_is_shown_and_does_nothing(browse, cast, at, text):
    record = people.make_record(0, question=HOSTILE)
    record["messages"][1]["content"] = HOSTILE
    record["messages"][2]["tool_calls"][0]["function"] = {"name": HOSTILE, "arguments": "{not json"}
    trajectory = people.import_records(cast.project, [record])[0]
    client = browse("admin")
    for url in (at("trajectories", "bench"), at("trajectory", "bench", trajectory.pk)):
        page = text(client.get(url))
        assert "<script>alert" not in page
        assert "<img src=x" not in page
        assert "&lt;script&gt;alert(1)" in page
        assert "␀" in page


def test_admin_sees_all_labels_with_names_and_that_is_noted(browse, cast, at, text):
    trajectory = people.import_records(cast.project, 1)[0]
    people.label_next(cast.ann, cast.project, [1, -1], note="A remark of Ann")
    page = text(browse("admin").get(at("trajectory", "bench", trajectory.pk)))
    assert "A remark of Ann" in page
    seen = Exposure.objects.get()
    assert (seen.user, seen.kind, seen.trajectory) == (cast.admin, ExposureKind.LABEL, trajectory)


def test_admin_who_also_labels_is_asked_before_labels_are_shown(browse, cast, at, text):
    Membership.objects.filter(user=cast.admin).update(is_annotator=True)
    trajectory = people.import_records(cast.project, 1)[0]
    people.label_next(cast.ann, cast.project, note="A remark of Ann")
    client, url = browse("admin"), at("trajectory", "bench", trajectory.pk)
    page = text(client.get(url))
    assert "A remark of Ann" not in page
    assert "you can no longer claim this trajectory" in page
    assert not Exposure.objects.exists()
    assert client.post(url).url == url
    assert "A remark of Ann" in text(client.get(url))
    assert "nothing left" in text(client.post(at("claim", "bench"), follow=True))


def test_admin_who_is_labelling_it_sees_nobody_elses_labels(browse, cast, at, text):
    Membership.objects.filter(user=cast.admin).update(is_annotator=True)
    trajectory = people.import_records(cast.project, 1)[0]
    people.label_next(cast.ann, cast.project, note="A remark of Ann")
    people.claim(cast.admin, cast.project)
    client, url = browse("admin"), at("trajectory", "bench", trajectory.pk)
    for page in (text(client.get(url)), text(client.post(url, follow=True))):
        assert "A remark of Ann" not in page
        assert "You are labelling this trajectory yourself" in page
    assert not Exposure.objects.exists()


def test_trajectories_found_are_live_and_of_the_project(browse, cast, at):
    trajectory = people.import_records(cast.project, 1)[0]
    Trajectory.objects.update(live=False)
    assert browse("admin").get(at("trajectory", "bench", trajectory.pk)).status_code == 404
    other = people.import_records(people.make_project("other"), 1)[0]
    assert browse("admin").get(at("trajectory", "bench", other.pk)).status_code == 404


# ── The list: orders, what was said, CSV ──
def records(response) -> list[str]:
    return [row.record_id for row in response.context["page"]]


def judge_says(cast, trajectory, name: str, values: list[int]) -> None:
    labels = dict(zip(map(str, people.step_indexes(trajectory)), values, strict=True))
    line = {"record_id": trajectory.record_id, "step_labels": labels, "final_label": 1}
    suggest.import_suggestions(
        actor=OPERATOR,
        project=cast.project,
        judge_name=name,
        stream=io.BytesIO(people.jsonl([line])),
        filename="judge.jsonl",
    )


@shared_rows
def labelled(cast):
    """Three trajectories, of two, three and four steps: unanimous, disputed on one of three steps, free."""
    for number, steps in enumerate((2, 3, 4)):
        people.import_records(cast.project, [people.make_record(number, steps=steps)])
    people.make_unanimous(cast)
    for user, values in ((cast.ann, [1, 1, -1]), (cast.ben, [1, -1, -1])):
        people.label_next(user, cast.project, values)
    return list(cast.project.trajectories.order_by("position"))


def test_trajectories_are_ordered_by_each_column_both_ways(browse, labelled, at, text):
    client, url = browse("admin"), at("trajectories", "bench")
    first, second, third = (row.record_id for row in labelled)
    assert records(client.get(url)) == [first, second, third]
    assert records(client.get(f"{url}?sort=-steps")) == [third, second, first]
    assert records(client.get(f"{url}?sort=-record")) == [third, second, first]
    assert records(client.get(f"{url}?sort=annotators"))[0] == third
    assert records(client.get(f"{url}?sort=-annotators"))[2] == third
    # those without a value come last, whichever way
    assert records(client.get(f"{url}?labels=1&sort=agreement")) == [second, first, third]
    assert records(client.get(f"{url}?labels=1&sort=-agreement")) == [first, second, third]
    page = text(client.get(f"{url}?sort=-steps&state=labelling"))
    assert 'aria-sort="descending"' in page
    assert "?sort=steps&amp;state=labelling" in page


def test_trajectories_are_ordered_by_judges_doubt(browse, cast, labelled, at):
    first, second, third = labelled
    for name, values in (("one", [1, 1, 1, 1]), ("two", [1, 1, -1, -1])):
        judge_says(cast, third, name, values)
        judge_says(cast, first, name, values[:2])
    client, url = browse("admin"), at("trajectories", "bench")
    found = client.get(f"{url}?labels=1&sort=-doubt")
    assert records(found) == [third.record_id, first.record_id, second.record_id]
    # two of four steps and the outcome; nothing of two steps and the outcome
    assert [row.doubt for row in found.context["page"]] == [2 / 5, 0, None]


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ("subset=nowhere", "There is no subset “nowhere”."),
        ("state=odd", "There is no state “odd”."),
        ("model=X", "There is no policy model “X” in this project."),
        ("annotator=oscar", "There is no annotator “oscar” in this project."),
        ("sort=colour", "There is no order “colour”."),
        ("sort=agreement", "Sorting by labels would reveal them: show the labels first."),
    ],
)
def test_filter_that_is_unknown_gets_one_sentence(browse, labelled, at, text, query, sentence):
    response = browse("admin").get(f"{at('trajectories', 'bench')}?{query}")
    assert response.status_code == 400
    assert text(response).count(sentence) == 1
    assert browse("admin").get(f"{at('trajectories-export', 'bench')}?{query}").status_code == 400


def test_trajectories_filters_combine(browse, cast, labelled, at):
    client, url = browse("admin"), at("trajectories", "bench")
    assert len(records(client.get(f"{url}?annotator=ann"))) == 2
    assert records(client.get(f"{url}?annotator=ann&state=disputed&q=tiny")) == [labelled[1].record_id]
    assert records(client.get(f"{url}?annotator=cleo")) == []


def test_list_shows_labels_when_asked_and_notes_it(browse, cast, labelled, at, text):
    client, url = browse("admin"), at("trajectories", "bench")
    page = text(client.get(url))
    assert "Ann, Ben" in page
    assert 'class="strip"' not in page
    assert not Exposure.objects.exists()
    page = text(client.get(f"{url}?labels=1"))
    assert "Labels: +1, differ, −1. Outcome: +1." in page
    assert "66.7" in page
    seen = Exposure.objects.filter(user=cast.admin, kind=ExposureKind.LABEL)
    assert set(seen.values_list("trajectory", flat=True)) == {row.pk for row in labelled[:2]}


def test_list_keeps_labels_from_an_admin_who_could_still_claim(browse, cast, at, text):
    Membership.objects.filter(user=cast.admin).update(is_annotator=True)
    rows = people.import_records(cast.project, 3)
    people.label_next(cast.ann, cast.project, [-1, -1])
    people.claim(cast.admin, cast.project)
    for name in ("one", "two"):
        judge_says(cast, rows[0], name, [1, 1] if name == "one" else [-1, -1])
    client = browse("admin")
    page = text(client.get(at("trajectories", "bench") + "?labels=1&sort=-doubt"))
    assert page.count("hidden: you may label it") == 3
    assert "−1" not in page.partition("<tbody>")[2].partition("</tbody>")[0]
    found = client.get(at("trajectories", "bench") + "?labels=1&sort=-doubt").context["page"]
    assert [row.pk for row in found] == [row.pk for row in reversed(rows)], "the first one is not the first"
    exported = b"".join(client.get(at("trajectories-export", "bench") + "?labels=1").streaming_content)
    assert b"2:-1" not in exported
    assert b"0.6" not in exported
    assert not Exposure.objects.exists()


def test_export_of_trajectories_has_the_same_rows_and_no_formula(browse, cast, labelled, at):
    question = '=HYPERLINK("https://evil.example","x")'
    people.import_records(cast.project, [people.make_record(9, steps=5, question=question)])
    url = at("trajectories-export", "bench")
    response = browse("admin").get(f"{url}?sort=-steps")
    assert response.streaming
    rows = list(csv.DictReader(io.StringIO(b"".join(response.streaming_content).decode())))
    assert [row["steps"] for row in rows] == ["5", "4", "3", "2"]
    assert rows[0]["question"] == f"'{question}"
    assert "labels" not in rows[0]
    labels = browse("admin").get(f"{url}?labels=1&state=disputed").streaming_content
    (row,) = csv.DictReader(io.StringIO(b"".join(labels).decode()))
    assert (row["labels"], row["outcome"], row["annotators"]) == ("2:1 4:? 6:-1", "1", "Ann; Ben")


@pytest.mark.parametrize("cell", ["=1+1", "+1", "-cmd", "@SUM(A1)", "\t=1", " =1", "\r=1"])
def test_csv_cell_that_a_spreadsheet_would_compute_is_text(cell):
    assert csv_lines.safe(cell) == f"'{cell}"
    assert csv_lines.safe(-1) == "-1"
    assert csv_lines.safe(None) == ""


def test_list_with_labels_asks_the_same_number_of_questions_whatever_it_shows(browse, cast, at):
    counts = []
    client, url = browse("admin"), at("trajectories", "bench") + "?labels=1"
    for number in range(2):
        people.import_records(cast.project, 3, subset=f"s{number}")
        people.make_unanimous(cast)
        people.make_disputed(cast)
        client.get(url)  # what is seen, is noted
        with CaptureQueriesContext(connection) as asked:
            client.get(url)
        counts.append(len(asked))
    assert counts == [28, 28]


@pytest.mark.parametrize(
    "sort", ["queue", "record", "-model", "-steps", "-annotators", "state", "agreement", "-agreement"]
)
def test_list_in_each_order_reads_an_index(cast, sort):
    rows = trajectory_list.trajectories(
        actor=cast.admin, project=cast.project, filters={}, sort=sort, labels=True
    )
    if connection.vendor == "sqlite":
        plan = rows[:50].explain()
        assert "USING INDEX trajectory_by_" in plan
        assert "TEMP B-TREE" not in plan
