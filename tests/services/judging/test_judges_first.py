"""Judges first: what three judges settle before people are asked, what is drawn for people, and undo."""

from __future__ import annotations

import io
import random
from collections import Counter

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotation.core.decisions.judges_first import JudgesFirst
from annotation.core.errors import Conflict, Denied, Invalid
from annotation.models import (
    Assignment,
    AuditEvent,
    Consensus,
    JudgesFirstVerdict,
    OutcomeConsensus,
    PairedLabels,
    SuggestionItem,
    SuggestionRun,
    Trajectory,
)
from annotation.policies import OPERATOR
from annotation.reports.agreement.report import agreement
from annotation.reports.judging import judges_first as report
from annotation.reports.judging.judge_figures import judge_agreement
from annotation.services import judges_first, label, projects
from annotation.services.release import verify
from tests import people
from tests.fixtures.judges_first import KEY, import_keyed, make_judges_first_cast, say
from tests.people import Cast, make_project
from tests.services.publishing import freeze

pytestmark = pytest.mark.django_db

ITEMS = 200


def settle(cast: Cast, judges: list) -> report.Settlement:
    return judges_first.settle_judged(actor=cast.admin, project=cast.project, judges=judges)


@pytest.mark.postgres
def test_items_with_known_votes_of_three_judges_settle_as_the_rule_says() -> None:
    cast, rows, judges = make_judges_first_cast(ITEMS, judged_sample=0)
    chance = random.Random(7)
    names = ["key", "reverse", "tied", "mixed", "missing"]
    votes = [[chance.choice(names[:2] if at % 2 else names) for _ in range(3)] for at in range(ITEMS)]
    expected = [
        JudgesFirst.JUDGED if set(vote) == {"key"} else
        JudgesFirst.DROPPED if set(vote) == {"reverse"} else
        JudgesFirst.PEOPLE
        for vote in votes
    ]  # fmt: skip
    counts = Counter(expected)
    assert min(counts.values()) > 10
    say(judges, rows, votes)

    planned = report.preview(viewer=cast.admin, project=cast.project, judges=judges)
    assert not JudgesFirstVerdict.objects.exists(), "a preview changes nothing"
    assert settle(cast, judges) == planned
    assert (planned.judged, planned.dropped, planned.people) == tuple(counts[it] for it in JudgesFirst)

    found = dict(JudgesFirstVerdict.objects.values_list("trajectory", "verdict"))
    assert [found[row.pk] for row in rows] == expected
    states = dict(Trajectory.objects.values_list("pk", "state"))
    free = dict(Trajectory.objects.values_list("pk", "free_slots"))
    outcomes = dict(OutcomeConsensus.objects.values_list("trajectory", "value"))
    for row, verdict in zip(rows, expected, strict=True):
        settled = verdict is not JudgesFirst.PEOPLE
        assert (states[row.pk], free[row.pk]) == (("judged", 0) if settled else ("labelling", 2))
        assert outcomes.get(row.pk) == {JudgesFirst.JUDGED: 1, JudgesFirst.DROPPED: -1}.get(verdict)
    of_steps = Counter(Consensus.objects.values_list("trajectory__judges_first__verdict", "value", "kind"))
    judged, dropped = counts[JudgesFirst.JUDGED], counts[JudgesFirst.DROPPED]
    assert of_steps == {
        ("judged", 1, "judged"): judged,
        ("judged", -1, "judged"): 2 * judged,
        ("dropped", 0, "judged"): 3 * dropped,
    }
    # people are given what is left, and nothing else
    claimed = people.claim(cast.ann, cast.project)
    assert found[claimed.trajectory_id] == JudgesFirst.PEOPLE
    events = AuditEvent.objects.filter(verb="judges_first.settle")
    assert {event.actor for event in events} == {cast.admin}
    assert sum(event.detail["judged"] for event in events) == judged, "one for each part"
    with pytest.raises(Conflict, match="Nothing is left"):
        settle(cast, judges)


def test_statements_are_as_many_for_a_hundred_items_as_for_ten() -> None:
    cast, _, judges = make_judges_first_cast(judged_sample=5)

    def statements(how_many: int, first: int) -> int:
        rows = import_keyed(cast.project, how_many, first=first)
        say(judges, rows, [["key"] * 3, ["mixed"] * 3] * (how_many // 2))
        with CaptureQueriesContext(
            connection,
        ) as asked:
            settle(cast, judges)
        return len(asked)

    few = statements(10, 0)
    assert statements(100, 10) <= few + 1


def test_what_no_judge_was_asked_about_waits_and_what_one_failed_at_goes_to_people() -> None:
    cast, rows, judges = make_judges_first_cast(4, judged_sample=0)
    failed, unasked, keyless, taken = rows
    say(judges[:2], [failed, unasked], [["key"] * 2] * 2)
    run = SuggestionRun.objects.create(
        judge=judges[2], project=cast.project, state="finished", created_at=failed.source.created_at
    )
    SuggestionItem.objects.create(run=run, trajectory=failed, state="failed")
    no_key = import_keyed(cast.project, 1, first=9, key=(1, None))[0]
    say(judges, [taken], [["key"] * 3])
    with pytest.raises(Conflict, match="nothing left for you"):
        people.claim(cast.ann, cast.project)  # judges are asked first
    assignment = Assignment.objects.create(
        project=cast.project, trajectory=taken, annotator=cast.ann, slot=0, guideline_version=1,
        claimed_at=failed.source.created_at, last_used_at=failed.source.created_at,
    )  # fmt: skip
    Trajectory.objects.filter(pk=taken.pk).update(free_slots=1)

    done = settle(cast, judges)

    assert (done.people, done.lacking, done.claimed, done.waiting) == (3, 1, 1, 2)
    left = set(JudgesFirstVerdict.objects.filter(verdict="people").values_list("trajectory", flat=True))
    assert left == {failed.pk, no_key.pk, taken.pk} and assignment.trajectory_id in left
    # it is asked later, and then considered
    say(judges[2:], [unasked], [["same"]])
    say(judges, [keyless], [["reverse"] * 3])
    done = settle(cast, judges)
    assert (done.judged, done.dropped, done.waiting) == (1, 1, 0)


def test_judged_item_is_claimed_in_the_moment_in_which_it_is_settled(monkeypatch: pytest.MonkeyPatch) -> None:
    cast, rows, judges = make_judges_first_cast(2, judged_sample=0)
    say(judges, rows, [["key"] * 3] * 2)
    considered = report._consider

    def meanwhile(*args: object) -> list[report.Considered]:
        found = considered(*args)  # type: ignore[arg-type]
        if not Assignment.objects.exists():
            projects.update_project(actor=OPERATOR, project=cast.project, values={"judges_first": False})
            cast.project.refresh_from_db()
            people.claim(cast.ann, cast.project)
        return found

    monkeypatch.setattr(report, "_consider", meanwhile)
    done = settle(cast, judges)
    assert (done.judged, done.people, done.claimed) == (1, 1, 1)
    claimed = Assignment.objects.get().trajectory
    assert claimed.state == "labelling" and claimed.judges_first.verdict == JudgesFirst.PEOPLE


@pytest.mark.postgres
def test_audited_96_of_100_have_wilsons_interval_and_come_to_people_like_any_other() -> None:
    cast, rows, judges = make_judges_first_cast(150, annotators_per_trajectory=1, retest_percent=0)
    say(judges, rows, [["key"] * 3] * 140 + [["mixed"] * 3] * 10)
    done = settle(cast, judges)
    assert (done.judged, done.people) == (140, 10)

    found = report.summary(cast.project)
    assert found is not None and found.audit.as_json() == {
        "drawn": 100, "done": 0, "agreed": 0, "share": None, "low": 0.0, "high": 1.0
    }  # fmt: skip
    drawn = set(JudgesFirstVerdict.objects.filter(drawn=True).values_list("trajectory", flat=True))
    queued = Trajectory.objects.filter(free_slots__gt=0)
    columns = ("state", "free_slots", "agreement", "doubt", "stratum", "live")
    assert len(set(queued.values_list(*columns))) == 1, "nothing tells them apart"
    assert queued.count() == 110 and not Consensus.objects.filter(trajectory__in=drawn).exists()

    lines = []
    against = sorted(drawn)[:4]
    for row in Trajectory.objects.filter(free_slots__gt=0).select_related("content"):
        key = {str(label.message): label.value for label in row.content.labels_of_source()}
        # of the four who say otherwise, two would drop the item
        dropped, turned = row.pk in against[:2], row.pk in against[2:]
        said = {index: -value for index, value in key.items()} if turned else key
        lines.append({"record_id": row.record_id, "step_labels": said, "final_label": -1 if dropped else 1})
    label.import_labels(
        actor=OPERATOR,
        project=cast.project,
        annotator="ann",
        stream=io.BytesIO(people.jsonl(lines)),
        filename="ann.jsonl",
    )

    audited = report.summary(cast.project).audit.as_json()
    assert (audited["drawn"], audited["done"], audited["agreed"], audited["share"]) == (100, 100, 96, 0.96)
    assert (round(audited["low"], 4), round(audited["high"], 4)) == (0.9016, 0.9843)
    # judges are no raters, and their labels are in no figure of people
    assert agreement(viewer=cast.admin, project=cast.project).overall.steps.n == 0
    assert not PairedLabels.objects.exists()
    beside = judge_agreement(viewer=cast.admin, judge=judges[0]).consensus[0]
    assert beside.steps.steps == 110 * len(KEY), "of the 40 that judges alone settled, none"

    release = freeze(cast.project)
    manifest = release.parsed_manifest()
    assert manifest["judges_first"] == {
        "judged": 140, "dropped": 0, "people": 10, "waiting": 0, "audit": audited
    }  # fmt: skip
    assert manifest["origins"]["outcomes"] == {"judged": 40, "unanimous": 110}
    assert manifest["label_kinds"]["judged"] == 40 * len(KEY)
    assert verify(actor=OPERATOR, release=release).problems == ()


def test_draws_are_topped_up_and_stay_a_sample_of_all_that_is_judged() -> None:
    cast, rows, judges = make_judges_first_cast(20, judged_sample=5)
    say(judges, rows, [["key"] * 3] * 20)
    settle(cast, judges)
    more = import_keyed(cast.project, 20, first=20)
    say(judges, more, [["key"] * 3] * 20)
    settle(cast, judges)

    verdicts = list(JudgesFirstVerdict.objects.order_by("place"))
    assert [one.drawn for one in verdicts[:5]] == [True] * 5
    assert report.summary(cast.project).audit.drawn == 5
    drawn = sum(one.drawn for one in verdicts)
    assert 5 <= drawn <= 10, "what was drawn once stays with people"
    assert Trajectory.objects.filter(state="judged").count() == 40 - drawn


@pytest.mark.postgres
def test_judged_items_are_sent_back_to_people_for_good() -> None:
    cast, rows, judges = make_judges_first_cast(3, judged_sample=0)
    say(judges, rows, [["key"] * 3, ["reverse"] * 3, ["key"] * 3])
    settle(cast, judges)
    with pytest.raises(Denied):
        judges_first.send_back(actor=cast.ann, project=cast.project)
    assert judges_first.send_back(actor=cast.admin, project=cast.project, trajectories=[rows[0].pk]) == 1
    row = Trajectory.objects.get(pk=rows[0].pk)
    assert (row.state, row.free_slots, row.judges_first.verdict) == ("labelling", 2, "people")
    assert not Consensus.objects.filter(trajectory=row).exists()
    assert people.claim(cast.ann, cast.project).trajectory_id == row.pk
    assert judges_first.send_back(actor=cast.admin, project=cast.project) == 2
    assert not OutcomeConsensus.objects.exists()
    with pytest.raises(Conflict, match="settled none"):
        judges_first.send_back(actor=cast.admin, project=cast.project)
    assert AuditEvent.objects.filter(verb="judges_first.send_back").count() == 2


def test_number_of_annotators_opens_no_place_where_judges_settled() -> None:
    cast, rows, judges = make_judges_first_cast(2, judged_sample=0)
    say(judges, rows, [["key"] * 3, ["mixed"] * 3])
    settle(cast, judges)
    projects.update_project(actor=OPERATOR, project=cast.project, values={"annotators_per_trajectory": 3})
    assert {*Trajectory.objects.values_list("state", "free_slots")} == {("judged", 0), ("labelling", 3)}


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"suggestion_policy": "after_label"}, "suggestion_policy"),
        ({"second_reader": "judges"}, "judges_first"),
        ({"judged_sample": 1_001}, "judged_sample"),
        ({"kind": "steps"}, "judges_first"),
        ({"kind": "steps", "judges_first": False, "judged_sample": 5}, "judged_sample"),
    ],
)
def test_setting_is_refused_where_judges_cannot_be_asked_first(values: dict[str, object], field: str) -> None:
    settings = {"kind": "decisions", "suggestion_policy": "never", "judges_first": True}
    with pytest.raises(Invalid) as refused:
        make_project("other", **{**settings, **values})
    assert list(refused.value.fields) == [field]


def test_queue_keeps_an_order_of_chance_which_tells_nothing_of_what_judges_agreed_on() -> None:
    cast, _, _ = make_judges_first_cast(1)
    with pytest.raises(Conflict, match="order of chance"):
        projects.triage(actor=cast.admin, project=cast.project)
    projects.update_project(actor=OPERATOR, project=cast.project, values={"judges_first": False})
    cast.project.refresh_from_db()
    projects.triage(actor=cast.admin, project=cast.project)
    with pytest.raises(Invalid, match="Shuffle it again"):
        projects.update_project(actor=OPERATOR, project=cast.project, values={"judges_first": True})


def test_settling_is_refused_in_a_sentence() -> None:
    cast, rows, judges = make_judges_first_cast(1)
    with pytest.raises(Invalid, match="at least 3 judges"):
        settle(cast, [judges[0], judges[0], judges[1]])
    SuggestionRun.objects.create(
        judge=judges[1], project=cast.project, state="running", created_at=rows[0].source.created_at
    )
    with pytest.raises(Conflict, match="canary judge 1"):
        settle(cast, judges)
    with pytest.raises(Denied):
        judges_first.settle_judged(actor=cast.judith, project=cast.project, judges=judges)
    projects.update_project(actor=OPERATOR, project=cast.project, values={"judges_first": False})
    cast.project.refresh_from_db()
    with pytest.raises(Conflict, match="does not ask judges first"):
        settle(cast, judges)
