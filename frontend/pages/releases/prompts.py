"""Prompts that ask the questions of a release: made, listed, and read one by one."""

from __future__ import annotations

from typing import Any

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse, JsonResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods

from annotation import policies
from annotation.core.asking.history import cut_note
from annotation.core.asking.making import ANY, Mark, PromptLine
from annotation.core.asking.templates import LANGUAGES, PLACES, built_in_text, nearest
from annotation.core.errors import Conflict, Invalid
from annotation.core.kinds import Feature
from annotation.core.releases.exports.asked import AskedKind, NotAsked
from annotation.core.vocabulary import UNFINISHED_PROMPT_SETS, PromptSetState
from annotation.language import translated
from annotation.models import PromptSet, Release
from annotation.reports.releases.prompts import made_again
from annotation.services import asking as service
from annotation.services import suggest
from frontend.forms import add_errors
from frontend.forms.prompts import AskForm, PromptsForm
from frontend.pages.shared.common import ProjectPage, open_project
from frontend.rendering.tables import Column, Table, at, cells
from frontend.templatetags.judging import count
from frontend.templatetags.tristep import badge_kind, state_name

READ_VERB, MAKE_VERB, ASK_VERB = "release.view", "prompts.make", "suggest"
FILE = "prompts.jsonl"
KINDS = {
    AskedKind.CHOICE: gettext_lazy("One option"),
    AskedKind.KEYS: gettext_lazy("Several options"),
    AskedKind.COMMAND: gettext_lazy("A command"),
    AskedKind.ANSWER: gettext_lazy("A text"),
}
LANGUAGE_NAMES = {"en": gettext_lazy("English"), "zh": gettext_lazy("Chinese")}
NOT_ASKED = {
    NotAsked.NO_QUESTION: gettext_lazy("no questions"),
    NotAsked.NOT_FIT: gettext_lazy("not fit for use"),
    NotAsked.NO_KEY: gettext_lazy("without a right answer"),
    NotAsked.ONE_OPTION: gettext_lazy("with one option alone of which something can be said"),
    NotAsked.TOO_MANY_OPTIONS: gettext_lazy("with more options than there are letters"),
}
SHOWN = {
    "test": (gettext_lazy("For testing"), Mark.TEST),
    "cut": (gettext_lazy("With a cut history"), Mark.CUT),
    "all": (gettext_lazy("All"), ANY),
}


def _release(opened: ProjectPage, version: str) -> Release:
    rows = Release.objects.filter(project=opened.project).select_related("project", "withdrawal")
    release: Release = get_object_or_404(policies.visible(opened.user, rows), version=version)
    return release


def _sets(opened: ProjectPage, release: Release) -> Any:
    rows = PromptSet.objects.filter(release=release).select_related("created_by")
    return policies.visible(opened.user, rows)


def _trail(slug: str, version: str) -> list[tuple[str, str]]:
    return [
        (_("Release %(version)s") % {"version": version}, reverse("frontend:release", args=[slug, version]))
    ]


@require_http_methods(["GET", "POST"])
def prompts(request: HttpRequest, slug: str, version: str) -> HttpResponse:
    """The sets of prompts of a release, and the form for another. POST begins it, and leads to its page."""
    opened = open_project(request, slug, MAKE_VERB if request.method == "POST" else READ_VERB)
    release = _release(opened, version)
    opened.project.of_kind.require(Feature.PAIRS)
    rows = list(_sets(opened, release))
    form = PromptsForm(
        request.POST if request.method == "POST" else None,
        subsets=sorted(release.parsed_manifest()["subsets"]),
        initial={"name": f"prompts-{len(rows) + 1}"},
    )
    status = 200
    if request.method == "POST" and form.is_valid():
        try:
            row = service.make_prompts(
                actor=opened.user, release=release, name=form.cleaned_data["name"], options=form.asked()
            )
            return redirect("frontend:release-prompt-set", slug, version, row.name)
        except Invalid as error:
            add_errors(form, error)
        except Conflict as error:
            form.add_error("name" if error.code == "name_taken" else None, translated(error.message))
            status = 409
    if form.errors and status == 200:
        status = 400
    return opened.render(
        "releases/prompts.html",
        "releases",
        status=status,
        title=_("Prompts"),
        trail=_trail(slug, version),
        release=release,
        may_make=opened.may(MAKE_VERB) and not hasattr(release, "withdrawal"),
        form=form,
        texts_open=any(field.errors for field in form.texts),
        places=[f"{{{{{place}}}}}" for place in PLACES],
        built_in=[
            {
                "title": f"{KINDS[kind]} · {LANGUAGE_NAMES[language]}",
                "text": built_in_text(kind, language),
                "language": language,
            }
            for kind in AskedKind
            for language in LANGUAGES
        ],
        sets=Table(_columns(slug, version), rows, labelledby="sets") if rows else None,
    )


def _columns(slug: str, version: str) -> list[Column]:
    def name(row: PromptSet) -> str:
        state = cells.badge(state_name(row.state), badge_kind(row.state))
        link = cells.link(row.name, at("release-prompt-set", slug, version, row.name))
        return cells.beside(link, "" if row.state == PromptSetState.MADE else state)

    def counted(key: str) -> Any:
        return lambda row: (row.parsed_counts or {}).get(key)

    return [
        Column("name", _("Name"), cell=name, look="main"),
        Column("shots", _("Examples"), lambda row: row.parsed_settings.shots, look="number"),
        Column("test", _("For testing"), counted("test"), look="number"),
        Column("train", _("Others"), counted("train"), look="number"),
        Column("cut", _("Cut"), counted("cut"), look="number"),
        Column("too_long", _("Too long"), counted("too_long"), look="number"),
        Column(
            "made",
            _("Asked for"),
            "created_at",
            lambda row: cells.beside(cells.when(row.created_at), row.created_by or ""),
        ),
    ]


@require_http_methods(["GET", "POST"])
def prompt_set(request: HttpRequest, slug: str, version: str, name: str) -> HttpResponse:
    """One set: how far it is, or what it comes to and its prompts, one on a page. POST asks a judge
    those that are for testing, and leads to its run."""
    opened = open_project(request, slug, ASK_VERB if request.method == "POST" else READ_VERB)
    release = _release(opened, version)
    row = get_object_or_404(_sets(opened, release), name=name)
    row.release = release
    shown: dict[str, Any] = {}
    form = AskForm(request.POST if request.method == "POST" else None, project=opened.project)
    status = 400 if form.is_bound else 200
    if form.is_bound and form.is_valid():
        try:
            run = suggest.start_run(actor=opened.user, prompts=row, **form.cleaned_data)
            return redirect("frontend:run", slug, run.pk)
        except Invalid as error:
            add_errors(form, error)
        except Conflict as error:
            form.add_error(None, translated(error.message))
            status = 409
    if row.state == PromptSetState.MADE:
        shown = _made(opened, row)
    return opened.render(
        "releases/prompt_set.html",
        "releases",
        status=status,
        title=row.name,
        trail=[*_trail(slug, version), (_("Prompts"), at("release-prompts", slug, version))],
        release=release,
        row=row,
        file=FILE,
        ask=form if opened.may(ASK_VERB) else None,
        options=row.parsed_settings,
        running=row.state in UNFINISHED_PROMPT_SETS,
        **shown,
    )


def _made(opened: ProjectPage, row: PromptSet) -> dict[str, Any]:
    counts = row.parsed_counts or {}
    wanted = opened.request.GET.get("show", "test")
    wanted = wanted if wanted in SHOWN else "test"
    ordinals = made_again(row).marked.having(SHOWN[wanted][1])
    page = Paginator(ordinals, 1).get_page(opened.request.GET.get("page"))
    made: dict[str, Any] = {
        "counts": counts,
        "not_asked": [(NOT_ASKED[NotAsked(why)], count(n)) for why, n in counts["not_asked"].items()],
        "groups": Table(_group_columns(), counts["groups"], labelledby="groups"),
        "tabs": [(key, title, key == wanted) for key, (title, _mark) in SHOWN.items()],
        "page": page,
    }
    if not ordinals:
        return made
    try:
        preview = service.shown_prompt(
            actor=opened.user, row=row, number=page.number, wanted=SHOWN[wanted][1]
        )
    except Conflict as error:
        return made | {"sealed": translated(error.message)}
    assert preview is not None
    return made | {
        "line": preview.line,
        "kind": KINDS[preview.line.asked.kind],
        "tested": Mark.TEST in preview.line.mark,
        "parts": _parts(preview.line),
        "examples": [one.record_id for one in preview.examples],
    }


def _parts(line: PromptLine) -> tuple[str, str, str]:
    """The prompt, the mark where its history is cut, and what follows it."""
    assert line.prompt is not None
    if not line.prompt.cut:
        return line.prompt.text, "", ""
    mark = cut_note(nearest(line.asked.language), line.prompt.cut).strip()
    before, marked, after = line.prompt.text.rpartition(mark)
    return before, marked, after


def _group_columns() -> list[Column]:
    def of(key: str) -> Any:
        return lambda group: group[key]

    return [
        Column("subset", _("Subset"), of("subset"), look="main"),
        Column("kind", _("Asks for"), lambda group: KINDS[AskedKind(group["kind"])]),
        Column("language", _("Language"), lambda group: LANGUAGE_NAMES[group["language"]]),
        Column("test", _("For testing"), of("test"), look="number"),
        Column("train", _("Others"), of("train"), look="number"),
        Column("cut", _("Cut"), of("cut"), look="number"),
        Column("too_long", _("Too long"), of("too_long"), look="number"),
        Column("fewer_shots", _("With fewer examples"), of("fewer_shots"), look="number"),
    ]


@never_cache
@require_GET
def status(request: HttpRequest, slug: str, version: str, name: str) -> JsonResponse:
    """The progress of a set, as JSON for the script on its page."""
    opened = open_project(request, slug, READ_VERB)
    row = get_object_or_404(_sets(opened, _release(opened, version)), name=name)
    return JsonResponse(
        {
            "jobs": [
                {
                    "id": row.pk,
                    "state": row.state,
                    "title": state_name(row.state),
                    "done": row.progress_done,
                    "total": row.progress_total,
                    "finished": row.state not in UNFINISHED_PROMPT_SETS,
                }
            ]
        }
    )


@require_GET
def file(request: HttpRequest, slug: str, version: str, name: str) -> HttpResponseBase:
    """The prompts as JSON Lines, streamed."""
    opened = open_project(request, slug, READ_VERB)
    release = _release(opened, version)
    row = get_object_or_404(_sets(opened, release), name=name)
    row.release = release
    response = StreamingHttpResponse(
        service.prompt_lines(actor=opened.user, row=row), content_type="application/x-ndjson"
    )
    response["Content-Disposition"] = f'attachment; filename="{slug}-{version}-{name}.jsonl"'
    return response
