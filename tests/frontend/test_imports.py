"""Importing in the browser: upload, progress, what came of it, what is wrong with it."""

from __future__ import annotations

import json

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils.html import strip_tags

from annotation.core.errors import ImportRefused
from annotation.core.vocabulary import ImportState
from annotation.models import Assignment, ImportFile, Trajectory
from annotation.services import ingest, label
from tests import people
from tests.frontend.beginning import seen
from tests.services.long_writes import lines

RECORDS = people.jsonl(people.make_records(2))
BROKEN = b'{"messages": []}\n{broken\n'


def upload(data: bytes = RECORDS, name: str = "tiny.jsonl") -> SimpleUploadedFile:
    return SimpleUploadedFile(name, data)


def test_upload_is_queued_into_the_subset_named_after_the_file(browse, at, text):
    client = browse("admin")
    response = client.post(at("imports", "bench"), {"file": upload(name="My runs.jsonl")})
    row = ImportFile.objects.get()
    assert response.url == at("import-detail", "bench", row.pk)
    assert (row.state, row.subset.name, row.created_by.username) == (ImportState.QUEUED, "my-runs", "admin")
    ingest.run_import(source_id=row.pk)
    page = text(client.get(response.url))
    assert "imported" in page
    assert Trajectory.objects.filter(live=True).count() == 2


def test_import_of_the_same_file_changes_nothing_and_says_so(browse, at, text):
    client = browse("admin")
    for _ in range(2):
        url = client.post(at("imports", "bench"), {"file": upload(), "subset": "tiny"}).url
        ingest.run_import(source_id=ImportFile.objects.first().pk)
    assert "nothing has changed" in text(client.get(url))
    assert Trajectory.objects.count() == 2


def test_import_takes_several_files_each_on_its_own(browse, at):
    files = [upload(name="a.jsonl"), upload(name="b.jsonl")]
    assert browse("admin").post(at("imports", "bench"), {"file": files}).url == at("imports", "bench")
    assert sorted(ImportFile.objects.values_list("subset__name", flat=True)) == ["a", "b"]


@pytest.mark.parametrize(
    ("data", "sentence"),
    [(b"", "is empty"), (b"\xff\xfe\x00", "UTF-8"), (b"hello", "format")],
)
def test_file_that_cannot_be_read_at_all_is_refused_at_once(browse, at, text, data, sentence):
    response = browse("admin").post(at("imports", "bench"), {"file": upload(data)})
    assert response.status_code == 400
    assert sentence in text(response)
    assert not ImportFile.objects.exists()


def test_import_is_not_stopped_by_one_bad_file(browse, at, text):
    response = browse("admin").post(at("imports", "bench"), {"file": [upload(b"", "bad.jsonl"), upload()]})
    assert response.status_code == 400
    assert text(response).count("bad.jsonl: The file is empty.") == 1
    assert "bad.jsonl: bad.jsonl" not in text(response)
    assert ImportFile.objects.get().filename == "tiny.jsonl"


def test_import_refuses_no_file_a_bad_subset_and_bad_names_by_field(browse, at):
    response = browse("admin").post(
        at("imports", "bench"), {"subset": "not a slug", "policy_models": "zero=A", "format": "nonsense"}
    )
    assert response.status_code == 400
    assert set(response.context["form"].errors) == {"file", "subset", "policy_models", "format"}


def test_import_uses_names_of_policy_models(browse, at):
    browse("admin").post(
        at("imports", "bench"), {"file": upload(), "policy_models": "0=Model A\n\n1 = Model B "}
    )
    row = ImportFile.objects.get()
    assert row.policy_models == {"0": "Model A", "1": "Model B"}
    ingest.run_import(source_id=row.pk)
    assert set(Trajectory.objects.values_list("policy_model", flat=True)) == {"Model A"}


def test_import_lists_every_error_with_line_field_and_reason(browse, at, text):
    client = browse("admin")
    url = client.post(at("imports", "bench"), {"file": upload(BROKEN), "format": "agentprocessbench"}).url
    with pytest.raises(ImportRefused):
        ingest.run_import(source_id=ImportFile.objects.get().pk)
    page = text(client.get(url))
    row = ImportFile.objects.get()
    assert f"{row.error_count} errors" in page
    for error in row.errors:
        assert error["field"] in page
    assert "Nothing was imported from this file" in page
    assert not Trajectory.objects.exists()


def test_script_gets_json_where_to_go_or_what_is_wrong(browse, at):
    client = browse("admin")
    good = client.post(at("imports", "bench"), {"file": upload()}, headers={"accept": "application/json"})
    assert json.loads(good.content) == {"next": at("import-detail", "bench", ImportFile.objects.get().pk)}
    bad = client.post(at("imports", "bench"), {"file": upload(b"")}, headers={"accept": "application/json"})
    assert bad.status_code == 400
    assert json.loads(bad.content)["fields"]["file"]
    sent = {"file": [upload(b"", "bad.jsonl"), upload()]}
    both = client.post(at("imports", "bench"), sent, headers={"accept": "application/json"})
    assert json.loads(both.content) == {
        "fields": {"file": ["bad.jsonl: The file is empty."]},
        "uploaded": "Uploaded: tiny.jsonl.",
    }


def test_progress_is_told_as_json_of_ones_own_imports(browse, cast, at):
    browse("admin").post(at("imports", "bench"), {"file": upload()})
    row = ImportFile.objects.get()
    url = f"{at('import-status', 'bench')}?ids={row.pk},x,{'9' * 30}"
    answer = browse("admin").get(url)
    assert answer.json()["jobs"] == [
        {
            "id": row.pk,
            "state": "queued",
            "title": "waiting",
            "done": 0,
            "total": len(RECORDS),
            "finished": False,
        }
    ]
    assert browse("ann").get(url).status_code == 403
    assert browse("oscar").get(url).status_code == 404


def test_file_that_waits_for_a_decision_shows_no_progress(browse, at):
    client, url = browse("admin"), at("imports", "bench")
    client.post(url, {"file": upload(), "preview": "1"})
    client.post(url, {"file": upload(name="other.jsonl")})
    page = client.get(url).content.decode()
    queued = ImportFile.objects.get(filename="other.jsonl")
    assert [part.split('"')[0] for part in page.split('data-job="')[1:]] == [str(queued.pk)]
    assert (page.count(">not imported yet<"), page.count("<progress class=")) == (1, 1)


def test_preview_says_the_question_and_whether_there_is_a_reference_answer(browse, at):
    with_answer, without = people.make_record(0), {**people.make_record(1), "ground_truth": None}
    for record, answer in ((with_answer, "yes, see below"), (without, "none in the file")):
        client = browse("admin")
        url = client.post(
            at("imports", "bench"), {"file": upload(people.jsonl([record])), "preview": "1"}
        ).url
        page = " ".join(strip_tags(client.get(url).content.decode()).split())
        assert f"Question {record['question']} Policy model" in page
        assert f"Reference answer {answer}" in page


def test_preview_is_no_import_on_the_home_page_and_its_subset_in_no_filter(browse, cast, at, text):
    people.import_records(cast.project, 1, subset="tiny")
    client = browse("admin")
    client.post(at("imports", "bench"), {"file": upload(), "subset": "waiting", "preview": "1"})

    home = text(client.get(at("home")))

    assert "Preview of" in home and "not imported yet" in home and "Importing" not in home
    filters = [at(name, "bench") for name in ("trajectories", "look-again", "label-imports")]
    pages = [client.get(address).content.decode() for address in filters]
    assert [("tiny</option>" in page, "waiting</option>" in page) for page in pages] == [(True, False)] * 3


def test_previews_are_discarded_in_one_act(browse, at, text):
    client, url = browse("admin"), at("imports", "bench")
    client.post(url, {"file": [upload(), upload(name="other.jsonl")], "preview": "1"})
    client.post(url, {"file": upload(name="third.jsonl")})
    assert "Discard 2 previews" in text(client.get(url))
    assert browse("judith").post(at("imports-discard", "bench")).status_code == 403

    answer = client.post(at("imports-discard", "bench"), follow=True)

    assert "2 previews were discarded." in text(answer) and "Discard" not in text(answer)
    left = ImportFile.objects.exclude(state=ImportState.ABANDONED)
    assert [row.filename for row in left] == ["third.jsonl"]


def test_imports_of_another_project_are_not_found(browse, cast, at):
    other = people.make_project("other")
    source = people.import_file(other, RECORDS)
    assert browse("admin").get(at("import-detail", "bench", source.pk)).status_code == 404
    assert browse("admin").get(at("import-detail", "other", source.pk)).status_code == 404


def test_import_shows_what_stands_in_a_file_name_as_text(browse, at, text):
    client = browse("admin")
    client.post(at("imports", "bench"), {"file": upload(name="<b>x&.jsonl"), "subset": "x"})
    page = text(client.get(at("imports", "bench")))
    assert "<b>x" not in page
    assert "&lt;b&gt;x" in page


def test_import_of_tasks_in_several_turns_offers_that_user_messages_suspend_error_runs(browse, at, text):
    client, offer = browse("admin"), "Suspend error runs at user messages"
    record = people.make_record(0, 0)
    first, *rest = record["messages"]
    turn = [{"role": "system", "content": "State."}, {"role": "user", "content": "Now this."}]
    record["messages"] = [first, *rest, *turn, {"role": "assistant", "content": "Done."}]
    record["step_labels"] = {}
    url = client.post(at("imports", "bench"), {"file": upload(people.jsonl([record])), "subset": "turns"}).url
    row = ImportFile.objects.get()
    ingest.run_import(source_id=row.pk)
    page = text(client.get(url))
    assert offer in page and "35.5 %" in page and "1 of the new trajectories in “turns” is a task" in page
    client.post(at("subset", "bench", row.subset_id), {"suspend_on_user_turn": "on", **seen(row.subset)})
    row.subset.refresh_from_db()
    assert row.subset.suspend_on_user_turn
    assert offer not in text(client.get(url))


# ── Labels ────────────────────────────────
def test_labels_are_uploaded_looked_at_and_imported_on_a_tab_of_their_own(browse, cast, at, text):
    rows = people.import_records(cast.project, people.make_records(2, steps=2))
    client, page = browse("admin"), at("label-imports", "bench")
    empty = text(client.get(page))
    assert "No labels imported yet" in empty and at("label-imports", "bench") in text(
        client.get(at("imports", "bench"))
    )
    sent = {"file": upload(lines(rows, -1).read(), "ann.jsonl"), "annotator": "ann"}
    where = client.post(page, sent).url
    preview = text(client.get(where))
    assert "Nothing is imported yet." in preview and rows[0].record_id in preview and "−1" not in preview
    assert not Assignment.objects.exists()
    row = ImportFile.objects.get(filename="ann.jsonl")
    client.post(at("import-start", "bench", row.pk))
    label.run_import(source_id=row.pk)
    done = text(client.get(where))
    assert "Labelled trajectories" in done and "Ann" in done
    assert cast.ann.assignments.filter(imported=True).count() == 2
    assert "ann.jsonl" in text(client.get(page)) and "ann.jsonl" not in text(
        client.get(at("imports", "bench"))
    )


def test_labels_with_errors_are_shown_by_line_and_cannot_be_imported(browse, cast, at, text):
    rows = people.import_records(cast.project, people.make_records(1, steps=2))
    client, page = browse("admin"), at("label-imports", "bench")
    bad = lines(rows).read() + b'{"record_id": "<b>", "step_labels": {}, "final_label": 1}\n'
    preview = text(client.get(client.post(page, {"file": upload(bad), "name": "Somebody"}).url))
    assert "Record 2:" in preview and "is not in this project" in preview and "<b>" not in preview
    assert "Import these labels" not in preview
    nobody = client.post(page, {"file": upload(bad)})
    assert nobody.status_code == 400 and "enter the name of somebody new" in text(nobody)
    said = client.post(page, {"file": upload(b""), "name": "x"}, headers={"accept": "application/json"})
    assert said.status_code == 400 and said.json()["fields"] == {"file": ["The file is empty."]}
