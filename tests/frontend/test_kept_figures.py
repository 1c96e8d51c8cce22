"""Figures of much work: kept, shown with their time, renewed in the background, and the same as others."""

from __future__ import annotations

import re
from datetime import UTC, timedelta

import pytest
from django.utils import timezone

from annotation import dispatch
from annotation.models import KeptFigures, Membership
from annotation.services import kept_figures
from annotation.services.kept_figures import keep
from tests import people
from tests.frontend.every_page import fill

AS_OF = re.compile(r"<p>\s*Figures as of [^.<]+\.\s*</p>")
SECRETS = re.compile(r'(name="csrfmiddlewaretoken" value|nonce)="[^"]+"')


@pytest.fixture
def large(monkeypatch):
    """A single submission is much work."""
    monkeypatch.setattr(keep, "LARGE", 0)


def _said(answer) -> str:
    assert answer.status_code == 200
    return " ".join(SECRETS.sub("", answer.content.decode()).split())


def test_pages_of_kept_figures_say_the_same_as_pages_of_now(cast, browse, at, judge_urls, monkeypatch):
    fill(cast, 1)
    pages = [
        (who, at(name, cast.project.slug, *rest))
        for who, name, *rest in (
            ("admin", "board"),
            ("admin", "hours"),
            ("ann", "hours"),
            ("admin", "influence"),
            ("admin", "annotator-figures", cast.ann.pk),
            ("ann", "annotator-figures", cast.ann.pk),
            ("admin", "release-freeze"),
            ("admin", "look-again"),
        )
    ]
    now = [_said(browse(who).get(address)) for who, address in pages]
    assert not KeptFigures.objects.exists()

    monkeypatch.setattr(keep, "LARGE", 0)
    first = [_said(browse(who).get(address)) for who, address in pages]
    kept = set(KeptFigures.objects.values_list("report", flat=True))
    assert kept == set(keep.reports)
    again = [_said(browse(who).get(address)) for who, address in pages]

    for pages_then in (first, again):
        assert [AS_OF.sub("", page).split() for page in pages_then] == [page.split() for page in now]
        assert all(AS_OF.search(page) for page in pages_then)


def test_old_figures_are_shown_while_a_worker_makes_newer_ones(cast, large, monkeypatch):
    sent = []
    monkeypatch.setattr(dispatch, "send", lambda *job: sent.append(job))
    people.import_records(cast.project, 3)
    people.label_next(cast.ann, cast.project)

    def board() -> kept_figures.Kept:
        return kept_figures.board(actor=cast.admin, project=cast.project, zone=UTC)

    def submitted(kept) -> int:
        return sum(one.all.submitted for one in kept.figures.people)

    first = board()
    people.label_next(cast.ann, cast.project)
    fresh = board()
    assert (submitted(first), submitted(fresh), fresh.renewing, sent) == (1, 1, False, [])
    assert fresh.figures == first.figures and fresh.as_of == first.as_of

    old = timezone.now() - keep.FRESH - timedelta(seconds=1)
    KeptFigures.objects.update(as_of=old)
    row = KeptFigures.objects.get()
    assert not kept_figures.renew(row_id=row.pk)  # nobody has asked
    stale, asked_again = board(), board()
    assert (submitted(stale), stale.as_of, stale.renewing, asked_again.renewing) == (1, old, True, True)
    assert sent == [("renew_figures", row.pk)]

    assert kept_figures.renew(row_id=row.pk)
    assert not kept_figures.renew(row_id=row.pk)  # delivered twice
    newer = board()
    assert (submitted(newer), newer.renewing) == (2, False) and newer.as_of > old

    KeptFigures.objects.update(figures="{}")  # as an older version wrote them
    assert submitted(board()) == 2
    KeptFigures.objects.update(as_of=timezone.now() - keep.FORGOTTEN - timedelta(days=1))
    assert kept_figures.sweep() == 1


def test_kept_figures_are_for_the_eyes_that_might_see_them(cast, browse, at, large):
    people.import_records(cast.project, 3)
    people.make_unanimous(cast)
    for who in ("admin", "ann"):
        for name in ("board", "hours", "influence", "release-freeze", "look-again"):
            browse(who).get(at(name, "bench"))
        browse(who).get(at("annotator-figures", "bench", cast.ann.pk))

    for who in ("ann", "judith"):
        for name in ("board", "influence", "release-freeze", "look-again"):
            assert browse(who).get(at(name, "bench")).status_code == 403
    assert "Ben" not in _said(browse("ann").get(at("hours", "bench")))
    assert browse("ben").get(at("annotator-figures", "bench", cast.ann.pk)).status_code == 404

    # whoever is an admin no more gets nothing that was kept for them, now or later
    Membership.objects.filter(user=cast.admin).update(is_admin=False, is_annotator=True)
    assert browse("admin").get(at("board", "bench")).status_code == 403
    KeptFigures.objects.update(as_of=timezone.now() - timedelta(hours=1), renewal_asked_at=timezone.now())
    row = KeptFigures.objects.get(report="board")
    assert not kept_figures.renew(row_id=row.pk) and not KeptFigures.objects.filter(pk=row.pk).exists()
