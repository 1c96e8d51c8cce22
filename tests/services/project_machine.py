"""A small project as a state machine (hypothesis): people claim, label, submit, return, leave and come back,
claims expire and cases change hands. At the end new people come, do what they may, and everything must be
resolved."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db import connection, transaction
from django.utils import timezone
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from annotation.core.errors import TristepError
from annotation.core.vocabulary import RESOLVED, AdjudicationState, AssignmentState, TrajectoryState
from annotation.models import Adjudication, Assignment, Membership, Trajectory, User
from annotation.policies import OPERATOR
from annotation.services import accounts, adjudicate, assign, claim_expiry, label, projects
from tests import people
from tests.people import Cast

TRAJECTORIES = 3
N = 2
WHO = st.sampled_from(("ann", "ben", "cleo", "judith"))
WHICH = st.integers(0, TRAJECTORIES - 1)


class World(RuleBasedStateMachine):
    """One small project, what always holds in it, and its end. Refusals are expected; what counts is the
    state they leave."""

    cast: Cast
    trajectories: list[Trajectory]

    def __init__(self) -> None:
        super().__init__()
        self.now: datetime = timezone.now()
        self._savepoint = transaction.atomic()
        self._savepoint.__enter__()

    def _person(self, name: str) -> User:
        return User.objects.get(pk=getattr(self.cast, name).pk)

    def _own(self, who: str, which: int) -> Assignment:
        return Assignment.objects.get(annotator=self._person(who), trajectory=self.trajectories[which])

    def _do(self, call: object, **asked: object) -> object:
        """Call a service as people do: whatever it refuses changes nothing."""
        try:
            with transaction.atomic():
                return call(**asked)  # type: ignore[operator]
        except (TristepError, Assignment.DoesNotExist, Membership.DoesNotExist, Adjudication.DoesNotExist):
            return None

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
            while self._do(lambda user=fresh: people.label_next(user, self.cast.project)):  # type: ignore[misc]
                pass
        judge = people.make_user("fresh-judge")
        people.make_member(self.cast.project, judge, "adjudicator")
        for row in Trajectory.objects.filter(state=TrajectoryState.DISPUTED):
            case = people.open_case(judge, row)
            self._do(lambda case=case: people.decide_all(case))  # type: ignore[misc]
            adjudicate.close_case(actor=judge, adjudication=case)
        left = Trajectory.objects.exclude(state__in=RESOLVED)
        assert not left.exists(), list(left.values("pk", "state", "free_slots"))


class Project(World):
    """Acts of people on claims, on each other and on cases."""

    # ── Labelling ─────────────────────────
    @rule(who=WHO)
    def claim(self, who: str) -> None:
        self._do(assign.claim_next, actor=self._person(who), project=self.cast.project)

    @rule(who=WHO, which=WHICH, value=st.sampled_from((1, -1)))
    def finish(self, who: str, which: int, value: int) -> None:
        def work() -> None:
            mine = self._own(who, which)
            people.label_all(mine, value, outcome=value)
            label.submit(actor=self._person(who), assignment=mine)

        self._do(work)

    @rule(who=WHO, which=WHICH)
    def give_back(self, who: str, which: int) -> None:
        self._do(
            lambda: assign.return_assignment(
                actor=self._person(who), assignment=self._own(who, which), reason="Later"
            )
        )

    @rule(who=WHO, which=WHICH)
    def resume(self, who: str, which: int) -> None:
        self._do(lambda: assign.resume_assignment(actor=self._person(who), assignment=self._own(who, which)))

    @rule(who=WHO, which=WHICH)
    def reopen(self, who: str, which: int) -> None:
        self._do(lambda: label.reopen(actor=self._person(who), assignment=self._own(who, which)))

    # ── People ────────────────────────────
    @rule(who=WHO)
    def remove(self, who: str) -> None:
        self._do(
            lambda: projects.remove_member(
                actor=OPERATOR,
                membership=Membership.objects.get(project=self.cast.project, user=self._person(who)),
            )
        )

    @rule(who=WHO, annotator=st.booleans(), adjudicator=st.booleans())
    def set_roles(self, who: str, annotator: bool, adjudicator: bool) -> None:
        held = {"is_annotator": annotator, "is_adjudicator": adjudicator}
        self._do(
            projects.add_member, actor=OPERATOR, project=self.cast.project, user=self._person(who), **held
        )

    @rule(who=WHO, closed=st.booleans(), by_service=st.booleans())
    def account(self, who: str, closed: bool, by_service: bool) -> None:
        user = self._person(who)
        if not by_service:
            User.objects.filter(pk=user.pk).update(is_active=not closed)
            claim_expiry.sweep(now=self.now)
        elif closed:
            accounts.close_account(actor=OPERATOR, user=user)
        else:
            accounts.open_account(actor=OPERATOR, user=user)

    @rule(who=WHO, which=WHICH)
    def take_back(self, who: str, which: int) -> None:
        self._do(
            lambda: assign.take_back(
                actor=self.cast.admin, project=self.cast.project, assignments=[self._own(who, which)]
            )
        )

    @rule(days=st.sampled_from((1, 4, 20)))
    def wait(self, days: int) -> None:
        self.now += timedelta(days=days)
        claim_expiry.sweep(now=self.now)

    # ── Disputes ──────────────────────────
    @rule(who=WHO, which=WHICH)
    def take_case(self, who: str, which: int) -> None:
        self._do(
            lambda: adjudicate.open_case(
                actor=self._person(who), trajectory=Trajectory.objects.get(pk=self.trajectories[which].pk)
            )
        )

    @rule(who=st.sampled_from(("judith", "ann", "")))
    def assign_cases(self, who: str) -> None:
        rows, one = list(Trajectory.objects.all()), self._person(who) if who else None
        asked = {"actor": self.cast.admin, "project": self.cast.project, "adjudicator": one}
        self._do(lambda: adjudicate.assign_cases(trajectories=rows, **asked))

    @rule(who=WHO, which=WHICH, then=st.sampled_from(("close", "release", "reopen", "take back")))
    def judge(self, who: str, which: int, then: str) -> None:
        def work() -> None:
            case = Adjudication.objects.filter(
                adjudicator=self._person(who), trajectory=self.trajectories[which]
            ).latest("pk")
            if then == "close":
                people.decide_all(case)
                adjudicate.close_case(actor=self._person(who), adjudication=case)
            elif then == "release":
                adjudicate.release_case(actor=self._person(who), adjudication=case)
            elif then == "reopen":
                adjudicate.reopen_case(actor=self._person(who), adjudication=case)
            else:
                adjudicate.take_cases_back(
                    actor=self.cast.admin, project=self.cast.project, adjudications=[case]
                )

        self._do(work)


def play(machine: type[World], *, examples: int, steps: int) -> None:
    """Run a machine, the same way every time. On PostgreSQL shortly: what people can do to one another is the
    same there, and it takes twice as long."""
    if connection.vendor == "postgresql":
        examples = 2
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=examples,
            stateful_step_count=steps,
            deadline=None,
            derandomize=True,
            suppress_health_check=list(HealthCheck),
        ),
    )
