"""The pages and API of gold, pauses and pilots."""

from __future__ import annotations

import csv

import pytest
from django.urls import reverse

from annotation.models import Assignment, Membership, Trajectory
from annotation.services import assign, training
from tests import people
from tests.callers import Caller, signed_in
from tests.people import Cast
from tests.services.gold_dealing import golden, import_queue, keyed, keyed_records, label_as, until_gold


def test_an_admin_mixes_in_gold_reads_accuracy_pauses_and_resumes(cast: Cast) -> None:
    keyed(cast.project, keyed_records([500, 501]))
    import_queue(cast.project, 60)
    client = signed_in(cast.admin)
    page = reverse("frontend:gold", args=["bench"])
    assert "No gold is dealt" in client.get(page).content.decode()
    made = client.post(page, {"source": "keys", "subset": "tiny"}, follow=True).content.decode()
    assert "2 gold items are mixed in." in made
    again = client.post(page, {"source": "keys", "subset": "tiny"}, follow=True).content.decode()
    assert "The subset has it as gold already." in again

    row = Membership.objects.get(project=cast.project, user=cast.ann)
    paused = client.post(reverse("frontend:member-pause", args=["bench", row.pk]), follow=True)
    assert "paused by an admin" in paused.content.decode()
    work = signed_in(cast.ann).get(reverse("frontend:work", args=["bench"])).content.decode()
    assert "You are given nothing new at the moment" in work
    assert "You are given nothing new" in signed_in(cast.ann).get("/").content.decode()
    again = reverse("frontend:member-look-again", args=["bench", row.pk])
    assert f'href="{again}"' in paused.content.decode()
    client.post(reverse("frontend:member-resume", args=["bench", row.pk]))
    row.refresh_from_db()
    assert row.paused_at is None
    (line, *_others) = csv.DictReader(
        client.get(f"{page}?as=csv").getvalue().decode("utf-8-sig").splitlines()
    )
    assert (line["username"], line["given"], line["low"]) == ("ann", "0", "0.0")
    client.post(reverse("frontend:gold-end", args=["bench"]), {"subset": "tiny"})
    assert not Trajectory.objects.filter(subset__name="tiny", training=True, free_slots__gt=0).exists()


def test_the_api_of_gold_says_what_the_page_says_and_annotators_get_neither(cast: Cast) -> None:
    golden(cast, gold=2)
    gold = label_as(until_gold(cast.ann, cast.project))
    admin, ann = Caller(cast.admin), Caller(cast.ann)
    (row, *_) = admin.get("/projects/bench/training/gold/").json()["results"]
    assert (row["annotator"]["username"], row["given"], row["submitted"]) == ("ann", 1, 1)
    assert ann.get("/projects/bench/training/gold/").status_code == 403
    assert ann.get("/projects/bench/training/pilot/").status_code == 403
    assert ann.get(f"/training/items/{gold.trajectory_id}/key/").status_code == 404
    assert signed_in(cast.ann).get(reverse("frontend:gold", args=["bench"])).status_code == 403


@pytest.mark.parametrize("as_page", [True, False])
def test_what_somebody_paused_has_submitted_is_queued_waits_and_is_taken_back(
    cast: Cast, as_page: bool
) -> None:
    golden(cast, gold=2)
    label_as(until_gold(cast.ann, cast.project), right=False)
    while (mine := assign.unfinished(cast.ann, cast.project).first()) is not None:
        label_as(mine)
    n = Assignment.stored.filter(annotator=cast.ann).count()
    row = Membership.objects.get(project=cast.project, user=cast.ann)
    training.pause(actor=cast.admin, membership=row)
    work = reverse("frontend:work", args=["bench"])
    sentence = "An admin asks you to look at these once more"
    page = reverse("frontend:member-look-again", args=["bench", row.pk])
    admin, api, by_api = (
        signed_in(cast.admin),
        Caller(cast.admin),
        f"/projects/bench/members/{row.pk}/look-again/",
    )
    if as_page:
        shown = admin.get(page).content.decode()
        assert f"{n} trajectories, of which 0 are resolved" in shown and "1 is gold or a recheck" in shown
        assert sentence in shown and "While they are paused it waits" in shown
        assert admin.post(page, {"expected": n + 1}).status_code == 409
        queued = admin.post(page, {"expected": n}, follow=True).content.decode()
        assert f"{n} assignments are queued." in queued and "is queued already" in queued
    else:
        seen = api.get(by_api).json()
        assert (seen["ready"], seen["hidden"], seen["refusal"], seen["last_good"]) == (n, 1, "", None)
        assert api.post(by_api, {"expected": n}).status_code == 201
        again = api.post(by_api, {"expected": n})
        assert (again.status_code, again.json()["error"]["code"]) == (409, "nothing")
    assert sentence not in signed_in(cast.ann).get(work).content.decode()
    admin.post(reverse("frontend:member-resume", args=["bench", row.pk]))
    mine = signed_in(cast.ann).get(work).content.decode()
    assert sentence in mine and mine.count("/look-again/") == n
    (batch,) = api.get(by_api).json()["batches"]
    assert (batch["because"], batch["queued"], batch["begun"]) == ("check", n, 0)
    undo = reverse("frontend:look-again-undo", args=["bench", batch["batch"]])
    assert admin.post(undo, {"member": row.pk}).headers["Location"] == page
    assert sentence not in signed_in(cast.ann).get(work).content.decode()


@pytest.mark.parametrize("as_page", [True, False])
def test_a_pilot_is_begun_read_and_opened(cast: Cast, as_page: bool) -> None:
    keyed(cast.project, people.make_records(2))
    admin = signed_in(cast.admin)
    page = reverse("frontend:pilot", args=["bench"])
    api = Caller(cast.admin)
    if as_page:
        assert "No pilot yet" in admin.get(page).content.decode()
        begun = admin.post(page, {"subset": "keys", "bound": "0,6"}, follow=True).content.decode()
        assert "The pilot has begun." in begun and "no step has two labels yet" in begun
        assert admin.post(page, {"subset": "keys", "bound": "many"}).status_code == 400
        stopped = admin.post(reverse("frontend:pilot-stop", args=["bench"]), follow=True)
        assert "opened by an admin" in stopped.content.decode()
    else:
        made = api.post("/projects/bench/training/pilot/", {"subset": "keys", "bound": 0.6})
        assert (made.status_code, made.json()["state"], made.json()["size"]) == (201, "running", 2)
        assert api.get("/projects/bench/training/pilot/").json()["alpha"]["value"] is None
        assert api.delete("/projects/bench/training/pilot/").status_code == 204
