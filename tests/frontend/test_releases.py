"""Releases in the browser: freezing once, looking, verifying, files, withdrawing."""

from __future__ import annotations

import json

from annotation.models import Freeze, Release
from annotation.services import release as service
from frontend.pages.releases.releases import agreement
from frontend.rendering.tables import cells
from tests import people
from tests.fixtures.shared_rows import shared_rows
from tests.services.publishing import of_older_format


@shared_rows
def frozen(cast):
    """A release of two unanimous trajectories in two subsets."""
    people.import_records(cast.project, 1, subset="one")
    people.import_records(cast.project, 1, subset="two")
    people.make_unanimous(cast, 2)
    return service.freeze(actor=cast.admin, project=cast.project, version="1.0", note="First")


SURE = {"final": "on"}


def test_freeze_page_says_what_is_resolved_and_what_is_not_and_why(browse, cast, at, text):
    people.import_records(cast.project, 3)
    people.make_unanimous(cast)
    page = text(browse("admin").get(at("release-freeze", "bench")))
    assert "1 trajectory with 2 step labels." in page
    assert "2 trajectories are not resolved and are left out." in page
    assert "Not begun: 2; being labelled: 0; disputed: 0." in page
    assert "agreement unknown" in page  # two labels that are the same: α is undefined


def test_freeze_needs_boxes_for_what_is_unresolved_or_in_doubt_unless_it_is_left_out(browse, cast, at):
    client, url = browse("admin"), at("release-freeze", "bench")
    people.import_records(cast.project, 2, subset="good")
    for _ in range(2):
        people.label_next(cast.ann, cast.project, [1, -1])
        people.label_next(cast.ben, cast.project, [1, -1])
    people.import_records(cast.project, 2, subset="bad")
    people.make_unanimous(cast, 1)

    refused = client.post(url, {"version": "1.0"})
    assert refused.status_code == 400
    assert set(refused.context["form"].errors) == {"unresolved", "doubtful", "final"}
    high = client.get(url, {"threshold": "1"})
    assert {line.name for line in high.context["checklist"].doubtful()} == {"bad"}
    assert client.get(url, {"threshold": "2"}).status_code == 400
    form = {"version": "1.0", "leave_out": "bad", "licence": "own", **SURE}
    assert set(client.post(url, form).context["form"].errors) == {"own_licence"}
    asked = client.post(url, {**form, "own_licence": "For friends.", "title": "Good ones"})
    job = Freeze.objects.get()
    assert asked.url == at("freeze-detail", "bench", job.pk)
    assert (job.leave_out, job.licence, job.title) == (["bad"], "For friends.", "Good ones")
    service.run_freeze(job_id=job.pk)
    assert json.loads(Release.objects.get().manifest)["left_out"]["subsets"] == {"bad": 2}


def test_freeze_pressed_twice_makes_one_release_and_shows_its_progress(browse, cast, at, text):
    people.import_records(cast.project, 1)
    people.make_unanimous(cast)
    client = browse("admin")
    form = {"version": "1.0", "note": "First", "doubtful": "on", **SURE}
    there = {client.post(at("release-freeze", "bench"), form).url for _ in range(2)}
    job = Freeze.objects.get()
    assert there == {at("freeze-detail", "bench", job.pk)}
    assert "Stop freezing" in text(client.get(*there))
    other = client.post(at("release-freeze", "bench"), {**form, "version": "2.0"})
    assert other.status_code == 409 and "Release 1.0 is being frozen right now" in text(other)
    (told,) = client.get(at("freeze-status", "bench", job.pk)).json()["jobs"]
    assert (told["state"], told["finished"]) == ("queued", False)

    service.run_freeze(job_id=job.pk)
    (told,) = client.get(at("freeze-status", "bench", job.pk)).json()["jobs"]
    assert (told["done"], told["total"], told["finished"]) == (1, 1, True)
    assert client.get(*there).url == at("release", "bench", "1.0")
    again = client.post(at("release-freeze", "bench"), form)
    assert again.status_code == 409 and "Release 1.0 already exists" in text(again)
    assert Release.objects.get().freeze == job


def test_freeze_that_is_stopped_in_time_freezes_nothing(browse, cast, at, text):
    people.import_records(cast.project, 1)
    people.make_unanimous(cast)
    client = browse("admin")
    client.post(at("release-freeze", "bench"), {"version": "1.0", "doubtful": "on", **SURE})
    job = Freeze.objects.get()
    for said in ("there is no release 1.0", "This has changed in the meantime"):
        page = text(client.post(at("freeze-cancel", "bench", job.pk), follow=True))
        assert said in page and "nothing was frozen" in page
    service.run_freeze(job_id=job.pk)
    assert not Release.objects.exists()


def test_freeze_needs_something_resolved(browse, at, text):
    client = browse("admin")
    assert "Nothing is resolved yet" in text(client.get(at("release-freeze", "bench")))
    assert client.post(at("release-freeze", "bench"), {"version": "1.0", **SURE}).status_code == 400


def test_release_shows_the_intervals_of_agreement_that_its_manifest_states():
    stated = {"value": 0.767, "n": 734, "reason": "", "interval": [0.714, 0.813], "interval_reason": ""}
    alone = {"value": 1.0, "n": 2, "reason": "", "interval": None, "interval_reason": "fewer than 20 tasks"}
    manifest = {
        "agreement": {"project": {"overall": {"kappa": stated}}, "release": {"overall": {"kappa": alone}}}
    }

    page = cells.card(agreement(manifest))

    assert " ".join(page.split()).count("0.714 … 0.813") == 1
    assert page.count('title="fewer than 20 tasks"') == 1

    del manifest["agreement"]["project"]
    page = cells.card(agreement(manifest))
    assert page.count("fewer than 20 tasks") == 1 and "There are no intervals: fewer than 20 tasks." in page


def test_release_shows_counts_distribution_and_digest(browse, frozen, at, text):
    page = text(browse("judith").get(at("release", "bench", "1.0")))
    for piece in (frozen.digest, "First", "one.jsonl", "two.jsonl", "100.0\u00a0%"):
        assert piece in page
    assert "Withdraw" not in page
    assert "1.0" in text(browse("judith").get(at("releases", "bench")))


def test_verify_says_yes(browse, frozen, at, text):
    assert "all 2 records and 4 labels" in text(browse("judith").post(at("release-verify", "bench", "1.0")))


def test_release_shows_what_its_signature_is_worth(browse, frozen, at, text, tmp_path, settings):
    client, page = browse("judith"), at("release", "bench", "1.0")
    fingerprint = service.check_release(frozen).fingerprint
    shown = text(client.get(page))
    assert "Valid, by a key that is known here" in shown
    assert fingerprint in shown
    for name in ("manifest.json.sig", "release-key.pem"):
        assert name in shown
        assert client.get(at("release-export", "bench", "1.0", name)).status_code == 200
    assert "The signature is valid." in text(client.post(at("release-verify", "bench", "1.0")))

    settings.RELEASE_KEY_FILE, settings.RELEASE_KEYS_DIR = tmp_path / "none", tmp_path / "nobody"
    assert "by a key that is not known here" in text(client.get(page))
    verified = text(client.post(at("release-verify", "bench", "1.0")))
    assert "This release is not signed with a key that is known here." in verified
    assert f"It is signed with the key {fingerprint}" in verified


def test_release_of_an_older_format_is_listed_and_its_pages_say_who_reads_it(browse, frozen, at, text):
    of_older_format(frozen)
    client = browse("judith")

    assert "1.0" in text(client.get(at("releases", "bench")))
    for place in (at("release", "bench", "1.0"), at("leaderboard", "bench", "1.0")):
        answer = client.get(place)
        assert answer.status_code == 409
        assert "tristep-release/1, which commit 48b59930" in text(answer)


def test_files_are_streamed_in_the_published_shape(browse, frozen, at):
    client = browse("judith")
    response = client.get(at("release-export", "bench", "1.0", "one.jsonl"))
    assert response.streaming
    assert 'filename="bench-1.0-one.jsonl"' in response["Content-Disposition"]
    record = json.loads(b"".join(response.streaming_content))
    assert record["step_labels"] == {"2": 1, "4": 1}
    assert record["final_label"] == 1
    manifest = json.loads(client.get(at("release-export", "bench", "1.0", "manifest.json")).content)
    assert set(manifest["files"]) == {"one.jsonl", "two.jsonl"}
    for name in ("three.jsonl", "one", "manifest.jsonl"):
        assert client.get(at("release-export", "bench", "1.0", name)).status_code == 404


def test_withdraw_needs_a_reason_and_is_said_once(browse, frozen, at, text):
    client, url = browse("admin"), at("release-withdraw", "bench", "1.0")
    assert client.post(url, {"reason": " "}).status_code == 400
    assert client.post(url, {"reason": "Wrong subset <b>"}).status_code == 302
    assert client.post(url, {"reason": "Again"}).status_code == 409
    page = text(client.get(at("release", "bench", "1.0")))
    assert "Wrong subset &lt;b&gt;" in page
    assert "withdrawn" in text(client.get(at("releases", "bench")))


def test_data_set_is_chosen_on_the_page_and_wrong_choices_come_back(browse, frozen, at, text):
    client, files = browse("judith"), at("release-export", "bench", "1.0", "all.zip")
    page = text(client.get(at("release", "bench", "1.0")))
    assert "As a data set" in page and "load_dataset(" in page
    assert "With blind labels" not in page
    assert "With blind labels" in text(browse("admin").get(at("release", "bench", "1.0")))

    asked = {"format": "training", "split": "", "seed": "", "protocol": "propagated", "zero": "merge"}
    answer = client.get(files, asked)
    assert answer.status_code == 200
    assert answer["Content-Disposition"] == 'attachment; filename="bench-1.0-training.zip"'
    assert b"data/one/train.parquet" in b"".join(answer.streaming_content)

    refused = client.get(files, asked | {"split": "7"})
    assert refused.status_code == 400
    assert "must be a number between 0 and 1" in text(refused)
    assert refused.context["export_form"]["split"].value() == "7"


def test_size_plan_is_reached_from_releases_and_takes_a_size(browse, cast, at, text):
    admin = browse("admin")
    assert at("size-plan", "bench") in text(admin.get(at("releases", "bench")))
    assert at("size-plan", "bench") in text(admin.get(at("project", "bench")))
    page = admin.get(at("size-plan", "bench") + "?tasks=250&runs=4")
    assert [size.tasks for size in page.context["plan"].sizes] == [50, 100, 200, 250, 500, 1000]
    assert "From published labels of another benchmark" in text(page)
    few = admin.get(at("size-plan", "bench") + "?tasks=3")
    assert "greater than or equal to 20" in text(few) and few.context["plan"].design.tasks == 100
