"""A small project as a state machine (hypothesis): whatever people do, allowed or not, some things hold, and
everything can still be finished.

People claim, label, submit, return, leave and come back; claims expire; cases change hands, are discussed,
decided and reopened; releases are frozen. What is refused must leave no trace. At the end new people come, do
what they may, and everything must be resolved.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.utils import timezone
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from annotation.core.errors import TristepError
from annotation.core.vocabulary import (
    RESOLVED,
    AdjudicationState,
    AssignmentState,
    ConsensusKind,
    TrajectoryState,
)
from annotation.models import (
    Adjudication,
    Assignment,
    AuditEvent,
    CaseEvent,
    Comment,
    Consensus,
    Decision,
    Discussion,
    Label,
    LabelEvent,
    Membership,
    Notice,
    OutcomeConsensus,
    OutcomeLabel,
    Release,
    ReleaseRecord,
    Revision,
    Step,
    ThreadRead,
    Trajectory,
    User,
)
from annotation.policies import OPERATOR, visible
from annotation.services import (
    accounts,
    adjudicate,
    assign,
    claim_expiry,
    discuss,
    label,
    noted_reads,
    projects,
    release,
)
from tests import people
from tests.people import Cast

TRAJECTORIES = 3
N = 2
# those who have a part in most disputes come more often
WHO = st.sampled_from((*("ann", "ben", "judith") * 2, "cleo", "admin", "oscar"))
# "": whoever has the case
ADJUDICATORS = st.sampled_from(("", "", "", "judith", "oscar", "ann", "admin"))
ADMINS = st.sampled_from(("admin", "admin", "judith"))
WHICH = st.sampled_from((0, 0, 0, 1, 1, 2))
WHERE = st.sampled_from((2, 4, None, 3))
VALUE = st.sampled_from((-1, 0, 1))
TEXT = st.sampled_from(("Look.", "@A @B, look.", "@Adjudicator?", "@C?", "", "x" * 20_001))
# joining and opening come more often than their opposites, so that there is somebody left to act
CHANGES = st.sampled_from((*("join", "open") * 2, "roles", "remove", "close", "close behind the service"))
APPEND_ONLY: tuple[Any, ...] = (Comment, Revision, CaseEvent, LabelEvent, AuditEvent, Discussion)
TRACES: tuple[Any, ...] = (*APPEND_ONLY, Consensus, Decision, Notice, ThreadRead, Release, Adjudication)


class Invariants(RuleBasedStateMachine):
    """One small project, what always holds in it, and its end."""

    cast: Cast
    trajectories: list[Trajectory]

    def __init__(self) -> None:
        super().__init__()
        self.now: datetime = timezone.now()
        self.counts: dict[Any, int] = {}
        self.submitted: dict[int, Any] = {}
        self._savepoint = transaction.atomic()
        self._savepoint.__enter__()

    # ── What always holds ─────────────────
    @invariant()
    def nobody_who_has_left_holds_anything(self) -> None:
        annotators = Membership.objects.filter(is_annotator=True, user__is_active=True).values("user")
        held = Assignment.objects.filter(state=AssignmentState.OPEN).exclude(annotator__in=annotators)
        assert not held.exists()
        judges = Membership.objects.filter(is_adjudicator=True, user__is_active=True).values("user")
        cases = Adjudication.objects.filter(state=AdjudicationState.OPEN).exclude(adjudicator__in=judges)
        assert not cases.exists()

    @invariant()
    def free_slots_are_counted(self) -> None:
        for row in Trajectory.objects.all():
            active = Assignment.objects.filter(trajectory=row, state__in=("open", "submitted")).count()
            assert row.free_slots == N - active

    @invariant()
    def nothing_that_was_said_is_lost(self) -> None:
        counts = {model: model._default_manager.count() for model in APPEND_ONLY}
        assert all(counts[model] >= self.counts.get(model, 0) for model in APPEND_ONLY)
        self.counts = counts

    @invariant()
    def labels_of_settled_trajectories_never_change(self) -> None:
        rows = Assignment.objects.filter(state=AssignmentState.SUBMITTED)
        for pk in rows.exclude(trajectory__state=TrajectoryState.LABELLING).values_list("pk", flat=True):
            steps = Label.objects.filter(assignment=pk).values_list("step", "value", "root", "note")
            outcome = OutcomeLabel.objects.filter(assignment=pk).values_list("value", "note")
            now = (list(steps), list(outcome))
            assert self.submitted.setdefault(pk, now) == now

    @invariant()
    def cases_consensus_and_states_belong_together(self) -> None:
        for row in Trajectory.objects.all():
            steps = Consensus.objects.filter(trajectory=row).count()
            outcome = OutcomeConsensus.objects.filter(trajectory=row).count()
            resolved = row.state in (TrajectoryState.UNANIMOUS, TrajectoryState.ADJUDICATED)
            assert (steps, outcome) == ((row.step_count, 1) if resolved else (0, 0))
            cases = Adjudication.objects.filter(trajectory=row).exclude(state=AdjudicationState.RELEASED)
            states = list(cases.values_list("state", flat=True))
            assert len(states) <= 1
            if row.state == TrajectoryState.ADJUDICATED:
                assert states == [AdjudicationState.DECIDED]
            else:
                assert states in ([], [AdjudicationState.OPEN] if row.state == "disputed" else [])
            labelled = Assignment.objects.filter(trajectory=row).values("annotator")
            assert not cases.filter(adjudicator__in=labelled).exists()
            if row.state == TrajectoryState.LABELLING:
                assert not Discussion.objects.filter(trajectory=row).exists()

    @invariant()
    def origin_of_every_resolved_label_is_true(self) -> None:
        for row in Trajectory.objects.filter(state=TrajectoryState.ADJUDICATED):
            case = Adjudication.objects.get(trajectory=row, state=AdjudicationState.DECIDED)
            decisions = {decision.step_id: decision for decision in case.decisions.all()}
            outcome = OutcomeConsensus.objects.get(trajectory=row)
            resolved: list[tuple[int | None, Any]] = [(None, outcome)]
            resolved += [(one.step_id, one) for one in Consensus.objects.filter(trajectory=row)]
            for step, one in resolved:
                given, now = self._said(row, step)
                decided = decisions.get(step)
                if one.kind == ConsensusKind.ADJUDICATED:
                    assert decided is not None and decided.value == one.value
                    assert one.resolved_by == case.adjudicator
                else:
                    assert set(now) == {one.value}
                    untouched = set(given) == {one.value}
                    assert one.kind == (ConsensusKind.UNANIMOUS if untouched else ConsensusKind.DISCUSSED)
                if step is not None and one.root_id is not None:
                    assert Consensus.objects.get(step=one.root_id).value == -1
                    assert Step.objects.get(pk=one.root_id).ordinal <= Step.objects.get(pk=step).ordinal

    def _said(self, row: Trajectory, step: int | None) -> tuple[list[int], list[int]]:
        """The submitted labels of a step, and the present ones: looked up one by one."""
        given, now = [], []
        for mine in Assignment.objects.filter(trajectory=row, state=AssignmentState.SUBMITTED):
            found: Any = mine.outcome if step is None else mine.labels.get(step=step)
            changed = mine.revisions.filter(step=step).last()
            given.append(found.value)
            now.append(changed.value if changed else found.value)
        return given, now

    @invariant()
    def release_holds_what_is_resolved_and_stays_so(self) -> None:
        held = ReleaseRecord.objects.filter(release__withdrawal__isnull=True, release__number__gt=0)
        for record in held:
            row = Trajectory.objects.get(record_id=record.record_id)
            labels = dict(record.labels.values_list("message_index", "value"))
            steps = dict(row.consensus.values_list("step__message_index", "value"))
            assert labels == {**steps, None: row.outcome_consensus.value}

    @invariant()
    def only_those_speak_and_are_told_whom_it_concerns(self) -> None:
        for talk in Discussion.objects.all():
            labelled = Assignment.objects.filter(
                trajectory=talk.trajectory_id, state=AssignmentState.SUBMITTED
            )
            cases = Adjudication.objects.filter(trajectory=talk.trajectory_id)
            taken = AuditEvent.objects.filter(
                verb__in=("case.open", "case.reopen"), object_id__in=[str(case.pk) for case in cases]
            )
            people_of_it = {self.cast.admin.pk, *labelled.values_list("annotator", flat=True)}
            people_of_it |= set(taken.values_list("actor", flat=True))
            spoken = set(talk.comments.values_list("author", flat=True))
            told = set(talk.notices.values_list("user", flat=True))
            assert spoken | told <= people_of_it
            assert (
                not talk.comments.filter(voice="annotator")
                .exclude(author__in=labelled.values("annotator"))
                .exists()
            )
            strangers = User.objects.exclude(pk__in=people_of_it).filter(is_superuser=False)
            assert not any(
                visible(stranger, Discussion.objects.filter(pk=talk.pk)).exists() for stranger in strangers
            )

    # ── Its end ───────────────────────────
    def teardown(self) -> None:
        """New people finish everything; what the others still hold is taken back."""
        try:
            self._finish()
        finally:
            transaction.set_rollback(True)
            self._savepoint.__exit__(None, None, None)

    def _finish(self) -> None:
        everything = {"actor": OPERATOR, "project": self.cast.project}
        assign.take_back(assignments=list(Assignment.objects.all()), **everything)
        adjudicate.take_cases_back(adjudications=list(Adjudication.objects.all()), **everything)
        for number in range(N):
            fresh = people.make_user(f"fresh{number}")
            people.make_member(self.cast.project, fresh, "annotator")
            while self._try(lambda user=fresh: people.label_next(user, self.cast.project)):  # type: ignore[misc]
                pass
        judge = people.make_user("fresh-judge")
        people.make_member(self.cast.project, judge, "adjudicator")
        for row in Trajectory.objects.filter(state=TrajectoryState.DISPUTED):
            case = people.open_case(judge, row)
            self._try(lambda case=case: people.decide_all(case))  # type: ignore[misc]
            adjudicate.close_case(actor=judge, adjudication=case)
        left = Trajectory.objects.exclude(state__in=RESOLVED)
        assert not left.exists(), list(left.values("pk", "state", "free_slots"))

    def _person(self, name: str) -> User:
        return User.objects.get(pk=getattr(self.cast, name).pk)

    def _own(self, who: str, which: int) -> Assignment:
        return Assignment.objects.get(annotator=self._person(who), trajectory=self.trajectories[which])

    def _try(self, call: Callable[..., object], **asked: object) -> None:
        """Do what a person asks for: what is refused has changed nothing."""
        before = self._traces()
        try:
            call(**asked)
        except (TristepError, Assignment.DoesNotExist, Membership.DoesNotExist):
            assert self._traces() == before

    def _traces(self) -> list[Any]:
        counts: list[Any] = [model._default_manager.count() for model in TRACES]
        return [*counts, *Trajectory.objects.order_by("pk").values_list("state", flat=True)]

    def _row(self, which: int) -> Trajectory:
        return Trajectory.objects.select_related("project", "subset", "task").get(
            pk=self.trajectories[which].pk
        )

    def _case(self, which: int) -> Adjudication | None:
        return Adjudication.objects.filter(trajectory=self.trajectories[which]).order_by("pk").last()

    def _talk(self, which: int) -> Discussion | None:
        rows = Discussion.objects.select_related(
            "project", "trajectory__project", "trajectory__subset", "trajectory__task"
        )
        return rows.filter(trajectory=self.trajectories[which]).first()


class Project(Invariants):
    """Two disputed trajectories and one that nobody has touched; what people do to them and to each other."""

    @initialize(discussed=st.booleans())
    def begin(self, discussed: bool) -> None:
        people.make_disputed(self.cast, 2)
        case = people.open_case(self.cast.judith, Trajectory.objects.get(pk=self.trajectories[0].pk))
        if discussed:
            discuss.open_discussion(actor=self.cast.judith, trajectory=case.trajectory)

    # ── Labelling ─────────────────────────
    @rule(who=WHO)
    def claim(self, who: str) -> None:
        self._try(assign.claim_next, actor=self._person(who), project=self.cast.project)

    @rule(who=WHO, which=WHICH, value=VALUE)
    def finish(self, who: str, which: int, value: int) -> None:
        @transaction.atomic
        def work() -> None:
            mine = self._own(who, which)
            people.label_all(mine, value, outcome=value)
            label.submit(actor=self._person(who), assignment=mine)

        self._try(work)

    @rule(who=WHO, which=WHICH, how=st.sampled_from(("return", "resume", "reopen", "take back")))
    def hand(self, who: str, which: int, how: str) -> None:
        def work() -> None:
            asked = {"actor": self._person(who), "assignment": self._own(who, which)}
            if how == "return":
                assign.return_assignment(**asked, reason="Later")
            elif how == "resume":
                assign.resume_assignment(**asked)
            elif how == "reopen":
                label.reopen(**asked)
            else:
                project, mine = self.cast.project, [asked["assignment"]]
                assign.take_back(actor=self.cast.admin, project=project, assignments=mine)

        self._try(work)

    # ── People ────────────────────────────
    @rule(who=WHO, how=CHANGES, annotator=st.booleans(), adjudicator=st.booleans())
    def people(self, who: str, how: str, annotator: bool, adjudicator: bool) -> None:
        user, project = self._person(who), self.cast.project
        if how == "remove":
            held = Membership.objects.filter(project=project, user=user).first()
            if held is not None:
                self._try(projects.remove_member, actor=OPERATOR, membership=held)
        elif how in ("join", "roles"):
            held = {"is_annotator": True, "is_adjudicator": who in ("cleo", "judith", "oscar")}
            if how == "roles":
                held = {"is_annotator": annotator, "is_adjudicator": adjudicator}
            self._try(projects.add_member, actor=OPERATOR, project=project, user=user, **held)
        elif who == "admin":
            return
        elif how == "close behind the service":
            User.objects.filter(pk=user.pk).update(is_active=False)
            claim_expiry.sweep(now=self.now)
        else:
            service = accounts.close_account if how == "close" else accounts.open_account
            self._try(service, actor=OPERATOR, user=user)

    @rule(days=st.sampled_from((1, 4, 20)))
    def wait(self, days: int) -> None:
        self.now += timedelta(days=days)
        claim_expiry.sweep(now=self.now)

    # ── Cases ─────────────────────────────
    @rule(who=WHO, which=WHICH, how=st.sampled_from(("take", "hand back", "take back", "assign")))
    def case(self, who: str, which: int, how: str) -> None:
        case, actor, project = self._case(which), self._person(who), self.cast.project
        if how == "take":
            self._try(adjudicate.open_case, actor=actor, trajectory=self._row(which))
        elif how == "assign":
            rows, to = [self._row(which)], self._person(who) if who in ("judith", "ann") else None
            asked = {"project": project, "trajectories": rows, "adjudicator": to}
            self._try(adjudicate.assign_cases, actor=self.cast.admin if to else actor, **asked)
        elif case is not None and how == "take back":
            asked = {"project": project, "adjudications": [case]}
            self._try(adjudicate.take_cases_back, actor=self.cast.admin if which else actor, **asked)
        elif case is not None:
            self._try(adjudicate.release_case, actor=actor, adjudication=case)

    @rule(who=ADJUDICATORS, which=WHICH)
    def reopen_case(self, who: str, which: int) -> None:
        case = self._case(which)
        if case is not None:
            actor = self._person(who) if who else case.adjudicator
            self._try(adjudicate.reopen_case, actor=actor, adjudication=case)

    # ── Discussion ────────────────────────
    @rule(who=WHO, which=WHICH)
    def open_discussion(self, who: str, which: int) -> None:
        self._try(discuss.open_discussion, actor=self._person(who), trajectory=self._row(which))

    @rule(who=WHO, which=WHICH, where=WHERE, text=TEXT, taken_back=st.booleans())
    def comment(self, who: str, which: int, where: int | None, text: str, taken_back: bool) -> None:
        talk = self._talk(which)
        if talk is not None:
            actor = self._person(who)
            self._try(discuss.comment, actor=actor, discussion=talk, text=text, message_index=where)
            said = talk.comments.select_related("discussion__trajectory").last()
            if taken_back and said is not None:
                self._try(discuss.retract, actor=actor, comment=said)

    @rule(who=WHO, which=WHICH, where=WHERE)
    def read(self, who: str, which: int, where: int | None) -> None:
        talk, actor = self._talk(which), self._person(who)
        if talk is None:
            return
        self._try(noted_reads.discussion, actor=actor, row=talk)
        last = talk.comments.filter(step__message_index=where).last()
        at = {"message_index": where, "comment": last.pk if last else 0}
        self._try(discuss.mark_read, actor=actor, discussion=talk, **at)

    @rule(who=WHO, which=WHICH, where=WHERE, value=VALUE, stale=st.booleans())
    def revise(self, who: str, which: int, where: int | None, value: int, stale: bool) -> None:
        talk, actor = self._talk(which), self._person(who)
        if talk is not None:
            own = Revision.objects.filter(assignment__annotator=actor, assignment__trajectory=talk.trajectory)
            version = own.filter(step__message_index=where).count() + stale
            asked = {"message_index": where, "value": value, "note": "Because.", "version": version}
            self._try(discuss.revise, actor=actor, discussion=talk, **asked)

    # ── Deciding ──────────────────────────
    @rule(
        who=ADJUDICATORS,
        which=WHICH,
        where=WHERE,
        value=VALUE,
        how=st.sampled_from(("decide", "stale", "majority", "withdraw", "close")),
    )
    def decide(self, who: str, which: int, where: int | None, value: int, how: str) -> None:
        case = self._case(which)
        if case is None:
            return
        decision = Decision.objects.filter(adjudication=case, step__message_index=where).first()
        version = (decision.version if decision else 0) + (how == "stale")
        asked: dict[str, Any] = {
            "actor": self._person(who) if who else case.adjudicator,
            "adjudication": case,
            "message_index": where,
            "version": version,
        }
        if how == "close":
            self._try(adjudicate.close_case, actor=asked["actor"], adjudication=case)
        elif how == "majority":
            self._try(adjudicate.let_majority_stand, **asked)
        elif how == "withdraw":
            self._try(adjudicate.withdraw_decision, **asked)
        else:
            self._try(adjudicate.decide, **asked, value=value)

    @rule(which=WHICH, agree=st.booleans(), then=st.sampled_from(("", "reopen", "freeze", "freeze, reopen")))
    def settle(self, which: int, agree: bool, then: str) -> None:
        """Settle a dispute properly: ann comes to agree with ben, or the adjudicator decides; and the case is
        closed."""
        judith = self._person("judith")
        self._try(adjudicate.open_case, actor=judith, trajectory=self._row(which))
        case = self._case(which)
        if case is None:
            return
        if agree:
            self._try(discuss.open_discussion, actor=case.adjudicator, trajectory=self._row(which))
        talk = self._talk(which)
        for where in (2, 4, None):
            if agree and talk is not None:
                self.revise("ann", which, where, -1, stale=False)
                self.revise("ben", which, where, -1, stale=False)
            else:
                self.decide(case.adjudicator.username, which, where, -1, "decide")
        self._try(adjudicate.close_case, actor=case.adjudicator, adjudication=case)
        if "freeze" in then:
            self.freeze("admin")
        if "reopen" in then:
            self._try(adjudicate.reopen_case, actor=case.adjudicator, adjudication=case)

    # ── Releases ──────────────────────────
    @precondition(lambda _self: Trajectory.objects.filter(state=TrajectoryState.ADJUDICATED).exists())
    @rule(who=ADMINS)
    def freeze(self, who: str) -> None:
        version = f"1.{Release.objects.count()}"
        self._try(release.freeze, actor=self._person(who), project=self.cast.project, version=version)

    @precondition(lambda _self: Release.objects.filter(withdrawal__isnull=True).exists())
    @rule(who=ADMINS)
    def withdraw(self, who: str) -> None:
        newest = Release.objects.filter(withdrawal__isnull=True).latest("number")
        self._try(release.withdraw, actor=self._person(who), release=newest, reason="Faulty.")


def test_project_reaches_no_state_that_must_not_be_and_can_always_be_finished(cast: Cast) -> None:
    trajectories = people.import_records(cast.project, TRAJECTORIES)
    projects.update_project(actor=OPERATOR, project=cast.project, values={"claim_limit": 2})
    people.make_member(cast.project, cast.oscar, "adjudicator")
    for user in (cast.ann, cast.cleo):
        people.make_member(cast.project, user, "annotator", "adjudicator")

    class Machine(Project):
        pass

    Machine.cast, Machine.trajectories = cast, trajectories
    run_state_machine_as_test(
        Machine,
        settings=settings(
            max_examples=4,
            stateful_step_count=35,
            deadline=None,
            derandomize=True,
            # to shrink a failure takes minutes, and its few dozen acts can be read as they are
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        ),
    )
