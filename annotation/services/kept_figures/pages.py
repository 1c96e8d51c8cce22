"""The reports that are kept where much was submitted, each behind its own permission."""

from __future__ import annotations

from dataclasses import replace
from datetime import tzinfo
from functools import partial
from typing import Any, Final
from zoneinfo import ZoneInfo

from django.utils import timezone

from annotation.models import Project, User
from annotation.policies import Actor, deals_people, require
from annotation.reports.influence import report as influence_report
from annotation.reports.influence import triage as triage_report
from annotation.reports.quality import annotators, look_again
from annotation.reports.releases import freeze_checklist, release_preview
from annotation.reports.work import board as board_report
from annotation.reports.work import hours
from annotation.services import interim

from .keep import Kept, Report, kept, register


def _may(verb: str, *, actor: Actor, project: Project, **_asked: Any) -> None:
    require(actor, verb, project)


def _board(*, actor: Actor, project: Project, zone: str) -> board_report.Board:
    return board_report.board(actor=actor, project=project, zone=ZoneInfo(zone))


def _own_part(*, actor: User, project: Project, zone: str) -> board_report.OwnPart:
    return board_report.own_part(actor=actor, project=project, zone=ZoneInfo(zone))


def _days_of_work(
    *, actor: Actor, project: Project, days: int | None, zone: str, person: str
) -> list[hours.DayOfWork]:
    today = timezone.localdate(timezone=ZoneInfo(zone))
    return hours.days_of_work(
        actor=actor, project=project, last=today, days=days, zone=ZoneInfo(zone), person=person
    )


def _influence(*, actor: Actor, project: Project) -> influence_report.Influence:
    return influence_report.influence(viewer=actor, project=project)


def _triage(*, actor: Actor, project: Project) -> triage_report.Triage:
    return triage_report.triage_so_far(viewer=actor, project=project)


def _annotator_figures(*, actor: Actor, project: Project, annotator: int) -> annotators.AnnotatorFigures:
    return annotators.annotator_figures(viewer=actor, project=project, annotator=annotator)


def _check_annotator(*, actor: Actor, project: Project, annotator: int) -> None:
    annotators.require_figures(actor, project, annotator)


def _check_hours(*, actor: Actor, project: Project, **_asked: Any) -> None:
    hours.require_hours(actor, project)


BOARD: Final = register(
    Report("board", board_report.Board, _board, partial(_may, "progress.view"), personal=True)
)
OWN_PART: Final = register(
    Report("own_part", board_report.OwnPart, _own_part, partial(_may, "claim"), personal=True)
)
HOURS: Final = register(Report("hours", list[hours.DayOfWork], _days_of_work, _check_hours, personal=True))
INFLUENCE: Final = register(
    Report(
        "influence",
        influence_report.Influence,
        _influence,
        partial(_may, "influence.view"),
        personal=False,
    )
)
TRIAGE: Final = register(
    Report("triage", triage_report.Triage, _triage, partial(_may, "influence.view"), personal=False)
)
ANNOTATOR: Final = register(
    Report("annotator", annotators.AnnotatorFigures, _annotator_figures, _check_annotator, personal=True)
)
CHECKLIST: Final = register(
    Report(
        "checklist",
        freeze_checklist.FreezeChecklist,
        freeze_checklist.checklist,
        partial(_may, "release.freeze"),
        personal=False,
    )
)
CANDIDATE: Final = register(
    Report(
        "candidate",
        release_preview.ReleaseCandidate,
        release_preview.candidate,
        partial(_may, "release.freeze"),
        personal=False,
    )
)
VERSIONS: Final = register(
    Report(
        "versions",
        list[look_again.VersionCounts],
        look_again.versions,
        partial(_may, "project.change"),
        personal=False,
    )
)


def board(*, actor: Actor, project: Project, zone: tzinfo) -> Kept[board_report.Board]:
    """The board of a project, for its admins."""
    return kept(BOARD, actor=actor, project=project, zone=str(zone))


def own_part(*, actor: User, project: Project, zone: tzinfo) -> Kept[board_report.OwnPart]:
    """An annotator's own work in a project, and its paces."""
    return kept(OWN_PART, actor=actor, project=project, only=actor.pk, zone=str(zone))


def days_of_work(
    *, actor: User, project: Project, days: int | None, zone: tzinfo, person: str
) -> Kept[list[hours.DayOfWork]]:
    """Days with work up to today: of everybody for admins, to annotators their own."""
    return kept(HOURS, actor=actor, project=project, days=days, zone=str(zone), person=person)


def influence(*, actor: Actor, project: Project) -> Kept[influence_report.Influence]:
    """The influence report, for admins. Where people are dealt to arms it is never kept: each look at it is
    noted, and is to show what the project has come to."""
    if deals_people(project):
        return Kept(interim.influence(actor=actor, project=project))
    return kept(INFLUENCE, actor=actor, project=project)


def triage_so_far(*, actor: Actor, project: Project) -> Kept[triage_report.Triage]:
    """The trajectories that triage has brought forward, for admins."""
    return kept(TRIAGE, actor=actor, project=project)


def annotator_figures(*, actor: User, project: Project, annotator: int) -> Kept[annotators.AnnotatorFigures]:
    """The figures of one annotator: for admins, and for annotators of themselves."""
    return kept(ANNOTATOR, actor=actor, project=project, only=annotator, annotator=annotator)


def checklist(*, actor: Actor, project: Project, threshold: float) -> Kept[freeze_checklist.FreezeChecklist]:
    """The check-list of a freeze, for admins."""
    figures = kept(CHECKLIST, actor=actor, project=project)
    return replace(figures, figures=figures.figures.at(threshold))


def candidate(*, actor: Actor, project: Project) -> Kept[release_preview.ReleaseCandidate]:
    """The content of a release frozen now, for admins."""
    return kept(CANDIDATE, actor=actor, project=project)


def versions(*, actor: User, project: Project) -> Kept[list[look_again.VersionCounts]]:
    """Submitted work by version of the guidelines, for admins."""
    return kept(VERSIONS, actor=actor, project=project)
