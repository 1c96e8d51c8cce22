"""The certificate of a project's labels, from its newest audit (docs/agreement.md, "Audits").

Figures only: which trajectories were drawn is told to nobody. What was decided wrong, and is corrected, is
told to admins.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from django.db.models import Count, F, FloatField, Max, Q, QuerySet, Sum
from django.db.models.functions import Cast

from annotation import models as m
from annotation.core.audits.certificate import Certificate, Draw, certificate
from annotation.core.i18n import translatable
from annotation.core.vocabulary import AuditedState, RecheckKind, RecheckState
from annotation.policies import Actor, require
from annotation.policies.label_audits import for_nobody

NO_AUDIT = translatable("no audit of the labels has begun")


@dataclass(frozen=True, slots=True)
class AuditProgress:
    """The trajectories that were drawn, each once: being read, to be decided, done; and of the waiting
    readings and cases those for which there is nobody."""

    drawn: int
    reading: int
    deciding: int
    done: int
    readings: int
    read: int
    no_reader: int
    no_adjudicator: int


@dataclass(frozen=True, slots=True)
class AuditReport:
    """An audit with its certificate. `trajectories` with `steps` are those it drew from; `corrected` are
    steps that it found wrong, `outcomes` outcomes; `proved`: the wished bound holds."""

    audit: m.LabelAudit
    certificate: Certificate
    trajectories: int
    steps: int
    corrected: int
    outcomes: int
    progress: AuditProgress

    @property
    def proved(self) -> bool:
        """Whether the bound that was wished for holds."""
        return self.certificate.proves(self.audit.wished)


def newest_audit(project: m.Project) -> m.LabelAudit | None:
    """The newest audit of a project, running or ended. One query."""
    return m.LabelAudit.objects.filter(project=project).select_related("begun_by").first()


def audit_report(*, viewer: Actor, audit: m.LabelAudit) -> AuditReport:
    """An audit, for those who may read releases, which hold its certificate. Seven queries and those of the
    permission."""
    require(viewer, "release.view", audit)
    listed = m.AuditedTrajectory.objects.filter(audit=audit).order_by()
    whole = listed.aggregate(
        n=Count("pk"),
        all_steps=Sum("steps"),
        heaviest=Max(F("steps") / Cast("chance", FloatField()), output_field=FloatField()),
        done_steps=Sum("steps", filter=Q(state=AuditedState.DONE)),
        corrected=Sum("wrong"),
        **{
            state.value: Count("pk", filter=Q(state=state))
            for state in (AuditedState.READING, AuditedState.DECIDING, AuditedState.DONE)
        },
    )
    steps = whole["all_steps"] or 0
    certified = certificate(
        _draws(audit),
        steps=steps,
        corrected=whole["corrected"] or 0,
        audited_steps=whole["done_steps"] or 0,
        heaviest=max(1.0, whole["heaviest"] / steps) if audit.mixed else 1.0,
    )
    outcomes = m.AuditRuling.objects.filter(
        audited__audit=audit, audited__state=AuditedState.DONE, step__isnull=True
    ).exclude(value=F("before"))
    return AuditReport(
        audit=audit,
        certificate=certified,
        trajectories=whole["n"],
        steps=steps,
        corrected=whole["corrected"] or 0,
        outcomes=outcomes.count(),
        progress=_progress(audit, whole),
    )


def _draws(audit: m.LabelAudit) -> list[Draw]:
    path = "audited__"
    rows = m.AuditDraw.objects.filter(audit=audit).order_by("number")
    columns = ("trajectory", "trajectory__subset__name", "origin", "chance", "steps", "wrong")
    return [
        Draw(trajectory, f"{subset}, {origin}", chance, steps, wrong)
        for trajectory, subset, origin, chance, steps, wrong in rows.values_list(
            *(path + name for name in columns)
        )
    ]


def _progress(audit: m.LabelAudit, whole: dict[str, Any]) -> AuditProgress:
    readings = m.Recheck.objects.filter(audited__audit=audit, kind=RecheckKind.AUDIT).aggregate(
        n=Count("pk"),
        done=Count("pk", filter=Q(state=RecheckState.DONE)),
        nobody=Count("pk", filter=Q(state=RecheckState.WAITING, annotator__isnull=True)),
    )
    return AuditProgress(
        drawn=whole["reading"] + whole["deciding"] + whole["done"],
        reading=whole["reading"],
        deciding=whole["deciding"],
        done=whole["done"],
        readings=readings["n"],
        read=readings["done"],
        no_reader=readings["nobody"],
        no_adjudicator=for_nobody(audit.project).filter(audit=audit).count(),
    )


def corrections(*, viewer: Actor, audit: m.LabelAudit) -> QuerySet[m.AuditRuling]:
    """Rulings by which an audit corrected labels, for admins. No query by itself."""
    require(viewer, "label_audit.change", audit)
    rows = m.AuditRuling.objects.filter(audited__audit=audit, audited__state=AuditedState.DONE)
    return (
        rows.exclude(value=F("before"))
        .select_related("audited__trajectory__subset", "step", "ruled_by")
        .order_by("audited", "step__ordinal")
    )


def certificate_json(report: AuditReport | None) -> dict[str, Any]:
    """A certificate, JSON-ready, numbers unrounded; without an audit null with a reason."""
    if report is None:
        return {"certificate": None, "reason": NO_AUDIT}
    audit = report.audit
    return {
        "certificate": {
            **report.certificate.as_json(),
            "wished": audit.wished,
            "proved": report.proved,
            "begun_at": audit.begun_at.isoformat(),
            "ended_at": audit.ended_at.isoformat() if audit.ended_at else None,
            "drawn_from": {"trajectories": report.trajectories, "steps": report.steps},
            "drawn_by": "steps and judges" if audit.mixed else "steps",
            "corrected": {"steps": report.corrected, "outcomes": report.outcomes},
        },
        "reason": "",
    }


def progress_json(report: AuditReport) -> dict[str, int]:
    """The progress of an audit, JSON-ready."""
    return asdict(report.progress)
