"""Invariants of disputes under any acts of people, allowed or not.

The machine of people and claims goes on with discussions, changes of mind, decisions, closing, reopening and
releases. What is refused must leave no trace.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.db import transaction
from hypothesis import strategies as st
from hypothesis.stateful import initialize, precondition, rule

from annotation.core.errors import TristepError
from annotation.core.vocabulary import TrajectoryState
from annotation.models import (
    Adjudication,
    Assignment,
    Consensus,
    Decision,
    Discussion,
    Membership,
    Notice,
    Release,
    Revision,
    ThreadRead,
    Trajectory,
    User,
)
from annotation.policies import OPERATOR
from annotation.services import accounts, adjudicate, discuss, label, noted_reads, projects, release
from tests import people
from tests.people import Cast
from tests.services.dispute_invariants import APPEND_ONLY, DisputeWorld
from tests.services.project_machine import TRAJECTORIES, play

# those who have a part in most disputes come more often
EVERYBODY = st.sampled_from(
    (*("ann", "ben", "judith") * 2, "cleo", "admin", "oscar"),
)
# "": whoever has the case
ADJUDICATORS = st.sampled_from(("", "", "", "judith", "oscar", "ann", "admin"))
ADMINS = st.sampled_from(("admin", "admin", "judith"))
WHICH = st.sampled_from((0, 0, 0, 1, 1, 2))
WHERE = st.sampled_from((2, 4, None, 3))
VALUE = st.sampled_from((-1, 0, 1))
TEXT = st.sampled_from(("Look.", "@A @B, look.", "@Adjudicator?", "@C?", "", "x" * 20_001))
TRACES: tuple[Any, ...] = (*APPEND_ONLY, Consensus, Decision, Notice, ThreadRead, Release, Adjudication)


class Disputes(DisputeWorld):
    """Two disputed trajectories and one that nobody has touched."""

    @initialize(discussed=st.booleans())
    def begin(self, discussed: bool) -> None:
        people.make_disputed(self.cast, 2)
        case = people.open_case(self.cast.judith, Trajectory.objects.get(pk=self.trajectories[0].pk))
        if discussed:
            discuss.open_discussion(actor=self.cast.judith, trajectory=case.trajectory)

    # ── People and labels ─────────────────
    @rule(who=EVERYBODY, how=st.sampled_from((*("join", "open") * 2, "remove", "close")))
    def people(self, who: str, how: str) -> None:
        user, project = self._person(who), self.cast.project
        if how == "remove":
            held = Membership.objects.filter(project=project, user=user).first()
            if held is not None:
                self._try(projects.remove_member, actor=OPERATOR, membership=held)
        elif how == "join":
            roles = {"is_annotator": True, "is_adjudicator": who in ("cleo", "judith", "oscar")}
            self._try(projects.add_member, actor=OPERATOR, project=project, user=user, **roles)
        elif who != "admin":
            service = accounts.close_account if how == "close" else accounts.open_account
            self._try(service, actor=OPERATOR, user=user)

    @rule(who=EVERYBODY, value=VALUE)
    def label_the_third(self, who: str, value: int) -> None:
        self._try(self._label_next, actor=self._person(who), value=value)

    def _label_next(self, actor: User, value: int) -> None:
        with transaction.atomic():
            people.label_next(actor, self.cast.project, value, outcome=value)

    @rule(who=EVERYBODY, which=WHICH, how=st.sampled_from(("take", "hand back", "take back", "assign")))
    def case(self, who: str, which: int, how: str) -> None:
        case, actor = self._case(which), self._person(who)
        if how == "take":
            self._try(adjudicate.open_case, actor=actor, trajectory=self._row(which))
        elif how == "assign":
            asked = {"project": self.cast.project, "trajectories": [self._row(which)]}
            self._try(adjudicate.assign_cases, actor=actor, **asked)
        elif case is not None and how == "take back":
            asked = {"project": self.cast.project, "adjudications": [case]}
            self._try(adjudicate.take_cases_back, actor=actor, **asked)
        elif case is not None:
            self._try(adjudicate.release_case, actor=actor, adjudication=case)

    def _try(self, call: Callable[..., object], **asked: object) -> None:
        """Do what a person asks for: what is refused has changed nothing."""
        before = self._traces()
        try:
            call(**asked)
        except TristepError:
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

    # ── Discussion ────────────────────────
    @rule(who=EVERYBODY, which=WHICH)
    def open_discussion(self, who: str, which: int) -> None:
        self._try(discuss.open_discussion, actor=self._person(who), trajectory=self._row(which))

    @rule(who=EVERYBODY, which=WHICH, where=WHERE, text=TEXT, taken_back=st.booleans())
    def comment(self, who: str, which: int, where: int | None, text: str, taken_back: bool) -> None:
        talk = self._talk(which)
        if talk is not None:
            actor = self._person(who)
            self._try(discuss.comment, actor=actor, discussion=talk, text=text, message_index=where)
            said = talk.comments.select_related("discussion__trajectory").last()
            if taken_back and said is not None:
                self._try(discuss.retract, actor=actor, comment=said)

    @rule(who=EVERYBODY, which=WHICH, where=WHERE)
    def read(self, who: str, which: int, where: int | None) -> None:
        talk, actor = self._talk(which), self._person(who)
        if talk is None:
            return
        self._try(noted_reads.discussion, actor=actor, row=talk)
        last = talk.comments.filter(step__message_index=where).last()
        at = {"message_index": where, "comment": last.pk if last else 0}
        self._try(discuss.mark_read, actor=actor, discussion=talk, **at)

    @rule(who=EVERYBODY, which=WHICH, where=WHERE, value=VALUE, stale=st.booleans())
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

    @rule(who=ADJUDICATORS, which=WHICH)
    def reopen_case(self, who: str, which: int) -> None:
        case = self._case(which)
        if case is not None:
            actor = self._person(who) if who else case.adjudicator
            self._try(adjudicate.reopen_case, actor=actor, adjudication=case)

    @rule(who=EVERYBODY, which=WHICH)
    def reopen_labels(self, who: str, which: int) -> None:
        mine = Assignment.objects.filter(
            annotator=self._person(who), trajectory=self.trajectories[which]
        ).first()
        if mine is not None:
            self._try(label.reopen, actor=self._person(who), assignment=mine)

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


def test_disputes_reach_no_state_that_must_not_be(cast: Cast) -> None:
    trajectories = people.import_records(cast.project, TRAJECTORIES)
    people.make_member(cast.project, cast.oscar, "adjudicator")
    people.make_member(cast.project, cast.cleo, "annotator", "adjudicator")

    class Machine(Disputes):
        pass

    Machine.cast, Machine.trajectories = cast, trajectories
    play(Machine, examples=3, steps=30)
