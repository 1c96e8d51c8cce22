"""A project in the middle of everything, with canaries: strings that must not come out in the wrong place.

position  what has happened to it
shared    ann has it open, her first step labelled and its suggestions revealed; ben has submitted, with other
          labels and notes
theirs    ben has it open, with notes; nobody else has touched it
dispute   ann and ben have submitted different labels; judith has the case open, one step (the second)
          decided and its suggestions revealed
waiting   the same, but nobody has the case
agreed    ann and ben have submitted the same; unanimous. A recheck too: cleo has it open as a reader,
          its first step labelled
settled   was disputed; judith has decided and closed it; in both releases, an example in the guidelines; a
          judge proposes a correction, and cleo has saved one
talked    disputed too; judith has the case and opened its discussion: she, ann and ben have commented, and
          ann has changed her mind
seen      the admin, who is an annotator here too, has it open; ben has submitted
held      rita, a superuser who is an annotator here too, has it open; ben has submitted
left      emil has submitted it and is a member no more; ben has submitted other labels; nobody has the case
free      nobody has touched it
keyed     in the training subset, with a key; nobody has been given it
"""

from __future__ import annotations

import contextlib
import zlib
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from allauth.mfa.models import Authenticator
from django.db.models import Model
from django.utils import timezone

from annotation.core.asking.settings import PromptSettings
from annotation.core.errors import ImportRefused
from annotation.core.jsonio.canonical import canonical_json
from annotation.models import (
    Adjudication,
    AdminRemark,
    ApiToken,
    Assignment,
    AuditedTrajectory,
    Comment,
    Connection,
    Correction,
    CrowdLink,
    CrowdPlace,
    Discussion,
    Example,
    Freeze,
    ImportFile,
    Invitation,
    Judge,
    JudgeAnswer,
    LabelAudit,
    Membership,
    Notice,
    PredictionSet,
    ProficiencyTest,
    PromptSet,
    Qualification,
    Step,
    Subset,
    SuggestedLabel,
    Suggestion,
    SuggestionItem,
    SuggestionRun,
    Tag,
    TestAttempt,
    Trajectory,
    Transfer,
    User,
    Webhook,
    WebhookDelivery,
    WorkshopSample,
)
from annotation.services import (
    accounts,
    adjudicate,
    assign,
    correct,
    discuss,
    label,
    label_audits,
    projects,
    release,
    remarks,
    tags,
    training,
)
from annotation.services.release.contents import CHANGED
from annotation.services.sign_in import second_factor
from tests.canaries import canary
from tests.ids import Id
from tests.people import (
    Cast,
    change,
    import_file,
    import_records,
    jsonl,
    label_all,
    make_cast,
    make_member,
    make_record,
    make_user,
    op_id,
    open_case,
    step_indexes,
)
from tests.services.predicting import bring
from tests.services.publishing import freeze, publish
from tests.services.rechecking import claim_as_reader

PLACES = (
    *("shared", "theirs", "dispute", "waiting", "agreed", "settled", "talked"),
    *("seen", "held", "left", "returned", "free", "audited"),
)
ORDINALS = ("first", "second")
# the table of each id that addresses need
TABLES: dict[str, type[Model]] = {
    "sample": WorkshopSample,
    **dict.fromkeys(("judge", "judge-server"), Judge),
    "run": SuggestionRun,
    **dict.fromkeys(("case", "decided"), Adjudication),
    "audit-case": AuditedTrajectory,
    "label-audit": LabelAudit,
    "discussion": Discussion,
    "comment": Comment,
    "example": Example,
    **dict.fromkeys(("remark", "remark-dispute"), AdminRemark),
    "notice": Notice,
    "invitation": Invitation,
    "predictions": PredictionSet,
    "import": ImportFile,
    "freeze": Freeze,
    "token": ApiToken,
    "second-factor": Authenticator,
    "ann": User,
    **dict.fromkeys(("ann-shared", "ann-dispute", "ben-shared", "ben-theirs", "admin-seen"), Assignment),
    **dict.fromkeys(("cleo-agreed", "cleo-returned", "rita-held", "emil-left"), Assignment),
    "correction": Correction,
    "member": Membership,
    "connection": Connection,
    "transfer": Transfer,
    "webhook": Webhook,
    "delivery": WebhookDelivery,
    "crowd-link": CrowdLink,
    "crowd-place": CrowdPlace,
    "qualification": Qualification,
    "subset": Subset,
    "tag": Tag,
    "training-subset": Subset,
    "keyed": Trajectory,
    **dict.fromkeys(("attempt-ann", "attempt-ben"), TestAttempt),
}


@dataclass(frozen=True)
class World:
    """The cast, the trajectories by place, and the ids that addresses need. `others`: "rita", a superuser who
    labels, and "emil", who was a member."""

    cast: Cast
    at: dict[str, Trajectory]
    ids: dict[str, Id]
    link: str
    answers: dict[str, UUID]
    others: dict[str, User] = field(default_factory=dict)

    @property
    def people(self) -> dict[str, User]:
        """All people by name."""
        return {**self.cast.everybody, **self.others}


def record(query: int, place: str) -> dict[str, Any]:
    """A trajectory's record, every field of it with its canary."""
    made = make_record(
        query,
        question=canary("question", place),
        ground_truth={"target": [canary("reference", place)]},
        reward_info={"reward": 0.25, "info": canary("reward", place)},
        meta={"canary": canary("meta", place)},
        stop_reason=canary("stop", place),
        step_labels={"2": -1, "4": 1},
        final_label=-1,
    )
    made["messages"][2] |= {
        "content": canary("message", place),
        "reward": canary("reward", place),
        "label": canary("label", place),
    }
    return made


def make_world() -> World:
    """Build it through the services, as people would."""
    cast = make_cast(show_reference_answer=False, description=canary("description"))
    make_member(cast.project, cast.admin, "admin", "annotator")
    rows = import_records(cast.project, [record(query, place) for query, place in enumerate(PLACES)])
    at = dict(zip(PLACES, rows, strict=True))
    _suggest(cast, rows)
    rita, emil = make_user("rita", is_superuser=True), make_user("emil")
    for user in (rita, emil):
        make_member(cast.project, user, "annotator")
    answers = _run(cast, {place: at[place] for place in ("shared", "seen", "held")})
    for place in ("dispute", "waiting", "settled", "talked"):
        finish(cast.ann, at[place], [1, 1], outcome=1)
        finish(cast.ben, at[place], [1, -1], outcome=1)
    for user in (cast.ann, cast.ben):
        finish(user, at["agreed"], [1, 1], outcome=1)
        finish(user, at["audited"], [1, 1], outcome=1)
    mine = begin(cast.ann, at["shared"], 1)
    label.reveal(actor=cast.ann, assignment=mine, message_index=step_indexes(mine.trajectory_id)[0])
    finish(cast.ben, at["shared"], [-1, -1], outcome=-1)
    begin(cast.ben, at["theirs"], -1)
    begin(cast.admin, at["seen"], 1)
    finish(cast.ben, at["seen"], [-1, -1], outcome=-1)
    begin(rita, at["held"], 1)
    finish(cast.ben, at["held"], [-1, -1], outcome=-1)
    finish(emil, at["left"], [1, 1], outcome=1)
    finish(cast.ben, at["left"], [-1, 1], outcome=-1)
    audited = _audit(cast, (emil, cast.cleo), at["audited"])
    projects.remove_member(actor=cast.admin, membership=Membership.objects.get(user=emil))
    again = _first_labels(claim_as_reader(cast.cleo, at["agreed"]), 1)
    given_up = begin(cast.cleo, at["returned"], -1)
    assign.return_assignment(actor=cast.cleo, assignment=given_up, reason=canary("reason", "cleo"))
    settled = _judge(cast, at["settled"], close=True)
    case = _judge(cast, at["dispute"], close=False)
    adjudicate.reveal(actor=cast.judith, adjudication=case, message_index=step_indexes(at["dispute"].pk)[1])
    talk, said = _talk(cast, at["talked"])
    example = adjudicate.mark_example(
        actor=cast.judith,
        adjudication=settled,
        message_index=step_indexes(at["settled"].pk)[0],
        title="An example",
        text=canary("example", "settled"),
    )
    corrected = _correct(cast, at["settled"])
    frozen = freeze(cast.project, note=canary("release-note"))
    waiting = canonical_json(PromptSettings.of(shots=0).as_json()).decode()
    PromptSet.objects.create(release=frozen, name="asked", options=waiting, created_at=timezone.now())
    predicted = {"record_id": at["settled"].record_id, "step_labels": {"2": 1}, "final_label": 1}
    publish(freeze(cast.project, "1.1", note=canary("public-note")), shows_leaderboard=True)
    for user in (cast.ann, cast.cleo):
        projects.set_qualifications(
            actor=cast.admin,
            membership=Membership.objects.get(user=user),
            values={"field": canary("qualified"), "languages": canary("qualified")},
        )
    crowd_link, crowd_place = _crowd(cast)
    invitation, link = projects.invite(
        actor=cast.admin, project=cast.project, email=f"{canary('invited')}@example.org", is_annotator=True
    )
    remarks_at = {
        place: remarks.remark(
            actor=cast.ann,
            assignment=Assignment.objects.get(annotator=cast.ann, trajectory=at[place]),
            text=canary("remark", "ann", place),
            message_index=step_indexes(at[place].pk)[0],
        )
        for place in ("shared", "dispute")
    }
    for place in ("shared", "dispute", "seen", "held"):
        name = canary("tag", place)
        tags.tag(actor=cast.root, project=cast.project, trajectories=[at[place]], name=name)
    keyed = _keyed(cast)
    second_factor.turn_on_app(actor=cast.ann, secret="JBSWY3DPEHPK3PXP")
    token, _secret = accounts.issue_token(actor=cast.ann, user=cast.ann, name=canary("token", "ann"))

    def given(user: User, place: str) -> Assignment:
        return Assignment.objects.get(annotator=user, trajectory=at[place])

    server = Judge.objects.get(kind="openai_compatible")
    sample = WorkshopSample.objects.create(judge=server, seed=1, created_at=server.created_at)
    sample.trajectories.set([at["settled"]])
    trial = Judge.stored.create(
        project=cast.project, name="Trial", kind=server.kind, sample=sample, created_at=sample.created_at
    )
    tried = Suggestion.stored.create(
        judge=trial, trajectory=at["settled"], live=False, created_at=sample.created_at
    )
    SuggestedLabel.stored.create(suggestion=tried, step=at["settled"].steps.earliest("ordinal"), value=0)
    rows = {
        "sample": sample,
        "judge": Judge.objects.get(kind="imported"),
        "judge-server": server,
        "run": SuggestionRun.objects.get(),
        "case": case,
        "decided": settled,
        "audit-case": audited,
        "label-audit": audited.audit,
        "discussion": talk,
        "comment": said,
        "example": example,
        "remark": remarks_at["shared"],
        "remark-dispute": remarks_at["dispute"],
        "notice": Notice.objects.filter(user=cast.ann).earliest("pk"),
        "invitation": invitation,
        "predictions": bring(cast, frozen, predicted, model="Model A").prediction_set,
        "import": failed_import(cast),
        "freeze": failed_freeze(cast),
        "token": token,
        "second-factor": Authenticator.objects.get(user=cast.ann, type=Authenticator.Type.TOTP),
        "ann": cast.ann,
        "ann-shared": given(cast.ann, "shared"),
        "ann-dispute": given(cast.ann, "dispute"),
        "ben-shared": given(cast.ben, "shared"),
        "ben-theirs": given(cast.ben, "theirs"),
        "admin-seen": given(cast.admin, "seen"),
        "cleo-agreed": again,
        "cleo-returned": given_up,
        "rita-held": given(rita, "held"),
        "emil-left": given(emil, "left"),
        "correction": corrected,
        "member": Membership.objects.get(user=cast.cleo),
        **_connection(cast),
        **_webhook(cast),
        "crowd-link": crowd_link,
        "crowd-place": crowd_place,
        "qualification": Qualification.objects.get(membership__user=cast.cleo),
        "subset": Subset.objects.get(name="tiny"),
        "tag": Tag.objects.earliest("pk"),
        "training-subset": keyed.subset,
        "keyed": keyed,
        **_attempts(cast),
    }
    assert {name: type(row) for name, row in rows.items()} == TABLES
    return World(
        cast=cast,
        at=at,
        link=link,
        answers=answers,
        others={"rita": rita, "emil": emil},
        ids={name: Id.of(row) for name, row in rows.items()},
    )


def _connection(cast: Cast) -> dict[str, Model]:
    """A connection to an address that answers nobody, and a transfer that has failed there."""
    now = cast.project.created_at
    made = Connection.objects.create(
        project=cast.project,
        name="House",
        kind="mlflow",
        base_url="http://127.0.0.1:9",
        source="demo",
        subset="runs",
        created_at=now,
    )
    row = Transfer.objects.create(
        connection=made, project=cast.project, direction="pull", state="failed", created_at=now
    )
    return {"connection": made, "transfer": row}


def _webhook(cast: Cast) -> dict[str, Model]:
    """A webhook, paused at an address that answers nobody, and what was delivered there."""
    now = cast.project.created_at
    hook = Webhook.objects.create(
        project=cast.project,
        name="House",
        url="http://127.0.0.1:9/hooks",
        events=["member.paused"],
        seed=canary("webhook-seed"),
        paused_at=now,
        pause_reason="admin",
        created_at=now,
    )
    about = {"event": "webhook.test", "object_id": str(hook.pk), "subject": f"webhook:{hook.pk}"}
    sent = WebhookDelivery.objects.create(
        webhook=hook, **about, state="delivered", status=200, answer="OK", created_at=now, next_at=now
    )
    return {"webhook": hook, "delivery": sent}


def _crowd(cast: Cast) -> tuple[CrowdLink, CrowdPlace]:
    """A link for people of a crowd, with a place that somebody has under a canary."""
    values = {"name": "第一批", "id_parameter": "PID", "places": 5, "minutes": 60, "trajectories": 1}
    codes = {"completed_code": "DONE", "screened_code": "OUT", "return_url": ""}
    made = projects.create_crowd_link(actor=cast.admin, project=cast.project, values={**values, **codes})
    return made, projects.enter(link=made, outside_id=canary("outside"))


def _audit(cast: Cast, readers: tuple[User, User], trajectory: Trajectory) -> AuditedTrajectory:
    """A case of an audit that judith has: its second step is −1 to the readers."""
    for reader in readers:
        made = claim_as_reader(reader, trajectory)
        label_all(made, [1, -1], outcome=1, note=note_of(reader, trajectory))
        label.submit(actor=reader, assignment=made)
    label_audits.sweep()
    return label_audits.take_case(actor=cast.judith, project=cast.project)


def _keyed(cast: Cast) -> Trajectory:
    """A trajectory of the training subset, the notes of its key with a canary."""
    subset = projects.ensure_subset(actor=cast.admin, project=cast.project, name="training")
    training.mark_training(actor=cast.admin, subset=subset)
    why = {"steps": {"2": canary("key"), "4": canary("key")}, "final": canary("key")}
    made = {**record(len(PLACES), "keyed"), "explanations": why}
    import_records(cast.project, [made], subset=subset.name)
    return Trajectory.objects.select_related("subset").get(training=True)


def _attempts(cast: Cast) -> dict[str, TestAttempt]:
    """A test; ann has failed it, and ben is at it. What an attempt asks is told in tests of its own."""
    now = timezone.now()
    test = ProficiencyTest.objects.create(project=cast.project, number=1, agreement=0.8, created_at=now)
    at = {"number": 1, "begun_at": now}
    return {
        "attempt-ann": test.sittings.create(annotator=cast.ann, state="failed", ended_at=now, **at),
        "attempt-ben": test.sittings.create(annotator=cast.ben, **at),
    }


def note_of(user: User, trajectory: Trajectory) -> str:
    """The canary in a person's notes on a trajectory."""
    return canary("note", user.username, PLACES[trajectory.query_index or 0])


def begin(user: User, trajectory: Trajectory, value: int) -> Assignment:
    """Claim a trajectory and label its first step and the outcome."""
    return _first_labels(assign.claim_this(actor=user, trajectory=trajectory), value)


def _first_labels(made: Assignment, value: int) -> Assignment:
    user, trajectory = made.annotator, made.trajectory
    note = note_of(user, trajectory)
    first = step_indexes(trajectory.pk)[0]
    label.save_labels(
        actor=user,
        assignment=made,
        op_id=op_id(),
        changes=[change(first, value, note=note), change(None, value, note=note)],
    )
    return made


def finish(user: User, trajectory: Trajectory, values: list[int], *, outcome: int) -> None:
    """Claim a trajectory, label it whole and submit it."""
    made = assign.claim_this(actor=user, trajectory=trajectory)
    label_all(made, values, outcome=outcome, note=note_of(user, trajectory))
    label.submit(actor=user, assignment=made)


def _suggest(cast: Cast, rows: list[Trajectory]) -> None:
    now = timezone.now()
    judge = Judge.objects.create(project=cast.project, name=canary("judge"), kind="imported", created_at=now)
    for row in rows:
        place = PLACES[row.query_index or 0]
        made = Suggestion.objects.create(
            judge=judge,
            trajectory=row,
            outcome=-1,
            reason=canary("suggested", "outcome", place),
            comment=canary("comment", place),
            created_at=now,
        )
        for step in Step.objects.filter(trajectory=row):
            reason = canary("suggested", ORDINALS[step.ordinal], place)
            SuggestedLabel.objects.create(suggestion=made, step=step, value=-1, reason=reason)


def _run(cast: Cast, failed: dict[str, Trajectory]) -> dict[str, UUID]:
    """A run that failed at these trajectories, with what the judge had answered; the answers by place."""
    now = timezone.now()
    judge = Judge.objects.create(
        project=cast.project,
        name=canary("judge", "server"),
        kind="openai_compatible",
        model=canary("model"),
        base_url=f"https://judge.example/{canary('address')}",
        prompt_version="v1",
        created_at=now,
    )
    run = SuggestionRun.objects.create(
        judge=judge,
        project=cast.project,
        state="finished",
        progress_total=len(failed),
        progress_failed=len(failed),
        stop_reason=canary("stop-reason"),
        created_at=now,
    )
    found = {}
    for place, trajectory in failed.items():
        SuggestionItem.objects.create(
            run=run, trajectory=trajectory, state="failed", failure="not_json", message="Not JSON."
        )
        answer = JudgeAnswer.objects.create(
            run=run,
            judge=judge,
            trajectory=trajectory,
            request=zlib.compress(canary("asked", place).encode()),
            response=zlib.compress(canary("answered", place).encode()),
            failure="not_json",
            created_at=now,
        )
        found[place] = answer.pk
    return found


def _correct(cast: Cast, trajectory: Trajectory) -> Correction:
    """Cleo's correction of its first error, for which a judge proposes something."""
    proposal = correct.Proposal(
        trajectory, step_indexes(trajectory.pk)[1], "action", canary("proposed", "settled")
    )
    judge = Judge.objects.get(kind="imported")
    correct.propose(actor=cast.admin, judge=judge, given=[proposal])
    made = correct.take(actor=cast.cleo, project=cast.project)
    said = correct.Draft("action", "written", text=canary("corrected", "cleo", "settled"))
    return correct.save_correction(actor=cast.cleo, correction=made, draft=said, version=0)


def _judge(cast: Cast, trajectory: Trajectory, *, close: bool) -> Adjudication:
    place = PLACES[trajectory.query_index or 0]
    case = open_case(cast.judith, trajectory)
    adjudicate.decide(
        actor=cast.judith,
        adjudication=case,
        message_index=step_indexes(trajectory.pk)[1],
        value=-1,
        note=canary("decision", place),
    )
    if close:
        adjudicate.close_case(actor=cast.judith, adjudication=case, note=canary("case", place))
    return case


def _talk(cast: Cast, trajectory: Trajectory) -> tuple[Discussion, Comment]:
    """Judith's case and its discussion; and ann's comment in it."""
    place = PLACES[trajectory.query_index or 0]
    open_case(cast.judith, trajectory)
    talk = discuss.open_discussion(actor=cast.judith, trajectory=trajectory)
    second = step_indexes(trajectory.pk)[1]
    said = [
        discuss.comment(actor=user, discussion=talk, text=canary("said", name, place), message_index=second)
        for name, user in (("ann", cast.ann), ("ben", cast.ben), ("judith", cast.judith))
    ]
    note = canary("revised", "ann", place)
    discuss.revise(actor=cast.ann, discussion=talk, message_index=second, value=0, note=note)
    return talk, said[0]


def failed_freeze(cast: Cast) -> Freeze:
    job = release.start_freeze(
        actor=cast.admin, project=cast.project, version="3.0", note=canary("freeze-note")
    )
    Freeze.objects.filter(pk=job.pk).update(state="failed", error=str(CHANGED))
    return job


def failed_import(cast: Cast) -> ImportFile:
    bad = jsonl([{**make_record(0), "messages": canary("import")}])
    with contextlib.suppress(ImportRefused):
        import_file(cast.project, bad, filename=f"{canary('file')}.jsonl", format="agentprocessbench")
    return ImportFile.objects.latest("pk")
