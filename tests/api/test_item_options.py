"""Editing the options of an item over the API and on its page."""

from __future__ import annotations

import pytest
from django.urls import reverse

from annotation.models import Trajectory
from annotation.services import assign, label
from tests import people
from tests.callers import Caller, signed_in
from tests.fixtures.judges_first import import_keyed

pytestmark = pytest.mark.django_db


@pytest.fixture
def disputed():
    """A cast around one decision on which two people differ, and the decision."""
    cast = people.make_cast(kind="decisions")
    (item,) = import_keyed(cast.project, 1)
    for user, values in ((cast.ann, (1, -1, -1)), (cast.ben, (-1, -1, 1))):
        mine = assign.claim_this(actor=user, trajectory=item)
        people.label_all(mine, list(values), outcome=1)
        label.submit(actor=user, assignment=mine)
    return cast, item


def test_options_are_read_and_replaced_by_who_may(disputed):
    cast, item = disputed
    path = f"/trajectories/{item.pk}/options/"
    judith = Caller(cast.judith)
    assert judith.get(path).status_code == 403
    people.open_case(cast.judith, item)
    read = judith.get(path).json()

    assert {name: read[name] for name in ("kind", "submitted", "open", "left", "needed")} == {
        "kind": "pair",
        "submitted": 2,
        "open": 0,
        "left": 3,
        "needed": 2,
    }
    assert [set(one) for one in read["options"]] == [{"message_index", "number", "text", "calls"}] * 3
    assert Caller(cast.ann).get(path).status_code == 403
    first, *rest = ({"message_index": one["message_index"]} for one in read["options"])
    sent = {"options": [*rest, {**first, "text": rest and read["options"][1]["text"]}], "ends": 2}
    refused = judith.post(path, sent)
    assert (refused.status_code, set(refused.json()["error"]["fields"])) == (400, {"options[2]"})
    sent["options"][2]["text"] = "Said better."
    assert judith.post(path, {**sent, "ends": 1}).json()["error"]["code"] == "more_ends"
    assert judith.post(path, {**sent, "key": 1}).status_code == 400

    new = judith.post(path, sent).json()["trajectory"]

    texts = {one["text"] for one in Caller(cast.admin).get(f"/trajectories/{new}/options/").json()["options"]}
    assert "Said better." in texts and read["options"][0]["text"] not in texts
    assert Caller(cast.admin).get(path).status_code == 404
    assert Trajectory.objects.get(live=True).pk == new


def test_page_says_whose_work_ends_and_what_is_wrong(disputed):
    cast, item = disputed
    page = reverse("frontend:item-options", args=["bench", item.pk])
    admin = signed_in(cast.admin)
    shown = admin.get(page).content.decode()
    assert "2 people have labelled this item" in shown
    indexes = people.step_indexes(item)
    texts = [item.content.parsed()["messages"][index]["content"] for index in indexes]
    sent = {f"option-{index}": text for index, text in zip(indexes, texts, strict=True)} | {"ends": "2"}

    more = admin.post(page, {**sent, "spare": "1", "new-0": "typed", "more": "1"}).content.decode()
    assert "typed" in more and 'name="new-1"' in more
    refused = admin.post(page, {**sent, f"out-{indexes[0]}": "on", "spare": "1", "new-0": texts[1]})
    assert refused.status_code == 400
    assert "This is the same as number 1." in refused.content.decode()
    assert "checked" in refused.content.decode()
    assert admin.post(page, sent)["Location"] == reverse("frontend:trajectory", args=["bench", item.pk])
    done = admin.post(page, {**sent, f"out-{indexes[0]}": "on"}, follow=True)
    new = Trajectory.objects.get(live=True)
    assert done.redirect_chain[-1][0] == reverse("frontend:trajectory", args=["bench", new.pk])
    assert new.step_count == 2
    assert "The work of 2 people on it has ended." in done.content.decode()
    assert "edited here" in done.content.decode()
    returned = signed_in(cast.ann).get(reverse("frontend:work", args=["bench"]), {"state": "returned"})
    assert "It was replaced by other content" in returned.content.decode()
    assert "Resume" not in returned.content.decode()
    notices = signed_in(cast.ben).get(reverse("frontend:notices")).content.decode()
    assert "your labels of it have ended" in notices
