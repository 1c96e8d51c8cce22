"""Corrections in the browser: what waits, what is said of an action, and what somebody saved meanwhile."""

from __future__ import annotations

import pytest

from annotation.core.decisions.corrections import TypedCall
from annotation.models import Consensus, Correction, Exposure
from annotation.services import correct
from frontend.rendering.began import begun
from tests.fixtures.judges import make_imported_judge

SAYS = {"error": "auto", "reason": "It was not said."}


@pytest.fixture
def taken(parted, at):
    """Cleo's correction of the first task's error, being written, and its address."""
    error = Consensus.objects.get(trajectory__query_index=0, trajectory__sample_index=1, value=-1)
    row = correct.take(actor=parted.cleo, project=parted.project, error=error)
    return row, at("correction", row.pk)


def written(version=0, **more):
    return {**SAYS, "choice": "written", "began": begun(str(version), {}), **more}


def test_corrections_are_listed_taken_withdrawn_and_taken_up_again(browse, parted, at, text):
    client, url = browse("cleo"), at("corrections", "bench")
    assert "2 first errors wait" in text(client.get(url))
    assert "Waiting" not in text(client.get(f"{url}?list=waiting"))
    sent = client.post(at("correction-take", "bench"))
    row = Correction.objects.get()
    assert sent.url == at("correction", row.pk)
    assert "being written" in text(client.get(url))
    for act, state in (("withdraw", "withdrawn"), ("restore", "open")):
        assert client.post(at(f"correction-{act}", row.pk)).url == url
        row.refresh_from_db()
        assert row.state == state

    admin = browse("admin")
    waiting = admin.get(f"{url}?list=waiting")
    (left,) = waiting.context["list"].page
    assert left.trajectory_id != row.trajectory_id
    seen = Exposure.objects.filter(user=parted.admin, kind="consensus")
    assert list(seen.values_list("trajectory", flat=True)) == [left.trajectory_id]
    assert "Cleo" in text(admin.get(f"{url}?list=all&state=open"))
    admin.post(at("correction-take", "bench"), {"error": left.pk})
    assert Correction.objects.get(author=parted.admin).step_id == left.step_id
    assert (
        admin.get(f"{url}?list=all&as=csv").getvalue().decode().startswith("record_id,question,step,author")
    )
    assert client.post(at("correction-take", "bench"), {"error": "9"}).status_code == 404


def test_correction_is_written_refused_by_field_and_saved(browse, taken, text):
    row, url = taken
    client = browse("cleo")
    page = text(client.get(url))
    for shown in ("The answer to 0 is 0.", "1 other run did this here", "Why it was wrong", "unanimous"):
        assert shown in page
    call = {"written-name-0": "search", "written-arguments-0": '{"query": 7, "day": "Monday"}'}
    refused = client.post(url, written(**call))
    assert refused.status_code == 400
    assert refused.context["form"].errors["written-arguments-0"] == [
        "day is not a parameter of this tool; query must be a string, not a whole number"
    ]
    assert "Monday" in text(refused)
    checked = client.post(f"{url}check/", {**written(**call), "written-name-1": "fly"}).json()
    assert set(checked["fields"]) == {"written-arguments-0", "written-arguments-1"}

    call["written-arguments-0"] = '{"query": "<b>Bern</b>"}'
    by_script = {"HTTP_ACCEPT": "application/json"}
    sent = client.post(url, written(**call), **by_script)
    assert sent.json() == {"next": "/p/bench/corrections/"}
    row.refresh_from_db()
    assert (row.version, row.error_class, row.reason) == (1, "should_have_called", "It was not said.")
    assert "&lt;b&gt;Bern&lt;/b&gt;" in client.get(url).content.decode()
    refused = client.post(url, {**written(1), "choice": "", "written-text": "x"}, **by_script)
    assert (refused.status_code, set(refused.json()["fields"])) == (400, {"choice"})


def test_correction_that_was_saved_elsewhere_is_shown_beside_ones_own(browse, parted, taken, text):
    row, url = taken
    client = browse("cleo")
    began = client.get(url).context["began"]
    draft = correct.Draft("action", "written", text="Theirs.")
    correct.save_correction(actor=parted.cleo, correction=row, draft=draft, version=0)
    mine = {**SAYS, "choice": "written", "written-text": "Mine.", "began": began}
    collided = client.post(url, mine)
    assert collided.status_code == 409
    assert "You have changed this in another window" in text(collided)
    differing = {one.label: (one.theirs, one.mine) for one in collided.context["collision"].differences}
    assert differing == {
        "Text": ("Theirs.", "Mine."),
        "Why": ("–", "It was not said."),
        "What the agent did wrong": ("none of these", None),
    }
    row.refresh_from_db()
    assert row.action["content"] == "Theirs."
    client.post(url, {**mine, "began": collided.context["began"]})
    row.refresh_from_db()
    assert (row.action["content"], row.version) == ("Mine.", 2)


def test_correction_shows_what_a_judge_proposes_only_after_it_is_saved(browse, parted, taken, at, text):
    row, url = taken
    client = browse("cleo")
    proposal = correct.Proposal(
        row.trajectory, row.step.message_index, "action", "", [TypedCall("search", '{"query": "canary"}')]
    )
    judge = make_imported_judge(parted.project)
    correct.propose(actor=parted.admin, judge=judge, given=[proposal])
    assert "1 judge proposes something" in text(client.get(url))
    client.post(at("correction-reveal", row.pk))
    assert "canary" not in client.get(url).content.decode()
    sent = client.post(url, written(**{"written-text": "When?"}))
    assert sent.url == url
    client.post(at("correction-reveal", row.pk))
    page = client.get(url)
    assert "canary" in page.content.decode()
    (told,) = page.context["told"]
    client.post(url, {**written(1), "choice": told[0], "error": "none"})
    row.refresh_from_db()
    assert (row.origin, row.error_class) == ("judge", "")
    assert "larch" not in text(page)
    # an admin reads it, and cannot write it
    assert "taken from a judge" in text(browse("admin").get(url))
    assert browse("admin").post(url, written(2)).status_code in (400, 403)


def test_correction_is_not_there_in_a_project_of_decisions(browse, choices, at, text):
    client = browse("cleo")
    refused = client.get(at("corrections", "choices"))
    assert refused.status_code == 409
    assert at("corrections", "choices") not in text(client.get(at("project", "choices")))
