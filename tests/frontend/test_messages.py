"""One message as it came: the letters of the record, to whoever may see the trajectory, and never a label."""

from __future__ import annotations

import json

from django.urls import reverse

from annotation.models import Trajectory
from tests import people


def address(trajectory: Trajectory, message: int, query: str = "") -> str:
    return reverse("frontend:trajectory-message", args=[trajectory.pk, message]) + query


def claimed(cast, record):
    people.import_records(cast.project, [record])
    return people.claim(cast.ann, cast.project).trajectory


def test_message_is_sent_letter_by_letter(cast, browse):
    record = people.make_record(steps=2)
    record["messages"][3]["content"] = '{"z": 1.50, "a": "é\\n<b>"}'
    trajectory = claimed(cast, record)
    answer = browse("ann").get(address(trajectory, 3))
    assert answer.json() == {
        "json": json.dumps(record["messages"][3]),
        "exact": True,
        "withheld": False,
        "text": '{"z": 1.50, "a": "é\\n<b>"}',
    }


def test_labels_in_the_file_are_never_sent_and_rewards_only_by_policy(cast, browse, text):
    record = people.make_record(steps=2)
    record["messages"][2] |= {"label": "canary-label", "reward": "canary-reward"}
    trajectory = claimed(cast, record)
    body = text(browse("ann").get(address(trajectory, 2)))
    assert "canary" not in body and json.loads(body)["withheld"]


def test_message_is_not_sent_to_whoever_may_not_see_the_trajectory(cast, browse):
    trajectory = claimed(cast, people.make_record(steps=2))
    assert browse("ben").get(address(trajectory, 2)).status_code == 404
    assert browse("nobody").get(address(trajectory, 2)).status_code == 302
    assert browse("ann").get(address(trajectory, 99)).status_code == 404
    assert browse("ann").post(address(trajectory, 2)).status_code == 405


def test_markdown_comes_as_nodes_without_links_or_markup(cast, browse):
    record = people.make_record(steps=2)
    record["messages"][2]["content"] = (
        "# Head\n\n**bold** <script>x</script> [here](https://example.org) [bad](javascript:1) ![i](http://e.org/i)"
    )
    trajectory = claimed(cast, record)
    nodes = browse("ann").get(address(trajectory, 2, "?as=markdown")).json()["markdown"]
    written = json.dumps(nodes)
    assert ["h2", "Head"] in nodes
    assert '["strong", "bold"]' in written and "<script>x</script>" in written
    assert '["span", "here", " (https://example.org)"]' in written
    assert all(tag not in written for tag in ('"a"', '"img"', '"script"', "href"))
