"""Remarks to admins: written on the workbench, read by admins and their author alone, answered once."""

from __future__ import annotations

import pytest

from annotation.core.errors import Denied, Invalid, StaleState
from annotation.core.vocabulary import ExposureKind
from annotation.models import AdminRemark, Exposure, Notice
from annotation.services import assign, remarks
from tests import people

TEXT = "Is the narwhal\nright here?"


@pytest.fixture
def mine(cast):
    """Ann's open assignment; ben has the same trajectory."""
    people.import_records(cast.project, [people.make_record(steps=2)])
    assignment = people.claim(cast.ann, cast.project)
    people.claim(cast.ben, cast.project)
    return assignment


@pytest.fixture
def row(cast, mine):
    return remarks.remark(actor=cast.ann, assignment=mine, text=TEXT, message_index=4)


def told(user):
    return list(Notice.objects.filter(user=user).values_list("kind", flat=True))


def test_remark_is_written_on_the_workbench_and_its_answer_comes_back_as_a_notice(
    cast, browse, mine, at, text
):
    ann, admin = browse("ann"), browse("admin")
    sent = ann.post(at("remark-write", mine.pk), {"text": TEXT, "message_index": "4"})
    assert sent.url == f"{at('workbench', mine.pk)}?at=4#m4"
    page = text(ann.get(at("workbench", mine.pk)))
    assert "narwhal" in page
    assert "Waiting for an admin" in page
    row = AdminRemark.objects.get()
    assert told(cast.admin) == ["remark"]
    assert at("remark", row.pk) in text(admin.get(at("remarks", "bench")))
    notice = Notice.objects.get(user=cast.admin)
    assert admin.get(at("notice", notice.pk)).url == at("remark", row.pk)
    assert "narwhal" in text(admin.get(at("remark", row.pk)))
    assert admin.post(at("remark", row.pk), {"answer": "It is <b>."}).url == at("remarks", "bench")
    assert "No remarks" in text(admin.get(at("remarks", "bench"))) or "Nothing matches" in text(
        admin.get(at("remarks", "bench"))
    )
    assert told(cast.ann) == ["answered"]
    notice = Notice.objects.get(user=cast.ann)
    assert ann.get(at("notice", notice.pk)).url == at("workbench", mine.pk)
    assert "It is &lt;b&gt;." in text(ann.get(at("workbench", mine.pk)))


@pytest.mark.parametrize("who", ["ben", "cleo", "judith", "oscar"])
def test_remark_is_read_by_admins_and_its_author_alone(cast, browse, row, at, text, who):
    client = browse(who)
    assert client.get(at("remark", row.pk)).status_code in (403, 404)
    assert client.get(at("remarks", "bench")).status_code in (403, 404)
    if who == "ben":
        theirs = cast.ben.assignments.get()
        assert "narwhal" not in text(client.get(at("workbench", theirs.pk)))
    assert told(cast.everybody[who]) == []


def test_remark_that_an_admin_reads_is_noted_like_a_label(cast, browse, row, at):
    browse("admin").get(at("remarks", "bench"))
    seen = Exposure.objects.filter(user=cast.admin, kind=ExposureKind.LABEL)
    assert list(seen.values_list("trajectory", flat=True)) == [row.assignment.trajectory_id]


def test_remark_waits_for_an_admin_who_could_still_label_its_trajectory(cast, browse, at, text):
    people.make_member(cast.project, cast.admin, "admin", "annotator")
    people.import_records(cast.project, [people.make_record(steps=2)])
    mine = people.claim(cast.ann, cast.project)
    row = remarks.remark(actor=cast.ann, assignment=mine, text=TEXT)
    admin = browse("admin")
    for page in (at("remarks", "bench"), at("notices")):
        assert "narwhal" not in text(admin.get(page))
    assert admin.get(at("remark", row.pk)).status_code == 404
    assert not Exposure.objects.exists()
    # who gives up the claim reads it
    admin.post(at("trajectory", "bench", mine.trajectory_id))
    assert "narwhal" in text(admin.get(at("remark", row.pk)))


def test_remark_is_closed_once_and_an_empty_answer_is_not_told(cast, row):
    remarks.close_remark(actor=cast.admin, row=row, answer="  ")
    with pytest.raises(StaleState):
        remarks.close_remark(actor=cast.admin, row=row, answer="Yes.")
    assert told(cast.ann) == []
    with pytest.raises(Denied):
        remarks.close_remark(actor=cast.judith, row=row)


def test_remark_is_refused_on_what_is_not_in_hand_is_no_step_or_says_nothing(cast, mine):
    with pytest.raises(Denied):
        remarks.remark(actor=cast.ben, assignment=mine, text=TEXT)
    for text, index in ((" ", 4), (TEXT, 3), ("x" * 20_001, 4)):
        with pytest.raises(Invalid):
            remarks.remark(actor=cast.ann, assignment=mine, text=text, message_index=index)
    assign.return_assignment(actor=cast.ann, assignment=mine, reason="I know it.")
    mine.refresh_from_db()
    with pytest.raises(StaleState):
        remarks.remark(actor=cast.ann, assignment=mine, text=TEXT)
