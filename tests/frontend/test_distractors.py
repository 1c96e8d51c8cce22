"""Distractors of a judge: asked for on the page of runs, over the API and by the command."""

from __future__ import annotations

import json

import pytest

from annotation.models import SuggestionRun, Trajectory
from annotation.services import assign
from tests.callers import Caller
from tests.commands.calling import fails, run
from tests.fixtures.distractors import make_questions_cast
from tests.fixtures.judges import do, make_judge
from tests.frontend.chinese import CHINESE, Words, english, speak_chinese

CANARY = "<script>canary</script>"


@pytest.fixture
def cast(db):
    return make_questions_cast(2)[0]


@pytest.fixture
def judge(cast, writer):
    writer.write(
        "ok", lambda call: [CANARY, {"text": f"{CANARY} {call.key}"}, {"text": "It is wrong."}, {"text": ""}]
    )
    return make_judge(cast, model="ok", base_url=writer.url)


def test_page_estimates_starts_and_tells_what_was_added_and_refused(browse, cast, judge, at, text):
    client, url = browse("admin"), at("run-new", "bench")
    given = {"judges": judge.pk, "options": 4}
    page = client.get(url, given)
    assert ("options", 4) in page.context["hidden"]
    assert page.context["estimates"][0].estimate.trajectories == 2
    none = text(client.get(url, {**given, "options": 2}))
    assert "every selected question that has a key" in none
    assert "at most 64" not in none and client.get(url, {**given, "options": 65}).status_code == 400
    other = make_judge(cast, "Second", model="ok", base_url=judge.base_url)
    both = client.get(url, {**given, "judges": [judge.pk, other.pk]})
    assert both.status_code == 400 and "One judge at a time" in text(both)

    started = client.post(url, {**given, "budget": "1"})
    asked = do(SuggestionRun.objects.get())
    assert started.url == at("run", "bench", asked.pk) and asked.options == 4
    page = client.get(started.url)
    told = {role: value for role, _name, value in page.context["written"]}
    assert told == {
        **{"added": "2", "refused-no_action": "4", "refused-right": "0", "refused-repeated": "0"},
        **{"refused-names_its_fault": "2", "refused-not_needed": "0", "short": "2", "changed": "0"},
    }
    assert CANARY not in text(page)
    figures = client.get(at("run-status", "bench", asked.pk)).json()["figures"]
    assert told.items() <= figures.items()
    new = Trajectory.objects.filter(live=True, step_count=3).first()
    shown = text(client.get(at("trajectory", "bench", new.pk)))
    assert CANARY not in shown and "&lt;script&gt;canary" in shown
    speak_chinese(cast)
    for page in (client.get(started.url), client.get(url, given)):
        texts = Words(page.content.decode()).found
        assert any(CHINESE.search(one) for one in texts)
        assert [one for one in english(texts) if one not in ("Sage", "Second", "ok", "unknown")] == []


def test_annotator_sees_the_option_and_nothing_of_who_wrote_it(browse, cast, judge, at, text):
    assert run("suggest", "bench", "--judge", "Sage", "--options", "3").err
    new = Trajectory.objects.filter(live=True, step_count=3).first()
    claim = assign.claim_this(actor=cast.ann, trajectory=new)
    page = text(browse("ann").get(at("workbench", claim.pk)))
    sent = json.dumps(Caller(cast.ann).get(f"/assignments/{claim.pk}/").json())
    for payload in (page, sent):
        assert "canary" in payload
        assert not [word for word in ("Sage", "distractor", "not_wrong", "written_by") if word in payload]


def test_api_estimates_starts_and_tells(cast, judge):
    api, runs = Caller(cast.admin), "/projects/bench/runs/"
    body = {"judge": judge.pk, "options": 3, "limit": 1}
    assert api.post(f"{runs}estimate/", body).json()["trajectories"] == 1
    made = api.post(runs, body).json()
    assert made["options"] == 3
    assert made["distractors"] == {"added": 0, "refused": {}, "short": 0, "changed": 0}
    do(SuggestionRun.objects.get(pk=made["id"]))
    told = api.get(f"/runs/{made['id']}/").json()
    assert told["distractors"] == {
        "added": 1,
        "refused": {"no_action": 2, "names_its_fault": 1},
        "short": 0,
        "changed": 0,
    }
    assert api.post(runs, {**body, "options": 1}).status_code == 400
    assert api.post(runs, {**body, "state": "labelling"}).status_code == 400
    assert api.post(runs, {**body, "options": 2}).json()["error"]["code"] == "nothing_due"
    labels = api.post(runs, {"judge": judge.pk}).json()
    assert labels["options"] is None and labels["distractors"] is None
    assert Caller(cast.ann).post(runs, body).status_code == 403
    # what has been written is of this model and prompt, and stays so
    assert api.patch(f"/judges/{judge.pk}/", {"model": "other"}).json()["error"]["code"] == "judge_locked"


def test_command_estimates_writes_and_says_what_came_of_it(cast, judge):
    words = ("suggest", "bench", "--judge", "Sage", "--options", "4")
    assert "2 trajectories, about" in run(*words, "--estimate").err
    said = run(*words).err
    assert "2 options added, 6 refused (no_action 4, names_its_fault 2); 2 questions still short" in said
    assert "Sage: 2 of 2 trajectories answered, 0 failed" in said
    assert "2 to 64" in fails("suggest", "bench", "--judge", "Sage", "--options", "1").out
