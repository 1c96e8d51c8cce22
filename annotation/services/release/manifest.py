"""The manifest of a release: its content, its makers, and its reliability."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
from django.conf import settings
from django.db.models import Count

from annotation.core.audits.certificate import CONFIDENCE
from annotation.core.decisions.recipes import TOO_FEW_LEFT
from annotation.core.i18n import translatable
from annotation.core.releases.qualifications import Qualifications, qualification_counts
from annotation.core.releases.record_format import distribution, file_name
from annotation.core.text import unescape
from annotation.core.vocabulary import IN_RELEASES, AttemptState, ImportState, TrajectoryState
from annotation.models import (
    DERIVED,
    AuditedTrajectory,
    ImportFile,
    Membership,
    ProficiencyTest,
    Project,
    Qualification,
    TestAttempt,
    Trajectory,
)
from annotation.policies import OPERATOR
from annotation.reports.influence.report import as_json, influence
from annotation.reports.judging.judges_first import summary
from annotation.reports.quality.label_audit import audit_report, certificate_json, newest_audit
from annotation.reports.releases.release_agreement import agreement_twice
from annotation.reports.releases.unlabelled_part import unlabelled_part

from .. import assign
from .contents import ReleaseDigest

DERIVED_NAMES = ("project", "version", "digest", "recipe", "seed", "options")
NO_EXPERIMENT = translatable("when annotators saw suggestions was not randomised")


def described(project: Project, running: ReleaseDigest, leave_out: Collection[str]) -> dict[str, Any]:
    """Counts, distributions and origins by subset; agreement over the project and over the release; who
    labelled, under which guidelines, after seeing what; the certificate of labels; checksums. Whoever reads a
    release reads its manifest: annotators are pseudonyms in it, and no figure of agreement is of a single
    one."""
    values = sum(running.values.values(), Counter[int]())
    outcomes = sum(running.outcomes.values(), Counter[int]())
    kinds = sum(running.kinds.values(), Counter[str]())
    trajectories = np.frombuffer(running.trajectories, dtype=np.int64)
    return {
        "software_version": settings.TRISTEP_VERSION,
        "guideline_version": assign.guideline_in_force(project.pk),
        "guideline_versions": _by(running, 1),
        "annotators_per_trajectory": project.annotators_per_trajectory,
        "annotators": _annotators(project, running),
        **_qualifications(project, running),
        "exposure": _exposure(project, running),
        "digest": running.digest.hexdigest(),
        "records": running.records,
        "labels": values.total(),
        "label_distribution": distribution(values),
        "outcome_distribution": distribution(outcomes),
        "label_kinds": dict(sorted(kinds.items())),
        "origins": _origins(kinds, sum(running.outcome_kinds.values(), Counter[str]())),
        "subsets": {
            subset: {
                "records": entry["records"],
                "labels": running.values[subset].total(),
                "label_distribution": distribution(running.values[subset]),
                "outcome_distribution": distribution(running.outcomes[subset]),
                "origins": _origins(running.kinds[subset], running.outcome_kinds[subset]),
            }
            for subset, entry in running.files.items()
        },
        "left_out": _left_out(project, leave_out),
        **({"difficulty": running.difficulty} if running.difficulty else {}),
        **_derived_from(project, leave_out),
        "unlabelled": unlabelled_part(project, trajectories.tolist(), running.files.keys()).as_json(),
        "agreement": agreement_twice(viewer=OPERATOR, project=project, trajectories=trajectories),
        "label_audit": _audited(project, trajectories),
        **_judges_first(project),
        "files": {
            file_name(subset): {**entry, "sha256": entry["sha256"].hexdigest()}
            for subset, entry in running.files.items()
        },
    }


def _audited(project: Project, trajectories: np.typing.NDArray[np.int64]) -> dict[str, Any]:
    """The certificate of the newest audit, and how many of the release's steps are among those it drew
    from."""
    audit = newest_audit(project)
    if audit is None:
        return {**certificate_json(None), "confidence": CONFIDENCE, "covered": None}
    listed = AuditedTrajectory.objects.filter(audit=audit).order_by()
    steps = dict(listed.values_list("trajectory", "steps"))
    own = set(trajectories.tolist())
    return {
        **certificate_json(audit_report(viewer=OPERATOR, audit=audit)),
        "confidence": CONFIDENCE,
        "covered": {
            "trajectories": len(own & steps.keys()),
            "steps": sum(steps[pk] for pk in own & steps.keys()),
        },
    }


def _judges_first(project: Project) -> dict[str, Any]:
    """Counts of what judges settled before people were asked, and people's agreement with it; empty where
    judges are not asked first."""
    settled = summary(project)
    return {} if settled is None else {"judges_first": settled.as_json()}


def _origins(steps: Mapping[str, int], outcomes: Mapping[str, int]) -> dict[str, dict[str, int]]:
    """Counts of labels by origin: unanimous, discussed, adjudicated, by majority, of one person, judged."""
    return {"steps": dict(sorted(steps.items())), "outcomes": dict(sorted(outcomes.items()))}


def _by(running: ReleaseDigest, part: int) -> dict[str, dict[str, int]]:
    """The turns by pseudonym (`part` 0) or guideline version (1)."""
    counts: dict[str, Counter[str]] = {}
    for key, counted in running.turns.items():
        counts.setdefault(str(key[part]), Counter()).update(counted)
    return {name: dict(sorted(counted.items())) for name, counted in counts.items()}


def _annotators(project: Project, running: ReleaseDigest) -> dict[str, Any]:
    """The number of annotators of the release, and by pseudonym their labels; `read`: the version of the
    guidelines that they said they had read."""
    read = dict(Membership.objects.filter(project=project).values_list("user", "guideline_seen"))
    seen = {name: read.get(pk) for pk, name in running.names.items()}
    people = _by(running, 0)
    return {
        "number": len(people),
        "people": {name: {**counted, "guidelines_read": seen.get(name)} for name, counted in people.items()},
    }


def _qualifications(project: Project, running: ReleaseDigest) -> dict[str, Any]:
    """Counts of what admins noted of the annotators of the release; nothing where there is nothing to
    state. Who has left counts among them, with nothing noted."""
    labelled = {name for name, _version in running.turns}
    people = {pk: Qualifications() for pk, name in running.names.items() if name in labelled}
    noted = Qualification.objects.filter(membership__project=project, membership__user__in=people).order_by()
    for pk, degree, field, years, languages in noted.values_list("membership__user", *Qualification.COUNTED):
        people[pk] = Qualifications(degree, unescape(field), years, unescape(languages))
    block = qualification_counts(people.values(), _passed_tests(project, running, people))
    return {"qualifications": block} if block else {}


def _passed_tests(project: Project, running: ReleaseDigest, people: Collection[int]) -> dict[str, int]:
    """The number of annotators who have passed each test that a subset of the release asks for."""
    asked = ProficiencyTest.objects.filter(
        project=project, opens__name__in=running.files.keys(), opens__project=project
    ).distinct()
    passed = TestAttempt.objects.filter(
        test__in=asked, annotator__in=people, state=AttemptState.PASSED
    ).order_by()
    counted = passed.values_list("test__number").annotate(n=Count("annotator", distinct=True))
    return {f"test {number}": n for number, n in counted}


def _exposure(project: Project, running: ReleaseDigest) -> dict[str, Any]:
    """The suggestion policy, the number of labels given in sight of a suggestion, and the effects where it
    was randomised."""
    counted = sum(running.turns.values(), Counter[str]())
    exposure: dict[str, Any] = {
        "policy": project.suggestion_policy,
        "labels": counted["labels"],
        "labels_in_sight": counted["labels_in_sight"],
        "trajectories": counted["trajectories"],
        "blind_trajectories": counted["blind_trajectories"],
        "experiment": None,
        "experiment_reason": NO_EXPERIMENT,
    }
    if project.experiment_seed is None:
        return exposure
    # what the experiment says so far; that this is a look at it like any other is noted before (freeze.py)
    report = as_json(influence(viewer=OPERATOR, project=project))
    arms = [{name: value for name, value in arm.items() if name != "figures"} for arm in report["arms"]]
    experiment = {"unit": report["unit"], "arms": arms, "effects": report.get("effects", report["contrasts"])}
    more = {name: report[name] for name in ("look", "accounting", "each_other") if name in report}
    return {**exposure, "policy": None, "experiment": {**experiment, **more}, "experiment_reason": ""}


def _derived_from(project: Project, leave_out: Collection[str]) -> dict[str, Any]:
    """The releases that its sets are derived from, and how; nothing where none is. `too_few_people`: for how
    many decisions fewer people were left than have to label them."""
    sources = ImportFile.objects.filter(
        project=project, state=ImportState.PUBLISHED, options__has_key=DERIVED
    ).exclude(subset__name__in=leave_out)
    derived = [
        {
            "set": source.target.name,
            **{name: source.derived_from[name] for name in DERIVED_NAMES},
            "too_few_people": source.notes.get(TOO_FEW_LEFT, 0),
        }
        for source in sources.select_related("subset").defer("errors").order_by("pk")
    ]
    return {"derived_from": derived} if derived else {}


def _left_out(project: Project, leave_out: Collection[str]) -> dict[str, Any]:
    """Left-out subsets, and by state unresolved trajectories of the others."""
    rows = Trajectory.objects.filter(project=project, live=True).order_by()
    counted = rows.values_list("subset__name", "state").annotate(n=Count("pk"))
    subsets = dict.fromkeys(sorted(leave_out), 0)
    states = {state.value: 0 for state in TrajectoryState if state not in IN_RELEASES}
    for subset, state, n in counted:
        if subset in subsets:
            subsets[subset] += n
        elif state in states:
            states[state] += n
    return {"subsets": subsets, "not_resolved": states}
