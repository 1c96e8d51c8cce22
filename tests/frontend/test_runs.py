"""Runs in the browser: the estimate first, several judges at once, watching, steering, raw answers."""

from __future__ import annotations

import re
import zlib
from decimal import Decimal

import pytest

from annotation.core.vocabulary import SuggestionRunState as State
from annotation.models import JudgeAnswer, SuggestionRun
from annotation.policies import OPERATOR
from annotation.providers import FailureKind
from annotation.services import suggest
from tests import people
from tests.fixtures.judges import (
    Scripted,
    do,
    failure,
    install,
    make_judge,
    start,
)

pytestmark = pytest.mark.usefixtures("judge_urls")

SCRIPT = "<script>alert(1)</script>"


# ── Starting ──────────────────────────────
def test_estimate_comes_first_and_starts_nothing(browse, at, text, cast):
    people.import_records(cast.project, 3)
    judge = make_judge(cast)
    mine = suggest.create_judge(actor=OPERATOR, project=cast.project, name="Trees", kind="baseline")
    response = browse("admin").get(f"{at('run-new', 'bench')}?judges={judge.pk}&judges={mine.pk}&limit=2")
    row, trees = response.context["estimates"]
    assert row.estimate.trajectories == 2 and row.estimate.cost > 0
    assert trees.estimate.cost == 0 and "no price set" not in text(response)
    assert not SuggestionRun.objects.exists()
    assert "Start 2 runs" in text(response)


def test_estimate_is_started_as_one_run_for_each_judge(browse, at, cast):
    people.import_records(cast.project, 3)
    people.import_records(cast.project, people.make_records(2), subset="other")
    judges = [make_judge(cast, name) for name in ("One", "Two")]
    given = {"judges": [judge.pk for judge in judges], "subset": "other", "budget": "1.5"}
    client = browse("admin")
    page = client.get(at("run-new", "bench"), {name: given[name] for name in ("judges", "subset")})
    assert ("subset", "other") in page.context["hidden"] and page.context["startable"] == 2
    assert page.context["estimated"].rows[-1][2].trajectories == 4
    response = client.post(at("run-new", "bench"), given)
    assert response.url == at("runs", "bench")
    runs = SuggestionRun.objects.order_by("pk")
    assert [(run.judge, run.progress_total, run.budget, run.state) for run in runs] == [
        (judge, 2, Decimal("1.5"), State.QUEUED) for judge in judges
    ]
    assert runs[0].estimate["trajectories"] == 2


def test_judge_that_is_at_work_does_not_keep_the_other_from_it(browse, at, text, cast):
    people.import_records(cast.project, 2)
    busy, idle = make_judge(cast, "Busy"), make_judge(cast, "Idle")
    start(busy)
    response = browse("admin").post(at("run-new", "bench"), {"judges": [busy.pk, idle.pk]}, follow=True)
    assert SuggestionRun.objects.filter(judge=idle).count() == 1
    assert SuggestionRun.objects.filter(judge=busy).count() == 1
    assert "Busy: This judge already has an active run" in text(response)


@pytest.mark.parametrize(
    "given", [{"budget": "0"}, {"budget": "nan"}, {"limit": "0"}, {"subset": "none"}, {"judges": ["999"]}]
)
def test_estimate_of_what_makes_no_sense_is_refused_and_nothing_starts(browse, at, cast, given):
    people.import_records(cast.project, 1)
    judge = make_judge(cast)
    response = browse("admin").post(at("run-new", "bench"), {"judges": [judge.pk], **given})
    assert response.status_code == 400 and set(response.context["form"].errors) == set(given)
    assert not SuggestionRun.objects.exists()


def test_estimate_is_of_what_has_no_suggestion_only(browse, at, text, failed_run, monkeypatch):
    url = f"{at('run-new', 'bench')}?judges={failed_run.judge_id}"
    assert browse("admin").get(url).context["estimates"][0].estimate.trajectories == 2
    install(monkeypatch, Scripted())
    suggest.retry_failed(actor=OPERATOR, run=failed_run, enqueue=False)
    do(failed_run)
    page = browse("admin").get(url)
    assert page.context["startable"] == 0 and "Nothing to do" in text(page)


# ── Watching ──────────────────────────────
def test_run_that_waits_says_so_and_is_asked_about_by_the_script(browse, at, text, cast):
    people.import_records(cast.project, 2)
    run = start(make_judge(cast))
    client = browse("admin")
    page = text(client.get(at("run", "bench", run.pk)))
    assert 'data-busy="yes"' in page and "Waiting for a worker" in page
    answer = client.get(at("run-status", "bench", run.pk)).json()
    assert (answer["state"], answer["title"], answer["busy"]) == ("queued", "waiting", True)
    assert answer["progress"] == {"done": 0, "failed": 0, "total": 2}
    assert answer["figures"]["counted"] == "0 of 2"


def test_run_that_is_finished_shows_what_came_of_it_and_what_failed(browse, at, text, failed_run):
    client = browse("admin")
    response = client.get(at("run", "bench", failed_run.pk))
    page = text(response)
    assert "data-busy" not in page
    assert response.context["figures"]["done"] == "2" and response.context["figures"]["failed"] == "2"
    assert response.context["figures"]["cost"] == "$0.02"
    assert response.context["kinds"] == [
        {"kind": "not_json", "title": "Not JSON", "count": 2, "message": "Broken."}
    ]
    items = list(response.context["page"])
    assert [item.trajectory.record_id for item in items] == ["tiny:1:0", "tiny:3:0"]
    for item in items:
        assert re.search(rf">\s*{item.trajectory.record_id}\s*</a>", page)
        assert at("judge-answer", "bench", item.answer) in page
    assert (
        client.get(at("run-status", "bench", failed_run.pk)).json()["failures"] == response.context["kinds"]
    )


def test_runs_are_listed_in_pages(browse, at, cast, failed_run, monkeypatch):
    monkeypatch.setattr("frontend.pages.shared.list_page.PER_PAGE", 1)
    people.import_records(cast.project, people.make_records(1), subset="more")
    start(make_judge(cast, "Second"))
    page = browse("admin").get(at("runs", "bench"))
    assert page.context["page"].paginator.count == 2 and len(page.context["page"]) == 1


# ── Steering ──────────────────────────────
def state_of(run: SuggestionRun) -> str:
    """The stored state of a run."""
    return SuggestionRun.objects.get(pk=run.pk).state


def test_run_is_paused_goes_on_with_more_money_and_is_cancelled(browse, at, cast):
    people.import_records(cast.project, 2)
    run = start(make_judge(cast), budget=Decimal(1))
    client = browse("admin")
    client.post(at("run-action", "bench", run.pk, "pause"))
    assert state_of(run) == State.PAUSED
    client.post(at("run-action", "bench", run.pk, "resume"), {"budget": "7"})
    assert state_of(run) == State.QUEUED
    assert SuggestionRun.objects.get().budget == 7
    client.post(at("run-action", "bench", run.pk, "cancel"))
    assert state_of(run) == State.CANCELLED


def test_run_tells_what_cannot_be_done_now(browse, at, text, failed_run):
    page = browse("admin").post(at("run-action", "bench", failed_run.pk, "pause"), follow=True)
    assert "alert--error" in text(page)
    assert state_of(failed_run) == State.FINISHED
    assert browse("admin").post(at("run-action", "bench", failed_run.pk, "burn")).status_code == 404


def test_budget_that_is_spent_already_is_refused_at_the_field(browse, at, failed_run):
    SuggestionRun.objects.filter(pk=failed_run.pk).update(state=State.OVER_BUDGET)
    response = browse("admin").post(at("run-action", "bench", failed_run.pk, "resume"), {"budget": "0.01"})
    assert response.status_code == 400 and "budget" in response.context["form"].errors
    assert state_of(failed_run) == State.OVER_BUDGET


def test_run_asks_again_only_what_failed(browse, at, cast, failed_run, monkeypatch):
    provider = install(monkeypatch, Scripted())
    browse("admin").post(at("run-action", "bench", failed_run.pk, "retry"))
    run = do(failed_run)
    assert (run.state, run.progress_done, run.progress_failed) == (State.FINISHED, 4, 0)
    assert sum(provider.calls.values()) == 2


# ── Raw answers ───────────────────────────
def test_raw_answer_is_shown_as_text_and_downloads_as_it_came(browse, at, text, cast, monkeypatch):
    people.import_records(cast.project, 1)
    install(monkeypatch, Scripted(lambda request: failure(FailureKind.NOT_JSON)))
    do(start(make_judge(cast)))
    answer = JudgeAnswer.objects.get()
    JudgeAnswer.objects.filter(pk=answer.pk).update(
        response=zlib.compress(f"{SCRIPT}\x00\xff".encode("latin-1")), response_size=5_000_000
    )
    client = browse("admin")
    page = text(client.get(at("judge-answer", "bench", answer.pk)))
    assert SCRIPT not in page and "&lt;script&gt;alert(1)" in page
    assert "5000000 bytes" in page
    file = client.get(at("judge-answer-file", "bench", answer.pk, "response"))
    assert file.content == f"{SCRIPT}\x00\xff".encode("latin-1")
    assert file["Content-Type"] == "application/octet-stream"
    assert file["Content-Disposition"].startswith("attachment")
    assert client.get(at("judge-answer-file", "bench", answer.pk, "secrets")).status_code == 404


def test_runs_and_answers_of_another_project_are_not_found(browse, at, cast, failed_run):
    people.make_member(people.make_project("other"), cast.admin, "admin")
    answer = JudgeAnswer.objects.first()
    client = browse("admin")
    for url in (
        at("run", "other", failed_run.pk),
        at("run-status", "other", failed_run.pk),
        at("judge", "other", failed_run.judge_id),
        at("judge-answer", "other", answer.pk),
    ):
        assert client.get(url).status_code == 404, url
