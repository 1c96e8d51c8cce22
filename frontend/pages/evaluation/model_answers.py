"""Answers of a model to the questions of a release, beside the keys, by verdict."""

from __future__ import annotations

from typing import Any, cast

from django.http.response import HttpResponseBase
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.core.errors import Invalid
from annotation.core.i18n import translatable
from annotation.core.text import escape
from annotation.models import PredictionSet
from annotation.reports.evaluation import answered_questions as report
from annotation.services import noted_reads
from frontend.pages.evaluation.question_parts import VERDICT_BADGES, VERDICT_TITLES
from frontend.pages.shared.common import ProjectPage, release_trail
from frontend.pages.shared.list_page import Empty, Filter, ListPage, show
from frontend.rendering.identity import short_identity
from frontend.rendering.tables import Column, at, cells
from frontend.templatetags.judging import count

SHOWN = 160
"""So many characters of an output and of a key stand in the list; the record has all of them."""


def short(text: str) -> str:
    """A text as a list shows it: its beginning, in a line."""
    text = " ".join(text.split())
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}…"


def keys_of(one: report.AnsweredQuestion) -> list[str]:
    """The keys, those of a choice with their letters."""
    return [f"{letter}) {text}" if letter else text for letter, text in one.keys]


def _columns(slug: str, row: PredictionSet) -> list[Column]:
    def name(one: report.AnsweredQuestion) -> str:
        address = at("release-predicted", slug, row.release.version, row.pk, one.ordinal)
        return cells.link(short_identity(escape(one.uuid)), address)

    def verdict(one: report.AnsweredQuestion) -> str:
        badge = cells.badge(VERDICT_TITLES[one.verdict], VERDICT_BADGES[one.verdict])
        differs = one.published != (one.verdict == "right")
        published = _("published: right") if one.published else _("published: not right")
        return cells.lines(badge, cells.soft(published)) if differs else badge

    def output(one: report.AnsweredQuestion) -> str:
        if one.output is None:
            text = _("labels: %(letters)s") % {"letters": one.read} if one.read else _("no answer")
            return cells.soft(text)
        if not one.output.strip():
            return cells.soft(_("empty"))
        return cells.passage(short(one.output))

    return [
        Column("uuid", _("Question"), lambda one: escape(one.uuid), name, "main"),
        Column("record_id", value=lambda one: escape(one.record_id)),
        Column("subset", _("Subset"), look="slug"),
        Column("verdict", _("Verdict"), cell=verdict),
        Column("published"),
        Column("output", _("Output"), cell=output),
        Column("read"),
        Column(
            "key",
            _("Key"),
            lambda one: "\n".join(keys_of(one)),
            lambda one: cells.passage("\n".join(map(short, keys_of(one)))),
        ),
    ]


def answered(opened: ProjectPage, row: PredictionSet) -> HttpResponseBase:
    """The list of a model's answers."""
    release = row.release

    def rows(filters: dict[str, str]) -> list[report.AnsweredQuestion]:
        verdict = filters["verdict"]
        if verdict and verdict not in VERDICT_TITLES:
            sentence = "“{value}” is no value of the filter “{name}”."
            raise Invalid(translatable(sentence, value=verdict[:40], name="verdict"), code="unknown_filter")
        return report.answered_questions(
            actor=opened.user, row=row, verdict=verdict, subset=filters["subset"]
        )

    subsets = release.parsed_manifest()["subsets"]
    listed = ListPage(
        opened.request,
        _columns(opened.project.slug, row),
        rows,
        Empty(_("No such question"), _("The model has no answer with this verdict.")),
        filters=[
            Filter("verdict", _("Verdict"), VERDICT_TITLES.items()),
            Filter("subset", _("Subset"), [(name, name) for name in subsets]),
        ],
        items=lambda page: noted_reads.model_answers(actor=opened.user, row=row, rows=page),
        file="answers",
    )
    n = len(cast(Any, listed.page.paginator.object_list))
    about = ngettext("%(n)s question", "%(n)s questions", n) % {"n": count(n)}
    trail = release_trail(opened.project.slug, release.version, row)
    return show(opened, "releases", listed, title=_("Answers of the model"), trail=trail, about=about)
