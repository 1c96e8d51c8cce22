"""The search of a project: what it finds, for whom, and that what it shows is noted."""

from __future__ import annotations

import re

import pytest

from annotation.core.vocabulary import ExposureKind
from annotation.models import Exposure
from annotation.services import adjudicate, discuss
from tests import people


@pytest.fixture
def find(browse, at, text):
    """The kinds and addresses of what somebody finds."""

    def found(who: str, words: str, kind: str = "") -> list[tuple[str, str]]:
        page = text(browse(who).get(at("search", "bench"), {"q": words, "kind": kind}))
        rows = re.findall(r"<tr>\s*<th.*?</tr>", page, re.DOTALL)[1:] if "<mark>" in page else []
        return [
            (
                re.search(r'data-label="Found in">\s*<div>(.*?)</div>', row, re.DOTALL)[1].strip(),
                re.search(r'href="([^"]+)"', row)[1].replace("&amp;", "&"),
            )
            for row in rows
        ]

    return found


@pytest.fixture
def dispute(cast):
    """Labelled by ann and by ben, differently and each with a note; judith has not taken it."""
    row = people.import_records(cast.project, [people.make_record(steps=2)])[0]
    mine = people.label_next(cast.ann, cast.project, 1, note="A Narwhal, I think")
    theirs = people.label_next(cast.ben, cast.project, -1, outcome=-1, note="no narwhal")
    return row, mine, theirs


def test_search_finds_words_of_trajectories_whatever_their_case_and_leads_to_the_message(
    cast, find, dispute, browse, at, text
):
    row, mine, _theirs = dispute
    assert find("ann", "looking,   TIME") == [
        ("Text", f"/assignments/{mine.pk}/?at=2&words=looking%2C%20%20%20TIME#m2")
    ]
    assert find("admin", "s0") == [("Text", f"/p/bench/trajectories/{row.pk}/?at=2&words=s0#m2")]
    # where all begins with a question its field is not folded, on phones neither
    assert '<details class="filters-fold" open>' in text(browse("ann").get(at("search", "bench")))
    page = text(browse("ann").get(at("search", "bench"), {"q": "looking"}))
    assert "<mark>Looking</mark>, time 0." in page
    assert find("ann", "nothing like it") == []
    assert find("cleo", "looking") == []


def test_search_finds_notes_of_others_only_for_whom_reads_them_and_notes_it(cast, find, dispute):
    row, mine, _theirs = dispute
    seen = Exposure.objects.filter(trajectory=row, kind=ExposureKind.LABEL)
    assert [kind for kind, _ in find("ann", "narwhal")] == ["Note"] * 3
    assert {address.split("?")[0] for _, address in find("ann", "narwhal")} == {f"/assignments/{mine.pk}/"}
    assert find("cleo", "narwhal") == find("judith", "narwhal") == []
    assert not seen.exists()
    assert len(find("admin", "narwhal")) == 6
    assert list(seen.values_list("user", flat=True)) == [cast.admin.pk]
    case = people.open_case(cast.judith, row)
    assert {address.split("?")[0] for _, address in find("judith", "narwhal")} == {
        f"/adjudications/{case.pk}/"
    }


def test_search_finds_comments_and_decisions_once_their_reader_takes_part(cast, find, dispute):
    row, _mine, _theirs = dispute
    case = people.open_case(cast.judith, row)
    talk = discuss.open_discussion(actor=cast.judith, trajectory=row)
    said = discuss.comment(actor=cast.ben, discussion=talk, message_index=2, text="What of the walrus?")
    assert find("ann", "walrus") == [("Comment", f"/discussions/{talk.pk}/?at=2&words=walrus#m2")]
    assert find("cleo", "walrus") == []
    discuss.retract(actor=cast.ben, comment=said)
    assert find("ann", "walrus") == []
    people.decide_all(case, note="The manatee rule")
    adjudicate.close_case(actor=cast.judith, adjudication=case)
    assert {kind for kind, _ in find("judith", "manatee")} == {"Decision"}
    assert find("ann", "manatee") == []


def test_search_keeps_from_an_admin_who_labels_what_they_could_still_label(cast, find):
    people.make_member(cast.project, cast.admin, "admin", "annotator")
    people.import_records(cast.project, [people.make_record(steps=2)])
    people.label_next(cast.ben, cast.project, 1, note="narwhal")
    assert find("admin", "narwhal") == []
    assert find("admin", "looking")
    assert not Exposure.objects.exists()


@pytest.mark.parametrize(
    ("asked", "answer"),
    [({"q": "a"}, "Type at least two characters."), ({"q": "ab", "kind": "x"}, "There is no kind “x”.")],
)
def test_search_refuses_one_letter_and_an_unknown_kind(browse, at, text, asked, answer):
    response = browse("ann").get(at("search", "bench"), asked)
    assert response.status_code == 400
    assert answer in text(response)
