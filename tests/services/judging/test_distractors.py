"""Distractors by a judge on a real server: what becomes an option, what is refused, and who is asked."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pytest

from annotation.core.decisions.corrections import TypedCall, action
from annotation.core.decisions.editing import decision_of
from annotation.core.decisions.record import Asked
from annotation.core.errors import Conflict, Denied, Invalid
from annotation.core.vocabulary import Ability, DecisionKind, SuggestionRunState
from annotation.models import AuditEvent, Judge, JudgeAnswer, Suggestion, SuggestionRun, Trajectory
from annotation.reports.judging.estimates import estimate
from annotation.reports.judging.judges_first import preview
from annotation.reports.judging.run_selection import RunSelection
from annotation.services import assign, suggest
from annotation.services.suggest import store
from tests import people
from tests.fixtures.distractors import import_questions, make_questions_cast, question
from tests.fixtures.judges import do, items, make_imported_judge, make_judge, start
from tests.fixtures.judges_first import say
from tests.judge_server import JudgeServer
from tests.people import Cast

pytestmark = [pytest.mark.django_db]
State = SuggestionRunState


def make_writer(cast: Cast, server: JudgeServer, **values: Any) -> Judge:
    return make_judge(cast, **{"model": "ok", "base_url": server.url, **values})


def entry(query: str, text: str = "", name: str = "search") -> dict[str, Any]:
    return {
        "kind": "other_arguments",
        "text": text,
        "calls": [{"name": name, "arguments": json.dumps({"query": query})}],
    }


def now(row: Trajectory) -> Trajectory:
    return Trajectory.objects.select_related("content").get(record_id=row.record_id, live=True)


HOSTILE = '<script>alert(1)</script> \x00 \ud800 "}]}'


def test_answer_with_every_fault_gives_the_options_that_have_none(writer: JudgeServer) -> None:
    cast, (row, other) = make_questions_cast(2)
    answers = {
        "0": [
            "search for it",
            {"text": "", "calls": [{"name": "search", "arguments": "{broken"}]},
            entry("right 0", "Quite another text."),
            entry("neutral 0"),
            entry("astray 0-1", "Again."),
            entry(HOSTILE, HOSTILE),
            entry(HOSTILE, "Twice."),
            entry("a wrong guess"),
            entry("这是错误的"),
            entry("misnamed", name="find_all"),
            entry("one more"),
        ],
        "1": [entry("right 1")],
    }
    writer.write("ok", lambda call: {"actions": answers[call.key]})
    judge = make_writer(cast, writer)
    run = suggest.start_run(actor=cast.admin, judge=judge, options=4, budget=Decimal(1))

    run = do(run)

    assert (run.state, run.progress_done, run.progress_failed, run.calls) == (State.FINISHED, 2, 0, 2)
    assert run.distractors == {
        "added": 2,
        "short": 1,
        "refused": {"no_action": 2, "right": 3, "repeated": 2, "names_its_fault": 2, "not_needed": 1},
    }
    assert run.cost == Decimal("0.0024") and run.tokens_out == 200
    assert not Suggestion.stored.exists()
    row.refresh_from_db()
    assert not row.live and now(other).pk == other.pk
    new = now(row)
    assert (new.position, new.task_id, new.step_count) == (row.position, row.task_id, 4)
    decision = decision_of(new.content.raw_bytes())
    assert decision is not None
    written = {
        option.message["tool_calls"][0]["function"]["name"]: option
        for option in decision.options
        if option.origin == "judge"
    }
    assert written["find_all"].key == -1 and written["find_all"].source == {
        "judge": "Sage",
        "model": "ok",
        "prompt_version": "distractor-v1",
        "run": run.pk,
        "kind": "other_arguments",
    }
    assert written["search"].message == action(HOSTILE, [TypedCall("search", json.dumps({"query": HOSTILE}))])
    assert sorted(option.key for option in decision.options if option.origin == "step") == [-1, 1]
    assert JudgeAnswer.objects.filter(run=run).count() == 2
    verbs = AuditEvent.objects.filter(verb__in=("suggestions.start", "item.replace", "suggestions.end"))
    found = {event.verb: (event.actor, event.detail) for event in verbs}
    assert found["suggestions.start"][0] == cast.admin and found["suggestions.start"][1]["options"] == 4
    assert found["item.replace"][1]["options"] == 4
    # the same answer once more is stored once, and a question that is short is asked about again
    assert start(judge, options=4).progress_total == 1


def test_batch_that_is_stored_twice_adds_its_options_once(
    writer: JudgeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    cast, (row,) = make_questions_cast(1)
    kept: list[Any] = []
    real = store.store
    monkeypatch.setattr(
        "annotation.services.suggest.runner.store",
        lambda run, batch, **more: kept.append(batch) or real(run, batch, **more),
    )
    run = do(start(make_writer(cast, writer), options=4))

    assert real(run, kept[0]) == store.BatchTotals()
    run.refresh_from_db()
    assert run.distractors["added"] == 2 and now(row).step_count == 4
    assert Trajectory.objects.count() == 2


def test_question_that_somebody_begins_meanwhile_stays_as_it_is(writer: JudgeServer) -> None:
    cast, (before, during) = make_questions_cast(2)
    run = start(make_writer(cast, writer, concurrency=1), options=4)
    claim = assign.claim_this(actor=cast.ann, trajectory=before)

    real = store.add_options

    def claimed(*given: Any) -> None:
        assign.claim_this(actor=cast.ben, trajectory=during)
        real(*given)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(store, "add_options", claimed)
        run = do(run)
    assert (run.state, run.progress_done, run.calls) == (State.FINISHED, 2, 1)
    assert run.distractors == {"changed": 2, "refused": {}}
    assert now(before).step_count == now(during).step_count == 2
    claim.refresh_from_db()
    assert claim.state == "open"
    with pytest.raises(Invalid, match="Nothing to do"):
        start(run.judge, options=4)


def test_only_choices_of_an_action_with_a_key_and_too_few_options_that_nobody_labels_are_asked_about(
    writer: JudgeServer,
) -> None:
    cast, (asked, labelled, judged) = make_questions_cast(3)
    atomic = Asked(DecisionKind.CHOICE, Ability.ATOMIC, "en")
    text = Asked(DecisionKind.COMPLETION, Ability.ACTION, "en")
    import_questions(
        cast.project,
        question(10, Asked()),
        question(11, atomic),
        question(12, text),
        question(13, key=None),
        question(14, options=3),
    )
    (elsewhere,) = import_questions(cast.project, question(20), subset="other")
    assign.claim_this(actor=cast.ann, trajectory=labelled)
    Trajectory.objects.filter(pk=judged.pk).update(state="judged")
    judge = make_writer(cast, writer)
    estimated = estimate(viewer=cast.admin, judge=judge, options=3)
    assert (estimated.trajectories, estimated.tokens_out) == (2, 2 * (150 + 3 * 150))
    assert (
        estimate(viewer=cast.admin, judge=judge, options=3, selection=RunSelection(limit=1)).trajectories == 1
    )
    in_other = RunSelection(subset="other")
    assert estimate(viewer=cast.admin, judge=judge, options=3, selection=in_other).trajectories == 1
    run = do(start(judge, options=3))
    assert {call.key for call in writer.seen} == {"0", "20"}
    assert now(asked).step_count == now(elsewhere).step_count == 3
    assert run.distractors["added"] == 2


def test_who_may_not_ask_and_what_cannot_be_asked_for(writer: JudgeServer) -> None:
    cast, _ = make_questions_cast(1)
    judge = make_writer(cast, writer)
    with pytest.raises(Denied):
        suggest.start_run(actor=cast.ann, judge=judge, options=4)
    for options in (1, 65):
        with pytest.raises(Invalid) as bounds:
            start(judge, options=options)
        assert set(bounds.value.fields or ()) == {"options"}
    for selection in (
        RunSelection(state="labelling"),
        RunSelection(release="1.0"),
        RunSelection(policy_model="m"),
    ):
        with pytest.raises(Invalid, match="cannot be selected"):
            start(judge, options=4, selection=selection)
    with pytest.raises(Invalid, match="come from elsewhere"):
        start(make_imported_judge(cast.project), options=4)
    with pytest.raises(Invalid, match="Nothing to do"):
        start(judge, options=2)
    assert not SuggestionRun.objects.exists()
    start(judge, options=4)
    with pytest.raises(Conflict, match="Another judge is writing"):
        start(make_writer(cast, writer, name="Second"), options=4)
    with pytest.raises(Conflict, match="already has an active run"):
        start(judge)


def test_unusable_answer_fails_is_kept_and_can_be_asked_for_again(writer: JudgeServer) -> None:
    cast, (row,) = make_questions_cast(1)
    said: list[Any] = [{"actions": []}, [entry("elsewhere")]]
    writer.write("ok", lambda call: said[call.number - 1])
    run = do(start(make_writer(cast, writer), options=3))
    assert items(run) == {"due": 0, "done": 0, "failed": 1}
    assert JudgeAnswer.objects.get(run=run).failure == "no_labels"
    assert suggest.retry_failed(actor=cast.admin, run=run, enqueue=False) == 1
    assert do(run).distractors["added"] == 1, "a list alone is read too"
    assert now(row).step_count == 3


def test_key_that_a_judge_spells_in_escapes_stands_in_no_option(
    writer: JudgeServer, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    cast, (row,) = make_questions_cast(1)
    settings.JUDGE_KEYS = ["TRISTEP_JUDGE_KEY_TEST"]
    monkeypatch.setenv("TRISTEP_JUDGE_KEY_TEST", "sk-secret-of-the-tests")
    writer.write("ok", lambda call: [entry("sk-secret-of-the-tests", "sk-secret-of-the-tests")])
    do(start(make_writer(cast, writer, key_name="TRISTEP_JUDGE_KEY_TEST"), options=3))
    assert now(row).step_count == 3
    assert b"sk-secret" not in now(row).content.raw_bytes()


def test_answer_without_distractors_is_no_failure_to_label(writer: JudgeServer) -> None:
    cast = people.make_cast(kind="decisions", suggestion_policy="never", judges_first=True, judged_sample=0)
    rows = import_questions(cast.project, question(0, options=3))
    writer.write("ok", lambda call: [])
    failing = make_writer(cast, writer)
    assert do(start(failing, options=4)).progress_failed == 1
    others = [make_imported_judge(cast.project, f"file {n}") for n in range(2)]
    say(others, rows, [["same"] * 2])
    found = preview(viewer=cast.admin, project=cast.project, judges=[failing, *others])
    assert (found.waiting, found.people) == (1, 0)
    assert start(failing).progress_total == 1, "it is still to be asked for labels"


def test_judge_settles_nothing_to_which_it_wrote_an_option(writer: JudgeServer) -> None:
    cast = people.make_cast(kind="decisions", suggestion_policy="never", judges_first=True, judged_sample=0)
    row, whole = import_questions(cast.project, question(0), question(1, options=3))
    do(start(make_writer(cast, writer), options=3))
    judges = [
        make_imported_judge(cast.project, f"file {n}", **{"model": model})
        for n, model in enumerate(("ok", "b", "c", "d"))
    ]
    for item in (now(row), whole):
        say(judges, [item], [["same"] * 4])
    other = preview(viewer=cast.admin, project=cast.project, judges=judges[1:])
    assert (other.judged, other.people) == (2, 0)
    own = preview(viewer=cast.admin, project=cast.project, judges=judges[:3])
    assert (own.judged, own.people) == (1, 1), "of the same model is the same judge"
