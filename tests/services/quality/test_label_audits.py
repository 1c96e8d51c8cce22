"""Audits of labels: who reads and who decides, what is corrected, and what the certificate counts."""

from __future__ import annotations

import json
import re
from datetime import timedelta
from io import StringIO

import pytest
from django.core.management import call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotation.core.errors import Conflict, Denied, Invalid
from annotation.core.vocabulary import AuditedState, ExposureKind
from annotation.models import (
    Assignment,
    AuditDraw,
    AuditedTrajectory,
    AuditRuling,
    Consensus,
    Exposure,
    LabelAudit,
    Membership,
    Notice,
    OutcomeConsensus,
    Project,
    Recheck,
    Trajectory,
    User,
)
from annotation.policies import OPERATOR, field_access, visible
from annotation.reports.cases import history
from annotation.reports.quality import reader_scores
from annotation.reports.quality.audit_planning import plan
from annotation.reports.quality.audited_labels import to_decide
from annotation.reports.quality.label_audit import AuditReport, audit_report, certificate_json, corrections
from annotation.services import (
    adjudicate,
    assign,
    consensus,
    exposures,
    label,
    label_audits,
    projects,
    release,
)
from annotation.services.label_audits import comparing
from annotation.services.label_audits.ruling import StepRuling
from tests import callers, people
from tests.callers import signed_in
from tests.fixtures.shared_rows import shared_rows
from tests.people import Cast
from tests.services import auditing


@shared_rows
def audited(cast: Cast) -> Cast:
    """Two trajectories, the steps 2, 4 and 6 each, that ann and ben have labelled +1. Cleo and dora can read
    them; no other recheck is asked for."""
    values = {"retest_percent": 0}
    projects.update_project(actor=OPERATOR, project=cast.project, values=values)
    cast.project.refresh_from_db()
    people.make_member(cast.project, people.make_user("dora"), "annotator")
    people.import_records(cast.project, [people.make_record(query, steps=3) for query in range(2)])
    people.make_unanimous(cast, 2)
    return cast


def report_of(audit: LabelAudit) -> AuditReport:
    return audit_report(viewer=OPERATOR, audit=LabelAudit.objects.get(pk=audit.pk))


def readers(cast: Cast) -> list[people.User]:
    return [cast.cleo, people.User.objects.get(username="dora")]


def all_agree_but(cast: Cast, values: list[int], *, outcome: int = 1) -> None:
    """Both readers say +1 throughout, but of the first trajectory that comes these values."""
    for user in readers(cast):
        auditing.read(user, cast.project, values, outcome=outcome)
        auditing.read(user, cast.project)
    label_audits.sweep()


# ── Draws and readers ─────────────────────
@pytest.mark.postgres
def test_a_reading_is_reopened_like_first_labels_until_the_audit_has_compared_it(audited: Cast) -> None:
    auditing.begin(audited)
    cleo, dora = readers(audited)
    mine = auditing.read(cleo, audited.project)
    drawn = AuditedTrajectory.objects.get(trajectory=mine.trajectory_id)

    label.reopen(actor=cleo, assignment=mine)
    auditing.read(dora, audited.project)
    auditing.read(dora, audited.project)
    # as if it had been reopened after the sweep had found both of them done
    comparing._compare(drawn.pk, timezone.now())
    drawn.refresh_from_db()
    assert drawn.state == AuditedState.READING

    label.submit(actor=cleo, assignment=mine)
    assert label_audits.sweep() == 1
    with pytest.raises(Conflict) as refusal:
        label.reopen(actor=cleo, assignment=mine)
    assert refusal.value.code == "too_late"


def test_a_reading_is_final_where_one_person_labels_each_trajectory(audited: Cast) -> None:
    auditing.begin(audited)
    mine = auditing.read(audited.cleo, audited.project)
    Project.objects.filter(pk=audited.project.pk).update(annotators_per_trajectory=1)

    with pytest.raises(Conflict):
        label.reopen(actor=audited.cleo, assignment=Assignment.stored.get(pk=mine.pk))


def test_an_audit_asks_two_readers_who_have_had_nothing_to_do_with_it(audited: Cast) -> None:
    begun = auditing.begin(audited)

    asked = Recheck.objects.filter(audited__audit=begun)
    by_trajectory = {pk: set() for pk in asked.values_list("trajectory", flat=True)}
    for one in asked:
        by_trajectory[one.trajectory_id].add(one.annotator)
    assert list(by_trajectory.values()) == [set(readers(audited))] * 2


@pytest.mark.postgres
def test_an_audit_draws_with_replacement_and_reads_each_trajectory_once(audited: Cast) -> None:
    begun = auditing.begin(audited, 40)

    assert AuditDraw.objects.filter(audit=begun).count() == 40
    assert Recheck.objects.filter(audited__audit=begun).count() == 2 * 2
    assert report_of(begun).certificate.counts.drawn == 40


def test_added_draws_go_on_where_the_sequence_was(audited: Cast) -> None:
    begun = auditing.begin(audited, 40)
    whole = list(AuditDraw.objects.filter(audit=begun).values_list("audited__trajectory", flat=True))
    LabelAudit.objects.filter(pk=begun.pk).delete()
    again = auditing.begin(audited, 1)
    LabelAudit.objects.filter(pk=again.pk).update(seed=begun.seed)
    AuditDraw.objects.filter(audit=again).delete()

    for _ in range(2):
        label_audits.add_draws(actor=audited.admin, audit=again, draws=20)

    drawn = AuditDraw.objects.filter(audit=again).order_by("number")
    assert list(drawn.values_list("audited__trajectory", flat=True)) == whole


def test_a_trajectory_that_nobody_can_read_says_so_and_finds_a_reader_who_joins(audited: Cast) -> None:
    people.leave(audited.project, User.objects.get(username="dora"))

    begun = auditing.begin(audited)

    assert report_of(begun).progress.no_reader == 2


def test_two_audits_do_not_run_at_once(audited: Cast) -> None:
    begun = auditing.begin(audited)
    with pytest.raises(Conflict, match="is running"):
        auditing.begin(audited)

    label_audits.end_audit(actor=audited.admin, audit=begun)

    assert auditing.begin(audited).pk != begun.pk
    with pytest.raises(Conflict, match="has ended"):
        label_audits.add_draws(actor=audited.admin, audit=begun, draws=1)


def test_an_audit_of_nothing_or_of_a_senseless_size_is_refused(audited: Cast) -> None:
    with pytest.raises(Invalid):
        auditing.begin(audited, 0)
    with pytest.raises(Invalid):
        auditing.begin(audited, wished=1.0)
    with pytest.raises(Denied):
        label_audits.begin_audit(actor=audited.ann, project=audited.project, wished=0.1, draws=5)
    assert not LabelAudit.objects.exists()
    Trajectory.objects.update(state="labelling")
    with pytest.raises(Conflict, match="Nothing is resolved"):
        auditing.begin(audited)


def test_ending_an_audit_asks_for_no_further_readings_and_counts_what_comes(audited: Cast) -> None:
    begun = auditing.begin(audited)
    cleo, dora = readers(audited)
    auditing.read(dora, audited.project)
    open_one = people.claim(cleo, audited.project)

    label_audits.end_audit(actor=audited.admin, audit=begun)

    with pytest.raises(Conflict):
        people.claim(dora, audited.project)
    assert Assignment.stored.get(pk=open_one.pk).state == "open"
    people.make_member(audited.project, audited.oscar, "annotator")
    assign.return_assignment(actor=cleo, assignment=open_one, reason="Later.")
    with pytest.raises(Conflict):
        people.claim(audited.oscar, audited.project)
    assert assign.resume_assignment(actor=cleo, assignment=open_one).state == "open"
    assert report_of(begun).certificate.bound == 1.0


# ── What is found ─────────────────────────
@pytest.mark.postgres
def test_where_nobody_differs_nothing_is_decided_and_a_census_says_0(audited: Cast) -> None:
    begun = auditing.begin(audited)
    before = report_of(begun)
    assert (before.certificate.bound, before.proved) == (1.0, False)

    all_agree_but(audited, [1, 1, 1])

    after = report_of(begun)
    assert after.progress.done == 2
    assert after.certificate.error.value == 0
    assert 0.01 < after.certificate.bound < 0.1
    assert after.certificate.after == 0
    assert after.proved
    with pytest.raises(Conflict, match="waits for you"):
        label_audits.take_case(actor=audited.judith, project=audited.project)


@pytest.mark.postgres
def test_what_an_adjudicator_finds_wrong_is_corrected_and_counts(audited: Cast) -> None:
    begun = auditing.begin(audited)
    all_agree_but(audited, [1, -1, 1], outcome=0)
    first = Trajectory.objects.order_by("position").first()
    assert first is not None

    case = auditing.decide(audited.judith, audited.project, {4: -1, None: 0})

    assert (case.trajectory, case.state, case.wrong) == (first, AuditedState.DONE, 1)
    corrected = Consensus.objects.get(trajectory=first, step__message_index=4)
    assert (corrected.value, corrected.kind, corrected.resolved_by) == (-1, "adjudicated", audited.judith)
    assert corrected.root == corrected.step, "both readers say that the error begins there"
    assert OutcomeConsensus.objects.get(trajectory=first).value == 0
    found = report_of(begun)
    assert (found.corrected, found.outcomes) == (1, 1)
    drawn = AuditDraw.objects.filter(audited=case).count()
    assert found.certificate.error.value == pytest.approx(drawn / 60 / 3)
    told = corrections(viewer=audited.admin, audit=begun)
    assert {(row.step and row.step.message_index, row.before, row.value) for row in told} == {
        (4, 1, -1),
        (None, 1, 0),
    }


def test_a_consensus_that_is_upheld_stays_as_it_was(audited: Cast) -> None:
    begun = auditing.begin(audited)
    all_agree_but(audited, [1, 0, 1])
    before = list(Consensus.objects.order_by("pk").values())

    auditing.decide(audited.judith, audited.project, {4: 1})

    assert list(Consensus.objects.order_by("pk").values()) == before
    assert (report_of(begun).corrected, report_of(begun).certificate.error.value) == (0, 0)


@pytest.mark.postgres
def test_readers_are_held_against_the_consensus_that_they_had_no_part_in(
    audited: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = auditing.begin(audited)
    all_agree_but(audited, [1, -1, 1], outcome=0)
    case = auditing.decide(audited.judith, audited.project, {4: 1, None: 1})
    assert {str(one.reason) for one in reader_scores.reader_scores(begun).values()} == {
        str(reader_scores.TOO_FEW)
    }, "two trajectories would tell what was said of each"
    page = signed_in(audited.admin).get(f"/p/{audited.project.slug}/label-quality/").content.decode()
    assert page.count(str(reader_scores.TOO_FEW)) == 4, "in words, not as the title of a dash alone"
    assert 'title="too few' not in page
    monkeypatch.setattr(reader_scores, "FEWEST", 2)

    with CaptureQueriesContext(connection) as queries:
        found = reader_scores.reader_scores(begun)

    assert len(queries) == 5
    # both say −1 once in the first of two trajectories of three steps, and 0 of its outcome
    differing = AuditDraw.objects.filter(audited=case).count() / 60
    assert {name: (one.value, one.n) for name, one in found.items()} == {
        "step_accuracy": (pytest.approx(1 - differing / 3), 12),
        "first_error_accuracy": (pytest.approx(1 - differing), 4),
        "exact_match": (pytest.approx(1 - differing), 4),
        "outcome_accuracy": (pytest.approx(1 - differing), 4),
    }
    path = f"projects/{audited.project.slug}/label-quality/"
    sent = callers.Caller(audited.admin).get(f"/{path}").json()["readers"]["step_accuracy"]
    assert sent == found["step_accuracy"].as_json()
    printed = StringIO()
    call_command("label_quality", audited.project.slug, stdout=printed)
    assert f"FirstErrAcc        {1 - differing:.4f}" in printed.getvalue()
    page = signed_in(audited.admin).get(f"/p/{audited.project.slug}/label-quality/").content.decode()
    assert "Readers against the consensus" in page and "FirstErrAcc" in page


def test_a_corrected_root_takes_its_consequences_to_the_root_that_readers_name(cast: Cast) -> None:
    """Ann and ben: 2 is an error and 4 and 6 are its consequences. Readers: the error begins at 4."""
    values = {"retest_percent": 0}
    projects.update_project(actor=OPERATOR, project=cast.project, values=values)
    cast.project.refresh_from_db()
    people.make_member(cast.project, people.make_user("dora"), "annotator")
    (row,) = people.import_records(cast.project, [people.make_record(steps=3)])
    for user in (cast.ann, cast.ben):
        people.label_next(user, cast.project, [-1, -1, -1], outcome=-1)
    auditing.begin(cast)
    for user in readers(cast):
        auditing.read(user, cast.project, [1, -1, -1], outcome=-1)
    label_audits.sweep()

    auditing.decide(cast.judith, cast.project, {2: 1})

    steps = Consensus.objects.filter(trajectory=row).order_by("step__message_index")
    assert list(steps.values_list("value", "root__message_index")) == [(1, None), (-1, 4), (-1, 4)]


def test_a_release_is_not_touched_by_a_correction_and_the_next_one_has_it(audited: Cast) -> None:
    auditing.begin(audited)
    frozen = release.freeze(actor=audited.admin, project=audited.project, version="v1")
    before = release.verify(actor=audited.admin, release=frozen)
    all_agree_but(audited, [1, -1, 1])

    auditing.decide(audited.judith, audited.project, {4: -1})

    assert release.verify(actor=audited.admin, release=frozen) == before
    again = release.freeze(actor=audited.admin, project=audited.project, version="v2")
    values = again.labels.filter(message_index=4).values_list("value", flat=True)
    assert sorted(values) == [-1, 1]


@pytest.mark.postgres
def test_a_consensus_that_is_taken_back_is_compared_anew_and_decisions_stand(cast: Cast) -> None:
    values = {"retest_percent": 0}
    projects.update_project(actor=OPERATOR, project=cast.project, values=values)
    cast.project.refresh_from_db()
    people.make_member(cast.project, people.make_user("dora"), "annotator")
    jack = people.make_user("jack")
    people.make_member(cast.project, jack, "adjudicator")
    (row,) = people.import_records(cast.project, 1)
    people.make_disputed(cast)
    closed = people.make_adjudicated(cast, row)
    begun = auditing.begin(cast)
    for user in readers(cast):
        auditing.read(user, cast.project, [1, 0])
    label_audits.sweep()
    with pytest.raises(Conflict, match="waits for you"):
        label_audits.take_case(actor=cast.judith, project=cast.project)
    auditing.decide(jack, cast.project, {4: 0})
    assert Notice.objects.get(user=cast.judith, kind="corrected").adjudication == closed

    adjudicate.reopen_case(actor=cast.judith, adjudication=closed)
    assert report_of(begun).certificate.bound == 1.0
    closed.refresh_from_db()
    adjudicate.close_case(actor=cast.judith, adjudication=closed)
    assert Consensus.objects.get(trajectory=row, step__message_index=4).value == 1
    label_audits.sweep()

    assert Consensus.objects.get(trajectory=row, step__message_index=4).value == 0
    assert AuditedTrajectory.objects.get(audit=begun).wrong == 1


# ── Who decides ───────────────────────────
def test_a_case_goes_to_no_admin_and_to_nobody_who_has_seen_labels_of_it(audited: Cast) -> None:
    auditing.begin(audited)
    all_agree_but(audited, [1, -1, 1])
    first = Trajectory.objects.order_by("position").first()
    assert first is not None
    mine = Membership.objects.filter(user=audited.judith, project=audited.project)
    mine.update(is_admin=True)
    with pytest.raises(Conflict, match="waits for you"):
        label_audits.take_case(actor=audited.judith, project=audited.project)
    mine.update(is_admin=False)
    exposures.expose(user=audited.judith, trajectory=first, kind=ExposureKind.CONSENSUS)

    with pytest.raises(Conflict, match="waits for you"):
        label_audits.take_case(actor=audited.judith, project=audited.project)

    begun = LabelAudit.objects.get()
    assert report_of(begun).progress.no_adjudicator == 1


def test_an_adjudicator_sees_three_values_and_nothing_that_names_them(audited: Cast) -> None:
    auditing.begin(audited)
    all_agree_but(audited, [1, -1, 0])
    case = label_audits.take_case(actor=audited.judith, project=audited.project)

    seen = to_decide(case)

    assert [(one.step.message_index, sorted(one.values)) for one in seen if one.step] == [
        (4, [-1, -1, 1]),
        (6, [0, 0, 1]),
    ]
    access = field_access(audited.judith, case.trajectory)
    assert (access.mode, access.consensus, access.others_labels, access.names) == (
        "adjudicator",
        False,
        False,
        False,
    )
    assert access.suggestions == "never"
    assert Exposure.objects.filter(user=audited.judith, trajectory=case.trajectory, kind="label").exists()
    for other in (audited.admin, audited.root, audited.ann):
        assert not visible(other, AuditedTrajectory.objects.all()).exists()
    assert label_audits.take_case(actor=audited.judith, project=audited.project) == case


def test_what_is_sent_of_a_case_tells_neither_whose_a_label_is_nor_which_is_the_consensus(
    audited: Cast,
) -> None:
    auditing.begin(audited)
    all_agree_but(audited, [1, -1, 0])
    page, api = f"/p/{audited.project.slug}/adjudication/take-audit/", f"/projects/{audited.project.slug}/"
    taken = signed_in(audited.judith).post(page).headers["Location"]
    case = callers.Caller(audited.judith).post(f"{api}audit-cases/", {}).json()
    assert taken == f"/audit-cases/{case['id']}/"

    sent = callers.Caller(audited.judith).get(taken).json()
    shown = signed_in(audited.judith).get(taken).content.decode()

    assert set(sent) == {"id", "to_decide", "trajectory"}
    assert [set(one) for one in sent["to_decide"]] == [{"message_index", "labels"}] * 2
    for body in (json.dumps(sent), shown):
        assert not re.search(r"\b(Ann|Ben|Cleo|Dora|ann|ben|cleo|dora|unanimous)\b|reader-canary", body)
    for path in (f"{api}label-quality/", f"{api}label-audits/"):
        told = callers.Caller(audited.admin).get(path).content.decode()
        assert "reader-canary" not in told and "tiny:" not in told
    told = signed_in(audited.admin).get(f"/p/{audited.project.slug}/label-quality/").content.decode()
    assert "reader-canary" not in told and "tiny:" not in told


def test_what_stacked_judges_doubt_is_drawn_more_often(
    audited: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = Trajectory.objects.order_by("position")
    monkeypatch.setattr(
        "annotation.services.label_audits.begin.expected_wrong", lambda _project: {first.pk: 0.3}
    )

    monkeypatch.setattr(
        "annotation.reports.quality.audit_planning.expected_wrong", lambda _project: {first.pk: 0.3}
    )

    asked = {"viewer": audited.admin, "project": audited.project, "wished": 0.01}
    mixed, plain = plan(**asked), plan(**asked, mixed=False)
    assert (mixed.mixed, plain.mixed) == (True, False)
    # log(.05) / log(1 − .01) = 298.1, and 10 in place of 9 where one draw may count for 10 / 9
    assert mixed.draws and plain.draws and 299 <= plain.draws < 320 and 332 <= mixed.draws < 356
    by_steps = auditing.begin(audited, mixed=False)
    assert not by_steps.mixed and set(by_steps.trajectories.values_list("chance", flat=True)) == {0.5}
    label_audits.end_audit(actor=audited.admin, audit=by_steps)
    begun = auditing.begin(audited)

    chances = dict(begun.trajectories.values_list("trajectory", "chance"))
    assert begun.mixed and chances == pytest.approx({first.pk: 0.55, second.pk: 0.45})
    all_agree_but(audited, [1, 1, 1])
    assert report_of(begun).certificate.after == 0


def test_the_places_of_the_labels_differ_from_step_to_step(audited: Cast) -> None:
    """Over 200 seeds the consensus, which alone says +1, stands at each place about as often."""
    auditing.begin(audited)
    all_agree_but(audited, [1, -1, 1])
    case = label_audits.take_case(actor=audited.judith, project=audited.project)

    places = []
    for seed in range(200):
        case.letter_seed = seed
        ((one),) = to_decide(case)
        places.append(one.values.index(1))

    assert all(40 < places.count(place) < 95 for place in range(3))


def test_a_case_is_decided_whole_by_its_adjudicator_and_what_is_alike_is_left_alone(audited: Cast) -> None:
    auditing.begin(audited)
    all_agree_but(audited, [1, -1, 1], outcome=-1)
    case = label_audits.take_case(actor=audited.judith, project=audited.project)

    with pytest.raises(Invalid) as refused:
        label_audits.decide_case(actor=audited.judith, audited=case, rulings={4: StepRuling(1)})
    assert refused.value.details == {"missing": [], "outcome": True}
    with pytest.raises(Invalid, match="not to be decided"):
        label_audits.decide_case(actor=audited.judith, audited=case, rulings={2: StepRuling(1)})
    exposures.expose(user=audited.judith, trajectory=case.trajectory, kind=ExposureKind.CONSENSUS)
    with pytest.raises(Denied, match="seen the consensus"):
        label_audits.decide_case(
            actor=audited.judith, audited=case, rulings={4: StepRuling(1), None: StepRuling(1)}
        )
    label_audits.sweep()
    case.refresh_from_db()
    assert (case.state, case.adjudicator) == (AuditedState.DECIDING, None)


# ── What is told ──────────────────────────
@pytest.mark.parametrize("how", ["expires", "taken back"])
def test_what_is_chosen_in_a_case_is_kept_for_its_adjudicator_and_decides_nothing(
    audited: Cast, how: str
) -> None:
    audit = auditing.begin(audited)
    all_agree_but(audited, [1, -1, 0])
    case = label_audits.take_case(actor=audited.judith, project=audited.project)
    page, judith = f"/audit-cases/{case.pk}/", signed_in(audited.judith)

    def kept() -> list[tuple[int | None, str]]:
        case.refresh_from_db()
        return [(one.chosen, one.note) for one in to_decide(case)]

    assert judith.post(page, {"value-4": "-1", "note-4": "It\nrepeats.", "keep": "1"}).status_code == 302
    assert kept() == [(-1, "It\nrepeats."), (None, "")]
    shown = judith.get(page).content.decode()
    assert re.findall(r'value="(-?\d)"\s+checked', shown) == ["-1"] and "It\nrepeats.</textarea>" in shown
    assert not corrections(viewer=audited.admin, audit=audit).exists()
    by_script = judith.post(page, {"value-6": "1", "keep": "1"}, headers={"accept": "application/json"})
    assert by_script.json() == {} and kept() == [(None, ""), (1, "")]

    # it goes with the case, and with the consensus that it is about
    if how == "expires":
        AuditedTrajectory.objects.filter(pk=case.pk).update(taken_at=timezone.now() - timedelta(days=8))
        label_audits.sweep()
    else:
        consensus.unsettle(trajectory=case.trajectory, actor=None)
    assert not AuditRuling.objects.exists()


def test_annotators_are_told_of_a_correction_where_they_may_read_the_consensus(audited: Cast) -> None:
    auditing.begin(audited)
    all_agree_but(audited, [1, -1, 1])
    auditing.decide(audited.judith, audited.project, {4: -1})

    assert {row.user for row in Notice.objects.filter(kind="corrected")} == {audited.ann, audited.ben}


def test_annotators_are_not_told_where_retests_are_asked_of_them(audited: Cast) -> None:
    auditing.begin(audited)
    all_agree_but(audited, [1, -1, 1])
    projects.update_project(actor=OPERATOR, project=audited.project, values={"retest_percent": 5})

    auditing.decide(audited.judith, audited.project, {4: -1})

    assert not Notice.objects.filter(kind="corrected").exists()


def test_history_tells_what_was_corrected_and_not_what_readers_said(audited: Cast) -> None:
    auditing.begin(audited)
    all_agree_but(audited, [1, -1, 1])
    first = Trajectory.objects.order_by("position").first()
    assert first is not None
    auditing.decide(audited.judith, audited.project, {4: -1})

    entries, _talk = history.history(actor=audited.admin, trajectory=first, place="everything")

    (one,) = [entry for entry in entries if entry.kind == "corrected"]
    assert (one.value, one.detail["previous"], one.message_index) == (-1, 1, 4)
    assert not any("reader-canary" in entry.note for entry in entries)


def test_the_certificate_takes_as_many_queries_however_much_there_is(audited: Cast) -> None:
    begun = auditing.begin(audited, 3)

    def queries() -> int:
        with CaptureQueriesContext(connection) as asked:
            certificate_json(report_of(begun))
        return len(asked)

    few = queries()
    label_audits.add_draws(actor=audited.admin, audit=begun, draws=100)
    all_agree_but(audited, [1, -1, 1])
    auditing.decide(audited.judith, audited.project, {4: -1})

    assert queries() == few


def test_a_reader_claims_a_reading_like_any_other_trajectory(audited: Cast) -> None:
    auditing.begin(audited)

    claimed = assign.claim_next(actor=audited.cleo, project=audited.project)

    assert claimed.recheck is not None and claimed.slot is None
    assert field_access(audited.cleo, claimed.trajectory).mode == "annotator"
