"""The page of a history: what it shows to whom, its steps, its pages, its CSV."""

from __future__ import annotations

import csv
import io
import re

from annotation.models import Exposure, Membership, Trajectory
from tests import callers, people


def disputed(cast):
    """A trajectory of three steps that ann and ben dispute; judith has the case."""
    people.import_records(cast.project, [people.make_record(steps=3)])
    people.label_next(cast.ann, cast.project, [1, 1, -1], outcome=1, note="Ann's <b>note</b>.")
    people.label_next(cast.ben, cast.project, [1, -1, -1], outcome=-1)
    row = Trajectory.objects.get()
    people.open_case(cast.judith, row)
    return row


def test_history_names_to_admins_letters_to_the_adjudicator_and_oneself_to_an_annotator(
    cast, browse, at, text
):
    row = disputed(cast)
    said = {who: text(browse(who).get(at("history", row.pk))) for who in ("admin", "judith", "ann")}

    assert "Ann" in said["admin"] and "Ben" in said["admin"]
    assert "<b>A</b>" in said["judith"] and "<b>B</b>" in said["judith"]
    # as a word: three letters in a row occur in a token too
    assert not [who for who in ("judith", "ann") if re.search(r"\bBen\b", said[who])]
    assert "<b>A</b>" not in said["ann"] and "You" in said["ann"]
    assert said["ann"].count("submitted a trajectory") == 1
    assert said["admin"].count("submitted a trajectory") == 2


def test_history_of_one_step_leaves_out_the_others(cast, browse, at, text):
    row = disputed(cast)
    url = at("history", row.pk)
    page = text(browse("admin").get(f"{url}?step=4"))
    assert "History of step 2" in page
    assert "became the consensus" not in page
    assert page.partition("<main")[2].partition("</main>")[0].count("labelled") == 2
    assert f"/trajectories/{row.pk}/?at=4#m4" in page


def test_history_of_a_step_that_is_none_is_refused_in_a_sentence(cast, browse, at, text):
    row = disputed(cast)
    for step, sentence in (
        ("3", "Message 3 is not a step."),
        ("x", "There is no step"),
        ("9" * 400, "no step"),
    ):
        answer = browse("admin").get(at("history", row.pk), {"step": step})
        assert answer.status_code == 400 and sentence in text(answer)
        assert browse("admin").get(at("history-export", row.pk), {"step": step}).status_code == 400


def test_history_asks_an_admin_who_could_still_claim(cast, browse, at, text):
    Membership.objects.filter(user=cast.admin).update(is_annotator=True)
    (row,) = people.import_records(cast.project, 1)
    people.label_next(cast.ann, cast.project)
    client, url = browse("admin"), at("history", row.pk)

    assert "you can no longer claim" in text(client.get(url))
    assert client.get(at("history-export", row.pk)).status_code == 302
    assert not Exposure.objects.filter(user=cast.admin).exists()
    api = callers.Caller(cast.admin).get(f"/trajectories/{row.pk}/history/")
    assert api.json()["error"]["code"] == "asks_first"
    assert client.post(url, follow=True).status_code == 200
    assert Exposure.objects.filter(user=cast.admin, kind="label").exists()
    assert "submitted a trajectory" in text(client.get(url))


def test_history_is_empty_before_anything_happened(cast, browse, at, text):
    (row,) = people.import_records(cast.project, 1)
    page = text(browse("admin").get(at("history", row.pk)))
    assert "Nothing has happened yet" in page and "Download CSV" not in page


def test_history_is_paged_and_its_csv_is_whole(cast, browse, at, text):
    people.import_records(cast.project, [people.make_record(steps=60)])
    people.label_next(cast.ann, cast.project)
    row = Trajectory.objects.get()
    client, url = browse("admin"), at("history", row.pk)
    assert "Page 1 of 2" in text(client.get(url)) and "Step 60" in text(client.get(f"{url}?page=2"))

    body = b"".join(client.get(at("history-export", row.pk)).streaming_content).decode()
    rows = list(csv.DictReader(io.StringIO(body)))
    assert [row["kind"] for row in rows] == ["save"] * 61 + ["assignment.submit", "seen.label"]
    assert {row["name"] for row in rows} == {"Ann", "Admin"}
    assert rows[0]["step"] == "1" and rows[0]["message_index"] == "2" and rows[60]["about"] == "outcome"
