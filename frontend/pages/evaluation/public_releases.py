"""The public address of a release: what everybody may read, signed in or not, while an admin has it switched
on.

It shows what the release itself says and nothing else of its project. A release that is not public and one
that does not exist are answered alike."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from typing import Any

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils.cache import get_conditional_response, patch_vary_headers
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe
from rest_framework.throttling import SimpleRateThrottle

from annotation import policies
from annotation.core.errors import TooMany
from annotation.core.figures.measure import MIN_TASKS, Measure
from annotation.core.i18n import translatable
from annotation.core.releases.record_format import file_name
from annotation.core.scoring.scores import too_few_tasks
from annotation.language import translated
from annotation.models import Release
from annotation.reports.evaluation.leaderboard import Leaderboard, LeaderboardRow
from annotation.reports.evaluation.leaderboard_entries import title_of
from annotation.reports.evaluation.public_releases import public_leaderboard, public_rows
from annotation.services import release as service
from frontend.context import theme_of
from frontend.pages.evaluation.question_parts import letters_of
from frontend.pages.releases.release_files import files_table
from frontend.pages.releases.release_pictures import distribution, pictures
from frontend.pages.releases.releases import ARCHIVE, CONTENT_TYPES, agreement
from frontend.pages.shared.figure_cells import figure_column
from frontend.rendering.tables import Column, Table, cells
from frontend.templatetags.tristep import readable

ROBOTS = "User-agent: *\nAllow: /public/\nAllow: /static/\nDisallow: /\n"
LOADING = """\
import json, urllib.request

BASE = "{base}"
records = []
for name in {names}:
    with urllib.request.urlopen(BASE + name) as lines:
        records += map(json.loads, lines)
print(len(records), records[0]["step_labels"])
"""


class Readers(SimpleRateThrottle):
    """The rate at which one address may read public pages."""

    scope = "public"

    def get_cache_key(self, request: Any, view: Any) -> str:
        """By address: nobody needs to be signed in."""
        return str(self.cache_format % {"scope": self.scope, "ident": self.get_ident(request)})


class Downloads(Readers):
    """The rate at which one address may fetch whole files."""

    scope = "public_files"


def _released(request: HttpRequest, throttle: type[Readers], slug: str, version: str) -> Release:
    limit = throttle()
    if not limit.allow_request(request, None):  # type: ignore[arg-type]
        sentence = translatable("Too many requests came from your address. Try again in a minute.")
        raise TooMany(sentence, seconds=int(limit.wait() or 60) + 1)
    if "\x00" in version:
        raise Http404
    rows = Release.objects.select_related("project", "withdrawal", "public_release")
    return get_object_or_404(policies.published(rows), project__slug=slug, version=version)


def _answer(
    request: HttpRequest, row: Release, tag: str, make: Callable[[], HttpResponseBase], *, shared: bool
) -> HttpResponseBase:
    """The answer of `make`, or that it has not changed. Whoever keeps it asks each time whether it still may
    be read: the address can be switched off."""
    etag = f'"{hashlib.sha256(f"{row.digest} {tag}".encode()).hexdigest()[:32]}"'
    answer = get_conditional_response(request, etag=etag) or make()
    answer.headers["ETag"] = etag
    answer.headers["Cache-Control"] = "public, no-cache" if shared else "private, no-cache"
    if not row.public_release.may_be_indexed:
        answer.headers["X-Robots-Tag"] = "noindex, nofollow"
    return answer


@require_safe
def robots(request: HttpRequest) -> HttpResponse:
    """Search engines look at public releases only, and list those that say so in their headers."""
    return HttpResponse(ROBOTS, content_type="text/plain; charset=utf-8")


@require_safe
def release(request: HttpRequest, slug: str, version: str) -> HttpResponseBase:
    """The release as everybody reads it: figures, pictures, files, how to load them, and the leaderboard."""
    row = _released(request, Readers, slug, version)
    board = public_leaderboard(row)
    manifest = row.parsed_manifest()
    withdrawal = getattr(row, "withdrawal", None)
    known = (
        *(row.pk, row.public_release.changed_at, withdrawal and withdrawal.pk, settings.TRISTEP_VERSION),
        *(get_language(), theme_of(request)),
        *((one.row.pk, one.row.updated_at) for one in (board.models if board else ()) if one.row),
        # what is fitted comes later than the predictions that it is fitted on
        *(row.name for row in (public_rows(board) if board else ())),
    )
    place = reverse("frontend:public-release", args=[slug, row.version])
    base = request.build_absolute_uri(f"{place}files/")

    def page() -> HttpResponse:
        few_tasks = too_few_tasks(row.overall.scores for row in (public_rows(board) if board else ()))
        context = {
            "release": row,
            "manifest": manifest,
            "withdrawal": withdrawal,
            "signature": service.check_release(row),
            "labels": distribution(manifest["label_distribution"]),
            "outcomes": distribution(manifest["outcome_distribution"]),
            "files": files_table(manifest, lambda name: f"{base}{name}"),
            "documents": list(service.documents(row)),
            "archive": ARCHIVE,
            "base": base,
            "loading": LOADING.format(base=base, names=json.dumps(sorted(manifest["files"]))),
            "agreement": agreement(manifest),
            "board": None if board is None else _board(board, ranked=not few_tasks),
            "positions": None if board is None else board.positions,
            "letters": letters_of(board.positions) if board and board.positions else [],
            "few_tasks": few_tasks,
            "least_tasks": MIN_TASKS,
            **pictures(service.public_statistics(row), row.project.of_kind),
        }
        return render(request, "frontend/evaluation/public_release.html", context)

    if request.user.is_authenticated:
        return page()  # with what is new to them in the bar: this moment's
    answer = _answer(request, row, repr(known), page, shared=False)
    patch_vary_headers(answer, ("Cookie", "Accept-Language"))
    return answer


def _board(board: Leaderboard, *, ranked: bool) -> Table:
    def model(row: LeaderboardRow) -> str:
        baseline = row in board.baselines
        badge = cells.badge(_("baseline"), "badge--outline") if baseline else ""
        name = row.name if row.row is not None else translated(title_of(row.name))
        only = ""
        if not row.all_subsets:
            only = cells.soft(_("only %(names)s; not ranked") % {"names": ", ".join(row.subsets)})
        return cells.lines(cells.beside(readable(name), badge), only)

    def rank(row: LeaderboardRow) -> str | None:
        rank = row.overall.ranks.get(board.scheme.main)
        return rank.together_in_words if rank else None

    def column(name: str) -> Column:
        def measure(row: LeaderboardRow) -> Measure:
            return row.overall.scores.figures[name]

        figure = board.figures[name]
        return figure_column(name, translated(figure.title), measure, is_share=figure.percent)

    columns = [
        Column("model", _("Model"), cell=model, look="main"),
        *(column(name) for name in board.scheme.listed if name in board.figures),
    ]
    if ranked:
        columns.append(Column("rank", _("Rank"), cell=rank, look="number nowrap"))
    return Table(columns, public_rows(board), labelledby="leaderboard")


@require_safe
def file(request: HttpRequest, slug: str, version: str, name: str) -> HttpResponseBase:
    """One file of the release, or all of them as a ZIP file. Whoever is signed in has seen its labels
    then."""
    row = _released(request, Downloads, slug, version)
    documents = service.documents(row)
    make: Callable[[], HttpResponseBase]
    if name == ARCHIVE:
        whole = service.public_zip(viewer=request.user, release=row)
        make = lambda: StreamingHttpResponse(whole, content_type="application/zip")  # noqa: E731
    elif name in documents:
        make = lambda: HttpResponse(documents[name], content_type=CONTENT_TYPES[name])  # noqa: E731
    elif name in {file_name(subset) for subset in row.parsed_manifest()["subsets"]}:
        lines = service.public_lines(viewer=request.user, release=row, subset=name.removesuffix(".jsonl"))
        make = lambda: StreamingHttpResponse(_bytes(lines), content_type="application/x-ndjson")  # noqa: E731
    else:
        raise Http404
    answer = _answer(request, row, name, make, shared=True)
    whole_name = f"{slug}-{row.version}.zip" if name == ARCHIVE else name
    answer.headers["Content-Disposition"] = f'attachment; filename="{whole_name}"'
    return answer


def _bytes(lines: Iterator[tuple[str, bytes]]) -> Iterator[bytes]:
    for _subset, line in lines:
        yield line
