"""What goes out compressed: pages and JSON that are read, each with random bytes, and nothing else."""

from __future__ import annotations

import gzip

from tests import people
from tests.callers import signed_in
from tests.people import Cast

ACCEPTS = {"Accept-Encoding": "gzip"}


def test_pages_and_json_that_are_read_arrive_compressed_and_in_several_lengths(cast: Cast) -> None:
    people.import_records(cast.project, 1)
    claimed = people.claim(cast.ann, cast.project)
    client = signed_in(cast.ann)
    for address in (f"/assignments/{claimed.pk}/", f"/api/v1/assignments/{claimed.pk}/"):
        plain = client.get(address)
        packed = [client.get(address, headers=ACCEPTS) for _ in range(12)]

        assert "Content-Encoding" not in plain
        assert {one["Content-Encoding"] for one in packed} == {"gzip"}
        assert "Accept-Encoding" in packed[0]["Vary"]
        assert abs(len(gzip.decompress(packed[0].content)) - len(plain.content)) < 200
        assert len(packed[0].content) < len(plain.content) / 2
        assert len({len(one.content) for one in packed}) > 1, "lengths would tell of what is in it"


def test_answers_to_saves_and_what_is_streamed_go_out_as_they_are(cast: Cast) -> None:
    people.import_records(cast.project, 1)
    claimed = people.claim(cast.ann, cast.project)
    client = signed_in(cast.ann)
    body = {"op_id": "one", "changes": [people.change(2, 1)]}
    saved = client.post(
        f"/api/v1/assignments/{claimed.pk}/labels/", body, content_type="application/json", headers=ACCEPTS
    )
    lines = client.get(f"/p/{cast.project.slug}/work/?as=csv", headers=ACCEPTS)

    assert (saved.status_code, lines.status_code) == (200, 200)
    assert "Content-Encoding" not in saved
    assert lines.streaming
    assert "Content-Encoding" not in lines
