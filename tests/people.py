"""The cast: the same few people in every test, and short ways to bring a project anywhere on the line.

Everything goes through the services, as it does in the product. The fixture `cast` is a project with its
people and no data; `callers.Caller(user)` calls the REST API as one of them. Everybody's password is
PASSWORD.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

from annotation.core.vocabulary import LabelSource
from annotation.models import (
    Adjudication,
    Assignment,
    ImportFile,
    Membership,
    Project,
    Step,
    Trajectory,
    User,
)
from annotation.policies import OPERATOR, Actor
from annotation.services import accounts, adjudicate, assign, ingest, label, projects
from tests.fixtures.shared_rows import shared_rows

PASSWORD = "believable-horse-battery-9"
_numbers = count(1)


@dataclass(frozen=True)
class Cast:
    """One project and the people around it.

    `admin` administers it, `ann`, `ben` and `cleo` are its annotators (A, B and the third), `judith` its
    adjudicator; `oscar` has an account and no part in it; `root` is a superuser and no member.
    """

    project: Project
    admin: User
    ann: User
    ben: User
    cleo: User
    judith: User
    oscar: User
    root: User

    @property
    def everybody(self) -> dict[str, User]:
        """The seven of them by name."""
        names = ("admin", "ann", "ben", "cleo", "judith", "oscar", "root")
        return {name: getattr(self, name) for name in names}


def make_user(username: str, *, is_superuser: bool = False, email: str = "") -> User:
    """An account with PASSWORD."""
    return accounts.create_user(
        actor=OPERATOR,
        username=username,
        password=PASSWORD,
        email=email,
        display_name=username.title(),
        is_superuser=is_superuser,
        check_password=False,
    )


def make_project(slug: str = "bench", *, actor: Actor = OPERATOR, **settings: Any) -> Project:
    """A project; its guidelines say something. The operator makes it, so nobody is a member yet. People may
    hold many unfinished trajectories, unless the settings say otherwise."""
    settings = {"claim_limit": 50, **settings}
    return projects.create_project(
        actor=actor, name=f"Project {slug}", slug=slug, guidelines="Judge each step.", **settings
    )


def leave(project: Project, user: User) -> None:
    """Somebody is a member no more; in another project they are everything."""
    membership = Membership.objects.get(project=project, user=user)
    projects.remove_member(actor=OPERATOR, membership=membership)
    elsewhere = projects.create_project(actor=OPERATOR, name="Elsewhere")
    make_member(elsewhere, user, "annotator", "adjudicator", "admin")


def make_member(project: Project, user: User, *roles: str) -> Membership:
    """Give a person roles in a project: any of "annotator", "adjudicator", "admin". They have read the
    guidelines."""
    held = {f"is_{role}": True for role in roles}
    made = projects.add_member(actor=OPERATOR, project=project, user=user, **held)
    Membership.objects.filter(pk=made.pk).update(guideline_seen=1)
    return made


def make_cast(slug: str = "bench", **settings: Any) -> Cast:
    """The project `slug` with its people. Project settings may be given by name."""
    project = make_project(slug, **settings)
    people = {name: make_user(name) for name in ("admin", "ann", "ben", "cleo", "judith", "oscar")}
    make_member(project, people["admin"], "admin")
    for name in ("ann", "ben", "cleo"):
        make_member(project, people[name], "annotator")
    make_member(project, people["judith"], "adjudicator")
    return Cast(project=project, root=make_user("root", is_superuser=True), **people)


# ── Data ──────────────────────────────────
def make_record(query: int = 0, sample: int = 0, *, steps: int = 2, **changes: Any) -> dict[str, Any]:
    """A record in the AgentProcessBench shape with `steps` steps (at the message indexes 2, 4, 6 …)."""
    messages: list[dict[str, Any]] = [
        {"role": "system", "content": "You are a careful agent."},
        {"role": "user", "content": f"Question {query}?"},
    ]
    for step in range(steps - 1):
        call = {"name": "search", "arguments": json.dumps({"query": f"q{query} s{step}"})}
        messages += [
            {
                "role": "assistant",
                "content": f"Looking, time {step}.",
                "tool_calls": [{"id": f"c{step}", "type": "function", "function": call}],
            },
            {"role": "tool", "tool_call_id": f"c{step}", "content": f"Result {step}."},
        ]
    messages.append({"role": "assistant", "content": f"The answer to {query} is {sample}."})
    return {
        "total_index": 5 * query + sample,
        "query_index": query,
        "sample_index": sample,
        "question": f"Question {query}?",
        "data_source": "tiny",
        "ground_truth": {"target": [f"Truth {query}"]},
        "answer_text": f"{sample}",
        "messages": messages,
        "tool_metrics": {},
        "tools": [],
        **changes,
    }


def make_records(how_many: int, **changes: Any) -> list[dict[str, Any]]:
    """Records of one task each."""
    return [make_record(query, **changes) for query in range(how_many)]


def jsonl(records: Iterable[Mapping[str, Any]]) -> bytes:
    """Records as the bytes of a JSON Lines file."""
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


def receive(project: Project, data: bytes, *, actor: Actor = OPERATOR, **options: Any) -> ImportFile:
    """Bytes as a file that waits for its import, which nobody is asked to do."""
    told = {"subset": "tiny", "filename": "tiny.jsonl", "chunks": [data], "enqueue": False, **options}
    return ingest.receive_file(actor=actor, project=project, **told)


def import_file(project: Project, data: bytes, *, actor: Actor = OPERATOR, **options: Any) -> ImportFile:
    """Import bytes to the end, in this process. Raises ImportRefused as the service does."""
    source = receive(project, data, actor=actor, **options)
    return ingest.run_import(source_id=source.pk, actor=actor)


def import_records(
    project: Project, records: Iterable[Mapping[str, Any]] | int = 1, *, subset: str = "tiny", **options: Any
) -> list[Trajectory]:
    """Import records (or that many made ones); the subset's live trajectories in queue order."""
    made = make_records(records) if isinstance(records, int) else records
    import_file(project, jsonl(made), subset=subset, **options)
    return list(Trajectory.objects.filter(project=project, subset__name=subset, live=True))


# ── Labelling ─────────────────────────────
def step_indexes(trajectory: Trajectory | int) -> list[int]:
    """The message indexes of a trajectory's steps."""
    steps = Step.objects.filter(trajectory=trajectory).order_by("message_index")
    return list(steps.values_list("message_index", flat=True))


def claim(user: User, project: Project) -> Assignment:
    """The next trajectory for a person."""
    return assign.claim_next(actor=user, project=project)


def op_id() -> str:
    """An op_id nobody has used."""
    return f"op-{next(_numbers)}"


def change(message_index: int | None, value: int | None, *, version: int = 0, **more: Any) -> dict[str, Any]:
    """One change of a batch: of a step, or with `message_index` None of the outcome."""
    target = (
        {"target": "outcome"} if message_index is None else {"target": "step", "message_index": message_index}
    )
    return {**target, "version": version, "value": value, "source": LabelSource.EXPLICIT.value, **more}


def label_all(
    assignment: Assignment, values: int | Sequence[int] = 1, *, outcome: int = 1, note: str = ""
) -> dict[str, Any]:
    """Label every step (one value for all, or one each) and the outcome; `note` goes onto each of them."""
    indexes = step_indexes(assignment.trajectory_id)
    wanted = [values] * len(indexes) if isinstance(values, int) else list(values)
    assert len(wanted) == len(indexes), f"{len(indexes)} steps, {len(wanted)} values"
    changes = [change(index, value, note=note) for index, value in zip(indexes, wanted, strict=True)]
    answer = label.save_labels(
        actor=assignment.annotator,
        assignment=assignment,
        op_id=op_id(),
        changes=[*changes, change(None, outcome, note=note)],
    )
    assert all(result["status"] == "saved" for result in answer["results"]), answer["results"]
    return answer


def label_next(
    user: User, project: Project, values: int | Sequence[int] = 1, *, outcome: int = 1, note: str = ""
) -> Assignment:
    """Claim the next trajectory, label it whole and submit it."""
    assignment = claim(user, project)
    label_all(assignment, values, outcome=outcome, note=note)
    return label.submit(actor=user, assignment=assignment)


def make_unanimous(cast: Cast, how_many: int = 1) -> None:
    """The next trajectories of both annotators, labelled alike: +1 throughout."""
    for user in (cast.ann, cast.ben):
        for _ in range(how_many):
            label_next(user, cast.project)


def make_disputed(cast: Cast, how_many: int = 1) -> None:
    """The next trajectories of both annotators: all +1 by ann, all −1 (outcome too) by ben."""
    for _ in range(how_many):
        label_next(cast.ann, cast.project, 1, outcome=1)
        label_next(cast.ben, cast.project, -1, outcome=-1)


def open_case(judge: User, trajectory: Trajectory) -> Adjudication:
    """Take a disputed trajectory."""
    return adjudicate.open_case(actor=judge, trajectory=trajectory)


def decide_all(case: Adjudication, value: int = 1, *, note: str = "") -> None:
    """Decide every step and the outcome of a case in which everything is disputed (see `make_disputed`)."""
    for index in [*step_indexes(case.trajectory_id), None]:
        adjudicate.decide(
            actor=case.adjudicator, adjudication=case, message_index=index, value=value, note=note
        )


def make_adjudicated(cast: Cast, trajectory: Trajectory, value: int = 1) -> Adjudication:
    """Take a disputed trajectory as judith, decide all of it and close the case."""
    case = open_case(cast.judith, trajectory)
    decide_all(case, value)
    return adjudicate.close_case(actor=cast.judith, adjudication=case)


@shared_rows
def cast() -> Cast:
    """The people and their project, without data."""
    return make_cast()
