"""Loading the demo project: fixtures/demo, through the same services that people's clicks go through."""

import json
import secrets
from collections.abc import Iterator
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError

from annotation.core.judging.kinds import FILE
from annotation.core.kinds import DECISIONS, STEPS
from annotation.core.vocabulary import AdjudicationState
from annotation.models import Adjudication, Assignment, Project, Release, Trajectory, User
from annotation.policies import OPERATOR
from annotation.services import (
    accounts,
    adjudicate,
    assign,
    discuss,
    evaluate,
    ingest,
    label,
    projects,
    release,
    suggest,
)

FOLDER = Path(settings.BASE_DIR) / "fixtures" / "demo"
DEMO_READ_BYTES = 1 << 20


def load(*, known_passwords: bool) -> list[dict[str, str]]:
    """Make the demo projects and their people; the new accounts as {"username", "password", "who"}.

    `known_passwords`: passwords everybody can read in this file (for a server that only this machine
    reaches); otherwise random ones, shown once. Raises CommandError when the project is there already.
    """
    plan = _read(FOLDER / "project.json")
    for slug in (plan["slug"], plan["next_actions"]["slug"]):
        if Project.objects.filter(slug=slug).exists():
            raise CommandError(f"There is a project “{slug}” already.")
    people, made = _people(plan, known_passwords)
    project = _project(plan, people, plan["accounts"])
    for subset in plan["subsets"]:
        _import(project, subset)
    examples = ingest.add_examples(actor=OPERATOR, project=project, language="en", enqueue=False)
    ingest.run_import(source_id=examples.pk)
    for judge in plan["judges"]:
        _suggest(project, judge)
    _import_labels(project, FOLDER / "labels")
    for line in _lines(FOLDER / "adjudications.jsonl"):
        _adjudicate(project, people[line["username"]], line)
    for line in _lines(FOLDER / "discussions.jsonl"):
        _discuss(project, people, line)
    for line in _lines(FOLDER / "drafts.jsonl"):
        _draft(project, people[line["username"]], line)
    first, second = plan["releases"]
    _freeze(project, first, plan)
    _withdraw(project, people[first["withdrawn"]["username"]], first)
    for line in _lines(FOLDER / "corrections.jsonl"):
        _adjudicate(project, people[line["username"]], line)
    _freeze(project, second, plan)
    _next_actions(plan, people)
    return made


def _project(
    planned: dict[str, Any], people: dict[str, User], members: list[dict[str, Any]], kind: str = STEPS.name
) -> Project:
    """A project with its members, who have read its guidelines: whoever looks at the demo wants to see the
    workbench."""
    project = projects.create_project(
        actor=OPERATOR,
        name=planned["name"],
        slug=planned["slug"],
        kind=kind,
        description=planned["description"],
        **planned["settings"],
    )
    for account in members:
        roles = {f"is_{role}": True for role in account["roles"]}
        person = people[account["username"]]
        projects.add_member(actor=OPERATOR, project=project, user=person, **roles)
        projects.read_guidelines(actor=person, guideline=project.guidelines.get())
    return project


def _next_actions(plan: dict[str, Any], people: dict[str, User]) -> None:
    """The project of decisions: imported, labelled by two people, one dispute decided, and a release."""
    planned, folder = plan["next_actions"], FOLDER / "next_actions"
    project = _project(planned, people, plan["accounts"], DECISIONS.name)
    _import_file(project, folder / "first_errors.jsonl", "first_errors")
    _import_labels(project, folder / "labels")
    for line in _lines(folder / "adjudications.jsonl"):
        _adjudicate(project, people[line["username"]], line)
    frozen = release.freeze(actor=OPERATOR, project=project, version=planned["version"], note=planned["note"])
    _predictions(frozen, planned["predictions"], folder)


def _import_labels(project: Project, folder: Path) -> None:
    """The finished labels of each person, by user name."""
    for path in sorted(folder.glob("*.jsonl")):
        with path.open("rb") as stream:
            label.import_labels(
                actor=OPERATOR, project=project, annotator=path.stem, stream=stream, filename=path.name
            )


def well_known() -> list[dict[str, str]]:
    """The demo's accounts whose passwords everybody can read in this file, as `load` describes them."""
    plan = _read(FOLDER / "project.json")
    people = User.objects.in_bulk(
        [account["username"] for account in plan["accounts"]], field_name="username"
    )
    return [
        _described(account, _known_password(account["username"]))
        for account in plan["accounts"]
        if (user := people.get(account["username"])) and user.check_password(_known_password(user.username))
    ]


def replace_well_known() -> list[dict[str, str]]:
    """Give those accounts random passwords, before a server that others reach lets them in."""
    return [
        account
        | {
            "password": accounts.replace_password(
                actor=OPERATOR, user=User.objects.get(username=account["username"])
            )
        }
        for account in well_known()
    ]


def _known_password(username: str) -> str:
    return f"{username}-demo"


def _described(account: dict[str, Any], password: str) -> dict[str, str]:
    return {"username": account["username"], "password": password, "who": ", ".join(account["roles"])}


def _read(path: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return content


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.strip():
            yield json.loads(line)


def _people(plan: dict[str, Any], known_passwords: bool) -> tuple[dict[str, User], list[dict[str, str]]]:
    """All people by user name, and the accounts that had to be made. An account that exists is used as it
    is."""
    people: dict[str, User] = {}
    made = []
    for account in plan["accounts"]:
        name = account["username"]
        user = User.objects.filter(username=name).first()
        if user is None:
            password = _known_password(name) if known_passwords else secrets.token_urlsafe(9)
            user = accounts.create_user(
                actor=OPERATOR,
                username=name,
                password=password,
                display_name=account["display_name"],
                is_superuser=account.get("superuser", False),
                check_password=False,
            )
            made.append(_described(account, password))
        people[name] = user
    return people, made


def _import(project: Project, subset: dict[str, Any]) -> None:
    path = FOLDER / f"{subset['name']}.jsonl"
    projects.ensure_subset(
        actor=OPERATOR,
        project=project,
        name=subset["name"],
        suspend_on_user_turn=subset["suspend_on_user_turn"],
    )
    models = {int(index): name for index, name in subset["policy_models"].items()}
    _import_file(project, path, subset["name"], models)


def _import_file(
    project: Project, path: Path, subset: str, policy_models: dict[int, str] | None = None
) -> None:
    with path.open("rb") as file:
        source = ingest.receive_file(
            actor=OPERATOR,
            project=project,
            subset=subset,
            filename=path.name,
            chunks=iter(lambda: file.read(DEMO_READ_BYTES), b""),
            policy_models=policy_models,
            enqueue=False,
        )
    ingest.run_import(source_id=source.pk)


def _suggest(project: Project, judge: dict[str, Any]) -> None:
    """A judge from a file, which none of the annotators sees before they have judged themselves."""
    suggest.create_judge(
        actor=OPERATOR,
        project=project,
        name=judge["name"],
        kind=FILE.name,
        model=judge["model"],
    )
    path = FOLDER / "suggestions" / f"{judge['file']}.jsonl"
    with path.open("rb") as stream:
        suggest.import_suggestions(
            actor=OPERATOR, project=project, judge_name=judge["name"], stream=stream, filename=path.name
        )


def _freeze(project: Project, planned: dict[str, Any], plan: dict[str, Any]) -> None:
    """A release, with what the judges suggested of its records as predictions, and what a model says of them
    that is no judge here."""
    frozen = release.freeze(
        actor=OPERATOR,
        project=project,
        version=planned["version"],
        note=planned["note"],
        title=planned.get("title", ""),
        licence=planned.get("licence", ""),
    )
    for judge in plan["judges"]:
        _predict(frozen, judge["model"], FOLDER / "suggestions" / f"{judge['file']}.jsonl")
    _predictions(frozen, plan["predictions"], FOLDER)


def _withdraw(project: Project, admin: User, planned: dict[str, Any]) -> None:
    """Say that a release is faulty, after which what it holds can be decided again."""
    faulty = Release.objects.get(project=project, version=planned["version"])
    release.withdraw(actor=admin, release=faulty, reason=planned["withdrawn"]["reason"])


def _predictions(frozen: Release, models: list[dict[str, Any]], folder: Path) -> None:
    """The predictions of made-up models that are no judges here."""
    for planned in models:
        about = evaluate.PredictionSetDetails(
            planned["prompt_version"], date.fromisoformat(planned["judged_on"]), Decimal(planned["cost"])
        )
        _predict(frozen, planned["model"], folder / "predictions" / f"{planned['file']}.jsonl", about)


def _predict(
    frozen: Release, model: str, path: Path, about: evaluate.PredictionSetDetails | None = None
) -> None:
    """The predictions of a model, as far as the release holds their records."""
    with path.open("rb") as stream:
        evaluate.import_predictions(
            actor=OPERATOR, release=frozen, model=model, stream=stream, filename=path.name, about=about
        )


def _trajectory(project: Project, record_id: str) -> Trajectory:
    return Trajectory.objects.select_related("project").get(project=project, live=True, record_id=record_id)


def _adjudicate(project: Project, adjudicator: User, line: dict[str, Any]) -> None:
    """Decide one disputed trajectory as the file says: its disputed steps, and the outcome where it is
    given; again, when it is to be reopened."""
    trajectory = _trajectory(project, line["record_id"])
    version = 1 if line.get("reopen") else 0
    if version:
        decided = Adjudication.objects.get(trajectory=trajectory, state=AdjudicationState.DECIDED)
        case = adjudicate.reopen_case(actor=adjudicator, adjudication=decided)
    else:
        case = adjudicate.open_case(actor=adjudicator, trajectory=trajectory)
    notes = line.get("notes", {})
    for index, value in line["step_labels"].items():
        adjudicate.decide(
            actor=adjudicator,
            adjudication=case,
            message_index=int(index),
            value=value,
            note=notes.get(index, ""),
            version=version,
        )
    if line.get("final_label") is not None:
        adjudicate.decide(
            actor=adjudicator,
            adjudication=case,
            message_index=None,
            value=line["final_label"],
            note=notes.get("final", ""),
            version=version,
        )
    adjudicate.close_case(actor=adjudicator, adjudication=case, note=line.get("comment", ""))


def _discuss(project: Project, people: dict[str, User], line: dict[str, Any]) -> None:
    """A case that its adjudicator has taken and discusses with those who labelled it: comments, and changes
    of mind where a value is given."""
    trajectory = _trajectory(project, line["record_id"])
    adjudicate.open_case(actor=people[line["username"]], trajectory=trajectory)
    discussion = discuss.open_discussion(actor=people[line["username"]], trajectory=trajectory)
    for message in line["said"]:
        actor, index = people[message["username"]], message["message_index"]
        if "value" in message:
            discuss.revise(
                actor=actor,
                discussion=discussion,
                message_index=index,
                value=message["value"],
                note=message["note"],
            )
        else:
            discuss.comment(actor=actor, discussion=discussion, text=message["text"], message_index=index)


def _draft(project: Project, annotator: User, line: dict[str, Any]) -> None:
    """A half-finished assignment: claimed, some steps labelled, not submitted."""
    assignment = assign.claim_this(actor=annotator, trajectory=_trajectory(project, line["record_id"]))
    changes = [
        {"target": "step", "message_index": int(index), "version": 0, "value": value, "source": "explicit"}
        for index, value in line["step_labels"].items()
    ]
    label.save_labels(actor=annotator, assignment=assignment, op_id="demo-draft", changes=changes)


def summary(project_slug: str) -> str:
    """A summary of the demo in a line."""
    rows = Trajectory.objects.filter(project__slug=project_slug, live=True)
    submitted = Assignment.objects.filter(project__slug=project_slug, state="submitted")
    releases = Release.objects.filter(project__slug=project_slug)
    return (
        f"Demo project: {rows.count()} trajectories, {submitted.count()} submitted assignments, "
        f"{releases.count()} releases."
    )
