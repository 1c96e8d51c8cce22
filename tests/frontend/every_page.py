"""Every page once: who opens it, with what in its lists, and how many queries it takes."""

from __future__ import annotations

import re
from itertools import count
from typing import Any

from annotation.core.jsonio.canonical import sha256_hex
from annotation.core.vocabulary import ImportState, TrajectoryState
from annotation.models import (
    Adjudication,
    Connection,
    Consensus,
    Correction,
    CrowdLink,
    ImportFile,
    Judge,
    JudgeAnswer,
    Notice,
    PredictionSet,
    ProficiencyTest,
    Project,
    Release,
    Subset,
    SuggestedLabel,
    Suggestion,
    SuggestionItem,
    SuggestionRun,
    Trajectory,
    Transfer,
    User,
    Webhook,
    WebhookDelivery,
    WorkshopSample,
)
from annotation.policies import OPERATOR
from annotation.services import correct, evaluate, label, proficiency, projects, remarks, tags, training
from tests import people
from tests.fixtures.judges import make_judge, start
from tests.services.gold_dealing import room_for
from tests.services.keyed import keyed_items
from tests.services.long_writes import lines
from tests.services.publishing import freeze, publish

WORKBENCH_QUERIES = 20
"""Session, user, assignment, roles; for the report: roles twice, the own assignment, steps, content, labels,
outcome, guidelines, judges; remarks for admins, and what other questions begin with."""

# page -> (who, name, queries). Two of them are the session and its user; two more the project and the roles.
PAGES = {
    "home of an annotator": ("ann", "home", 20),
    "home of an adjudicator": ("judith", "home", 17),
    "home of an admin": ("admin", "home", 17),
    "projects": ("ann", "projects", 6),
    "people": ("root", "people", 5),
    "notices": ("judith", "notices", 6),
    "profile": ("ann", "profile", 4),
    "second factors": ("ann", "second-factors", 4),
    "confirmation": ("ann", "second-factor-confirm", 3),
    "overview for an annotator": ("ann", "project", 13),
    "overview for an adjudicator": ("judith", "project", 6),
    "overview for an admin": ("admin", "project", 24),
    "settings": ("admin", "project-settings", 10),
    "guidelines": ("ann", "guidelines", 10),
    "look again": ("admin", "look-again", 19),
    "look again after a pause": ("admin", "member-look-again", 13),
    "members": ("admin", "members", 11),
    "connections": ("admin", "connections", 7),
    "connection": ("admin", "connection", 8),
    "transfer": ("admin", "connection-transfer", 6),
    "webhooks": ("admin", "webhooks", 7),
    "webhook": ("admin", "webhook", 8),
    "crowd links": ("admin", "crowd-links", 8),
    "crowd link": ("admin", "crowd-link", 9),
    "training": ("admin", "training", 12),
    "training items": ("admin", "training-items", 9),
    "training item": ("admin", "training-item", 11),
    "tutorial": ("admin", "tutorial", 7),
    "tests": ("admin", "tests", 9),
    "new test": ("admin", "test-new", 17),
    "test": ("admin", "test-detail", 15),
    "own test": ("ann", "test", 9),
    "own attempt": ("ann", "attempt", 11),
    "attempt": ("admin", "attempt", 12),
    "gold": ("admin", "gold", 13),
    "pilot": ("admin", "pilot", 11),
    "qualifications": ("admin", "qualifications", 6),
    "limits": ("admin", "member-limits", 9),
    "remarks": ("admin", "remarks", 8),
    "corrections": ("admin", "corrections", 12),
    "correction": ("admin", "correction", 13),
    "search": ("admin", "search", 23),
    "audit log": ("admin", "audit", 17),
    "imports": ("admin", "imports", 8),
    "imports of labels": ("admin", "label-imports", 9),
    "import": ("admin", "import-detail", 7),
    "preview of labels": ("admin", "import-detail", 17),
    "preview of an import": ("admin", "import-detail", 7),
    "trajectories": ("admin", "trajectories", 19),
    "tags": ("admin", "tags", 6),
    "trajectory": ("admin", "trajectory", 28),
    "history": ("admin", "history", 32),
    "my work": ("ann", "work", 18),
    "judges": ("admin", "judges", 12),
    "judge": ("admin", "judge", 16),
    "workshop": ("admin", "judge-workshop", 9),
    "sample": ("admin", "workshop-sample", 21),
    "runs": ("admin", "runs", 8),
    "run": ("admin", "run", 18),
    "estimate": ("admin", "run-new", 17),
    "adjudication queue": ("judith", "adjudication-queue", 12),
    "adjudication queue of an admin": ("admin", "adjudication-queue", 11),
    "board": ("admin", "board", 17),
    "hours": ("admin", "hours", 10),
    "own hours": ("ann", "hours", 17),
    "unfinished work": ("admin", "claims", 11),
    "case": ("judith", "adjudication", 22),
    "agreement": ("admin", "agreement", 10),
    "steps of agreement": ("admin", "agreement-steps", 17),
    "own figures": ("ann", "annotator-figures", 15),
    "influence": ("admin", "influence", 21),
    "size plan": ("admin", "size-plan", 8),
    "releases": ("admin", "releases", 8),
    "release": ("admin", "release", 9),
    "two releases": ("admin", "release-diff", 12),
    "public release": ("nobody", "public-release", 7),
    "leaderboard": ("admin", "leaderboard", 10),
    "model": ("admin", "model", 13),
    "errors of a model": ("admin", "release-errors", 13),
    "trajectory of a release": ("admin", "release-predicted", 14),
    "judges to score": ("admin", "scored-judges", 14),
    "best-of-N": ("judith", "release-best-of-n", 10),
    "benchmark": ("judith", "release-benchmark", 9),
    "freeze": ("admin", "release-freeze", 27),
    "derivation": ("admin", "release-derive", 7),
}
EVALUATION = ("release-best-of-n", "release-benchmark")


def hire(project: Project, many: int) -> None:
    """Links for people of a crowd, and places of the first one."""
    asked = {"places": 9, "minutes": 5, "trajectories": 1, "completed_code": "A1", "screened_code": "B2"}
    for number in range(many):
        link = CrowdLink(project=project, name=f"甲{number}", token=f"{number}", **asked)
        link.created_at = project.created_at
        link.save()
        place = projects.enter(link=project.crowd_links.earliest("pk"), outside_id=f"{number}")
        User.objects.filter(pk=place.user_id).update(username=f"众{number}")


def _webhooks(project: Project, many: int) -> None:
    """Webhooks, and deliveries of the first one."""
    now = project.created_at
    for number in range(many):
        Webhook.objects.create(
            project=project,
            name=f"勾{number}",
            url="http://127.0.0.1:9/",
            events=["run.finished"],
            created_at=now,
        )
        about = {"event": "run.finished", "object_id": f"{number}", "subject": f"run:{number}"}
        hook = project.webhooks.earliest("pk")
        WebhookDelivery.objects.create(
            webhook=hook, **about, state="given_up", status=500, created_at=now, next_at=now
        )


def bring(project: Project, number: int) -> None:
    """A subset to be labelled, with room for gold among so few."""
    with room_for(1):
        people.import_records(project, people.make_records(4, steps=2 + number), subset=f"s{number}")


def _connections(project: Project, many: int) -> None:
    """Connections, and transfers of the first one."""
    now = project.created_at
    for number in range(many):
        place = {"kind": "mlflow", "base_url": "http://127.0.0.1:9", "source": "demo", "subset": "runs"}
        Connection.objects.create(project=project, name=f"连{number}", created_at=now, **place)
        Transfer.objects.create(
            connection=project.connections.earliest("pk"),
            project=project,
            direction="pull",
            state="done",
            counts={"new": number, "left_out": number},
            left_out=[{"id": f"tr-{one}", "reason": "has not ended yet"} for one in range(many)],
            created_at=now,
        )


def fill(cast: people.Cast, many: int) -> None:
    """`many` of everything a list can show."""
    project = cast.project
    hire(project, many)
    _webhooks(project, many)
    _connections(project, many)
    for number in range(many):
        bring(project, number)
        projects.invite(actor=cast.admin, project=project, is_annotator=True)
        projects.write_guidelines(actor=cast.admin, project=project, text=f"Version {number}")
        guest = people.make_user(f"guest{number}")
        people.make_member(project, guest, "annotator")
        other = people.make_project(f"other{number}")
        for user in (cast.ann, cast.judith, cast.admin):
            people.make_member(other, user, "annotator", "adjudicator", "admin")
        train(cast, number)
    examine(cast, many)
    people.make_unanimous(cast, many)
    people.make_disputed(cast, 2 * many)
    disputed = Trajectory.objects.filter(project=project, state=TrajectoryState.DISPUTED).order_by(
        "-position"
    )
    for trajectory in disputed[:many]:
        case = people.open_case(cast.judith, trajectory)
        Notice.objects.create(
            user=cast.judith, adjudication=case, kind="case_given", created_at=case.opened_at
        )
    for _ in range(many):
        people.label_all(people.claim(cast.ann, project))
    for assignment in cast.ann.assignments.all()[: 2 * many]:
        remarks.remark(actor=cast.ann, assignment=assignment, text="Look.")
    for number in range(many):
        first = Trajectory.objects.filter(project=project)[: 2 * many]
        tags.tag(actor=cast.admin, project=project, trajectories=first, name=f"疑难{number}")
    judge(cast, many)
    teach(cast, many)
    know_by_checksums()
    for number in range(many):
        publish(freeze(project, f"1.{number}"), shows_leaderboard=True)
        people.receive(project, people.jsonl(people.make_records(many, steps=1 + many)), actor=cast.admin)
        label.receive_labels(
            actor=cast.admin,
            project=project,
            filename="labels.jsonl",
            chunks=[lines(list(Trajectory.objects.filter(project=project)[:many])).read()],
            annotator="ann",
            enqueue=False,
        )
    for trajectory in Trajectory.objects.filter(project=project, state=TrajectoryState.UNANIMOUS)[:many]:
        # frozen as right: nothing else of these pages tells of it
        Consensus.objects.filter(step=trajectory.steps.latest("ordinal")).update(value=-1)
        row = correct.take(actor=cast.admin, project=project)
        said = correct.Draft("action", "written", text="这样才对。")
        correct.save_correction(actor=cast.admin, correction=row, draft=said, version=0)
    for row in Judge.objects.filter(project=project):
        evaluate.score_judge(actor=OPERATOR, release=Release.objects.get(version="1.0"), judge=row)


def train(cast: people.Cast, number: int) -> None:
    """A training subset with a keyed trajectory and one without a key."""
    now = cast.project.created_at
    subset = Subset.objects.create(project=cast.project, name=f"t{number}", training=True, created_at=now)
    key = {"step_labels": {str(2 * step + 2): 1 for step in range(2 + number)}, "final_label": 1}
    records = [people.make_record(7, steps=2 + number, **key), people.make_record(8)]
    people.import_records(cast.project, records, subset=subset.name)


def examine(cast: people.Cast, many: int) -> None:
    """Tests that ann has failed, and gold."""
    project = cast.project
    for number in range(many):
        items = keyed_items(project, [(1, -1)] * (10 + many), subset=f"e{number}")
        test = proficiency.make_test(
            actor=OPERATOR, project=project, trajectories=items, agreement=0.9, wait_hours=0
        )
        opened = projects.ensure_subset(actor=OPERATOR, project=project, name=f"o{number}")
        proficiency.require_test(actor=OPERATOR, subset=opened, test=test)
        proficiency.begin_attempt(actor=cast.ann, test=test)
        for _ in items:
            people.label_next(cast.ann, project)
        subset = project.subsets.get(name=f"s{number}")
        mixed = training.make_gold(
            actor=OPERATOR, project=project, trajectories=_lessons(project), subset=subset
        )
        assert mixed.done


def teach(cast: people.Cast, many: int) -> None:
    """A tutorial, and a pilot in which ann and ben differ: no more is given to anybody from here on."""
    project = cast.project
    pilot = keyed_items(project, [(1, -1)] * many, subset="p0")
    training.begin_pilot(actor=OPERATOR, project=project, subset=pilot[0].subset, bound=0.6)
    for user, values in ((cast.ann, [1, 1]), (cast.ben, [1, -1])):
        for _ in pilot:
            people.label_next(user, project, values)
    training.set_tutorial(actor=OPERATOR, project=project, trajectories=_lessons(project))


def _lessons(project: Project) -> list[Trajectory]:
    """The trajectories with a key of all `train` has made."""
    keyed = Trajectory.objects.filter(project=project, subset__name__startswith="t", training=True)
    return list(keyed.filter(key_labels__isnull=False, copy_of=None).distinct())


def know_by_checksums() -> None:
    """Give every trajectory the identity of a record without one of its own, which no page shows whole, and
    whose beginning is no word."""
    for row in Trajectory.objects.all():
        drawn = (sha256_hex(f"{row.pk} {number}".encode()) for number in count())
        row.record_id = next(one for one in drawn if not re.search("[a-f]{3}", one[:12]))
        row.save(update_fields=["record_id"])


def judge(cast: people.Cast, many: int) -> None:
    """Judges with a run each, in which so many trajectories failed."""
    for number in range(many):
        row = make_judge(cast, f"j{number}")
        run = start(row)
        SuggestionItem.objects.filter(run=run).update(state="failed", failure="not_json", message="No.")
        rows = [
            JudgeAnswer(
                run=run, judge=row, trajectory=one, request=b"", response=b"", created_at=run.created_at
            )
            for one in cast.project.trajectories.all()
        ]
        JudgeAnswer.objects.bulk_create(rows)
        first = cast.project.trajectories.filter(state=TrajectoryState.UNANIMOUS).first()
        Suggestion.objects.create(judge=row, run=run, trajectory=first, created_at=run.created_at)
    # an ended run is compared with people's labels
    SuggestionRun.objects.update(state="finished", finished_at=run.created_at)
    workshop(cast, many)


def workshop(cast: people.Cast, many: int) -> None:
    """Samples of the first judge, and on the newest a prompt that was tried and changed labels."""
    row = Judge.objects.earliest("pk")
    for _ in range(many):
        sample = WorkshopSample.objects.create(judge=row, seed=1, created_at=row.created_at)
    resolved = cast.project.trajectories.filter(state=TrajectoryState.UNANIMOUS)
    sample.trajectories.set(resolved)
    trial = Judge.stored.create(
        project=cast.project, name="trial", kind=row.kind, sample=sample, created_at=row.created_at
    )
    for trajectory in resolved:
        made = Suggestion.stored.create(
            judge=trial, trajectory=trajectory, live=False, created_at=row.created_at
        )
        step = trajectory.steps.earliest("ordinal")
        SuggestedLabel.stored.create(suggestion=made, step=step, value=0)


def arguments(page: str, cast: people.Cast) -> tuple[Any, ...]:
    """The parameters in the address of a page."""
    name = PAGES[page][1]
    own = ("profile", "second-factors", "second-factor-confirm")
    if name in ("home", "notices", "projects", "people", *own):
        return ()
    if name == "correction":
        return (Correction.objects.latest("pk").pk,)
    if name == "adjudication":
        return (Adjudication.objects.order_by("-pk").first().pk,)
    if name == "import-detail":
        waits = {"state": ImportState.UPLOADED}
        files = ImportFile.objects.filter(project=cast.project)
        of_labels = page == "preview of labels"
        files = files.filter(format="labels") if of_labels else files.exclude(format="labels")
        files = files.filter(**waits) if page.startswith("preview") else files.exclude(**waits)
        return ("bench", files.first().pk)
    if name == "workshop-sample":
        return ("bench", WorkshopSample.objects.latest("pk").pk)
    if name in ("judge", "judge-workshop"):
        return ("bench", Judge.objects.earliest("pk").pk)
    if name == "run":
        return ("bench", SuggestionRun.objects.first().pk)
    if name == "trajectory":
        disputed = Trajectory.objects.filter(project=cast.project, state=TrajectoryState.DISPUTED)
        return ("bench", disputed.order_by("-step_count").first().pk)
    if name == "history":
        return (Adjudication.objects.order_by("-trajectory__step_count").first().trajectory_id,)
    if name == "connection":
        return ("bench", cast.project.connections.earliest("pk").pk)
    if name == "connection-transfer":
        return ("bench", Transfer.objects.latest("pk").pk)
    if name == "webhook":
        return ("bench", cast.project.webhooks.earliest("pk").pk)
    if name == "crowd-link":
        return ("bench", cast.project.crowd_links.earliest("pk").pk)
    if name == "training-items":
        return ("bench", Subset.objects.get(name="t0").pk)
    if name == "training-item":
        keyed = Trajectory.objects.filter(training=True, key_labels__isnull=False)
        return ("bench", keyed.latest("step_count").pk)
    if name in ("test", "test-detail"):
        return ("bench", 1)
    if name == "attempt":
        return (ProficiencyTest.objects.earliest("pk").sittings.earliest("pk").pk,)
    if name in ("qualifications", "member-limits", "member-look-again"):
        return ("bench", cast.project.memberships.get(user=cast.ann).pk)
    if name == "annotator-figures":
        return ("bench", cast.ann.pk)
    if name == "release-diff":
        return ("bench", "1.0", "1.0")
    if name in ("model", "release-errors", "release-predicted"):
        there = ("bench", "1.0", PredictionSet.objects.first().pk)
        return (*there, 0) if name == "release-predicted" else there
    of_release = ("release", "release-derive", "leaderboard", "public-release", "scored-judges", *EVALUATION)
    return ("bench", "1.0") if name in of_release else ("bench",)
