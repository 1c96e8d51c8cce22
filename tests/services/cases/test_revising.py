"""Changes of mind after discussion, and what is left of a discussion once its case is resolved."""

from __future__ import annotations

from typing import Any

import pytest

from annotation.core.errors import Conflict, Denied, Invalid, StaleVersion, TristepError
from annotation.core.vocabulary import NoticeKind
from annotation.models import (
    Adjudication,
    Discussion,
    Exposure,
    Label,
    Revision,
)
from annotation.services import adjudicate, assign, discuss, release
from tests import people
from tests.people import Cast
from tests.services.talking import read, revise, say, told

MEGABYTE = "x" * (1 << 20)


# ── Changes of mind ───────────────────────
def test_revision_stands_beside_the_label_and_the_newest_counts(cast: Cast, talk: Discussion) -> None:
    before = list(Label.objects.order_by("pk").values())
    revise(cast.ann, talk, 4, 0)
    revise(cast.ann, talk, 4, -1, version=1, note="No: it is wrong.")

    assert list(Label.objects.order_by("pk").values()) == before
    assert list(Revision.objects.values_list("previous", "value")) == [(1, 0), (0, -1)]
    thread = read(cast.ben, talk).threads[1]
    assert set(thread.now.values()) == {-1}
    assert not thread.disputed_now and thread.item.disputed
    assert [change.note for change in thread.changes] == ["The result says so.", "No: it is wrong."]
    assert (thread.version, read(cast.ann, talk).threads[1].version) == (0, 2)
    assert told(cast.ben)[-1] == NoticeKind.REVISION


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ({"value": 2}, Invalid),
        ({"value": True}, Invalid),
        ({"value": 1}, Invalid),
        ({"note": " "}, Invalid),
        ({"note": MEGABYTE}, Invalid),
        ({"version": 1}, StaleVersion),
        ({"value": -1, "root": 6}, Invalid),
        ({"value": -1, "root": 3}, Invalid),
        ({"value": 0, "root": 4}, Invalid),
        ({"value": -1, "reason": "recovery"}, Invalid),
        ({"value": -1, "reason": "because"}, Invalid),
    ],
)
def test_revision_that_cannot_be_is_refused_whole(
    cast: Cast, talk: Discussion, given: dict[str, Any], error: type[TristepError]
) -> None:
    with pytest.raises(error):
        revise(cast.ann, talk, 4, **{"value": 0, **given})
    assert not Revision.objects.exists()


def test_revision_is_for_those_who_labelled_it(cast: Cast, talk: Discussion) -> None:
    for who in (cast.judith, cast.admin):
        with pytest.raises(Denied):
            revise(who, talk, 4, 0)


def test_root_and_reason_of_an_error_are_corrected_by_a_revision(cast: Cast, talk: Discussion) -> None:
    made = revise(cast.ben, talk, 6, -1, root=6, reason="fabrication")

    assert (made.previous, made.value, made.root.message_index, made.reason) == (-1, -1, 6, "fabrication")  # type: ignore[union-attr]
    with pytest.raises(Invalid) as same:
        revise(cast.ben, talk, 6, -1, version=1, root=6, reason="fabrication")
    assert same.value.code == "unchanged"


def test_revision_to_the_same_label_without_its_reason_is_none(cast: Cast, talk: Discussion) -> None:
    """Forms ask for the reason of an error alone; that of another label stays."""
    Label.objects.filter(assignment__annotator=cast.ann, step__message_index=4).update(reason="recovery")
    with pytest.raises(Invalid) as same:
        revise(cast.ann, talk, 4, 1)
    assert same.value.code == "unchanged"
    assert not Revision.objects.exists()
    revise(cast.ann, talk, 4, 1, reason="cross_check")
    assert Revision.objects.get().reason == "cross_check"


# ── The end of it ─────────────────────────
def _close(cast: Cast, disputed_case: Adjudication) -> None:
    for at in (4, None):
        adjudicate.decide(actor=cast.judith, adjudication=disputed_case, message_index=at, value=-1)
    adjudicate.close_case(actor=cast.judith, adjudication=disputed_case)


def test_discussion_of_a_resolved_case_is_read_and_not_gone_on_with(
    cast: Cast, disputed_case: Adjudication, talk: Discussion
) -> None:
    said = say(cast.ann, talk)
    _close(cast, disputed_case)

    seen = read(cast.ann, talk)
    assert (seen.open, seen.frozen) == (False, None)
    assert [item.consensus for item in (*seen.shown.steps, seen.shown.outcome)] == [1, -1, -1, -1]
    assert set(Exposure.objects.filter(user=cast.ann).values_list("kind", flat=True)) == {
        "label",
        "consensus",
    }
    deeds = (
        lambda: say(cast.ann, talk),
        lambda: revise(cast.ann, talk, 4, 0),
        lambda: discuss.retract(actor=cast.ann, comment=said),
    )
    for deed in deeds:
        with pytest.raises(Conflict) as closed:
            deed()
        assert closed.value.code == "case_closed"
    made = release.freeze(actor=cast.admin, project=cast.project, version="1.0")
    for deed in deeds:
        with pytest.raises(Conflict, match=r"Release 1\.0 holds this trajectory") as frozen:
            deed()
        assert frozen.value.code == "frozen"
    assert read(cast.ann, talk).frozen == made
    assert told(cast.ann)[-1] == NoticeKind.RESOLVED


def test_who_reads_a_discussion_may_still_claim_what_is_blind_to_them(cast: Cast, talk: Discussion) -> None:
    read(cast.ann, talk)
    more = people.import_records(cast.project, [people.make_record(0, 1, steps=3)], subset="more")
    assert assign.claim_this(actor=cast.ann, trajectory=more[0]).annotator == cast.ann
