"""Label quality: what an audit proves of the labels, and what people say twice."""

from __future__ import annotations

from dataclasses import replace
from operator import attrgetter, itemgetter
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from annotation.core.scoring.figures import FIGURES
from annotation.core.vocabulary import SIGNS, VALUES
from annotation.language import translated
from annotation.models import AuditRuling
from annotation.reports.quality import label_audit
from annotation.reports.quality import label_quality as report
from annotation.reports.quality.audit_planning import AuditPlan, plan
from annotation.services import noted_reads
from frontend.forms.label_audits import BeginForm, MoreForm, WishedForm
from frontend.pages.shared.columns import record_column
from frontend.pages.shared.common import ProjectPage, open_project
from frontend.pages.shared.figure_cells import figure_column
from frontend.rendering.step_names import step_title
from frontend.rendering.tables import Column, Table, at
from frontend.templatetags.tristep import origin_name

CORRECTIONS_SHOWN = 100


def _person(one: report.PersonsConfusion) -> dict[str, Any]:
    rows = [
        {"value": value, "rates": [(rate, value == label) for label, rate in zip(VALUES, row, strict=True)]}
        for value, row in zip(VALUES, one.rates, strict=False)
    ]
    return {"name": one.name, "n": one.n, "reason": one.reason, "rows": rows}


def _strata(audited: label_audit.AuditReport) -> Table:
    """Draws by stratum: what does not come back from one of them is seen here."""
    columns = [
        Column("subset", _("Subset"), lambda row: row[0].rpartition(", ")[0]),
        Column("origin", _("Consensus"), lambda row: origin_name(row[0].rpartition(", ")[2])),
        Column("drawn", _("Drawn"), lambda row: row[1].drawn, look="number"),
        Column("back", _("Came back"), lambda row: row[1].back, look="number"),
        Column("missing", _("Not yet"), lambda row: row[1].missing, look="number"),
    ]
    rows = list(audited.certificate.strata.items())
    foot = [_("A draw that has not come back counts as wholly wrong.")]
    return Table(columns, rows, labelledby="strata", title=_("Draws by stratum"), foot=foot)


def _readers(quality: report.LabelQuality) -> Table:
    """The human ceiling: readers had no part in the consensus that they are held against."""
    columns = [
        Column("figure", _("Figure"), lambda row: translated(FIGURES[row[0]].title)),
        figure_column("value", _("Readers"), itemgetter(1), is_share=True, why=True),
        Column("n", _("of"), lambda row: row[1].n, look="number"),
    ]
    foot = [
        _(
            "What people earn against a consensus that they had no part in: each reading beside the "
            "consensus as it stands, over the trajectories that came back, each in proportion to its chance."
        )
    ]
    rows = list(quality.readers.items())
    return Table(columns, rows, labelledby="readers", title=_("Readers against the consensus"), foot=foot)


def _corrections(opened: ProjectPage, audited: label_audit.AuditReport) -> Table:
    def record(row: AuditRuling) -> str:
        return at("trajectory", opened.project.slug, row.audited.trajectory_id)

    kind = opened.project.of_kind

    def step(row: AuditRuling) -> str:
        return _("Outcome") if row.step is None else step_title(row.step.ordinal + 1, kind)

    columns = [
        record_column(record, "audited.trajectory"),
        Column("step", translated(kind.names.one), step),
        Column("before", _("Before"), cell=lambda row: SIGNS[row.before]),
        Column("value", _("Corrected"), cell=lambda row: SIGNS[row.value]),
        Column("note", _("Why")),
        Column("ruled_at", _("Time")),
    ]
    rows = noted_reads.corrections(actor=opened.user, audit=audited.audit, most=CORRECTIONS_SHOWN)
    return Table(columns, rows, labelledby="corrections", title=_("Corrections"))


def _retests(opened: ProjectPage, quality: report.LabelQuality) -> Table:
    columns = [
        Column("annotator", _("Annotator"), lambda one: one.name or _("all annotators")),
        Column("steps", translated(opened.project.of_kind.names.many), "agreement.n", look="number"),
        figure_column("agreement", _("Agreement"), attrgetter("agreement"), is_share=True),
        figure_column("kappa", _("Cohen’s κ"), attrgetter("kappa"), is_share=False),
    ]
    everybody, *each = quality.retests
    others = replace(quality.between, name=_("with one another"))
    asked = _("%(share)s %% are asked for again: %(done)s of %(drawn)s are labelled.") % {
        "share": opened.project.retest_percent,
        "done": quality.retest.done,
        "drawn": quality.retest.drawn,
    }
    foot = [asked, _("Nobody can be expected to agree with others more than with themselves.")]
    title = _("Labelled twice by the same annotator")
    return Table(columns, [everybody, others, *each], labelledby="retests", title=title, foot=foot)


@require_GET
def label_quality(request: HttpRequest, slug: str) -> HttpResponse:
    """The page of the certificate: how to begin an audit, how far it is, and what it proves; retests;
    people."""
    opened = open_project(request, slug, "rechecks.view")
    wished = WishedForm(request.GET) if "wished" in request.GET else WishedForm()
    planned = None
    if wished.is_bound and wished.is_valid():
        share, mixed = wished.cleaned_data["wished"] / 100, wished.cleaned_data["mixed"]
        planned = plan(viewer=opened.user, project=opened.project, wished=share, mixed=mixed)
    asked = {name: request.GET.get(name) for name in wished.fields}
    begin = BeginForm(initial={**asked, "draws": planned and planned.draws})
    return page(opened, wished=wished, planned=planned, begin=begin)


def page(
    opened: ProjectPage,
    *,
    wished: WishedForm | None = None,
    planned: AuditPlan | None = None,
    begin: BeginForm | None = None,
    more: MoreForm | None = None,
    status: int = 200,
) -> HttpResponse:
    """The page, with a form that was refused in its place."""
    quality = report.label_quality(viewer=opened.user, project=opened.project)
    audited = quality.audit
    corrections = _corrections(opened, audited) if audited is not None else None
    return opened.render(
        "quality/label_quality.html",
        "label-quality",
        status=status,
        report=quality,
        audit=audited,
        running=audited is not None and audited.audit.ended_at is None,
        wished=wished or WishedForm(),
        planned=planned,
        begin=begin or BeginForm(),
        more=more or MoreForm(),
        strata=_strata(audited) if audited is not None else None,
        corrections=corrections,
        readers=_readers(quality) if audited is not None else None,
        retests=_retests(opened, quality),
        people=[_person(person) for person in quality.people],
        values=VALUES,
        retested=quality.retests[0].agreement.n,
    )
