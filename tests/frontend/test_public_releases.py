"""A release as everybody reads it, and as nobody does while it is not public."""

from __future__ import annotations

import json
import re

import pytest
from django.utils.formats import date_format
from django.utils.timezone import localtime

from annotation.models import Release, User
from annotation.services import release as service
from frontend.pages.evaluation.public_releases import Readers
from tests import people
from tests.fixtures.shared_rows import shared_rows

JSON = "/api/v1/public/bench/1.1/"


@shared_rows
def released(cast):
    """Two releases of a project with an unreleased trajectory; 1.1 is public."""
    people.import_records(cast.project, [people.make_record(), people.make_record(1, question="unreleased")])
    people.make_unanimous(cast)
    service.freeze(actor=cast.admin, project=cast.project, version="0.9-inside", note="for insiders")
    made = service.freeze(actor=cast.admin, project=cast.project, version="1.1", note="For everybody.")
    service.set_public(actor=cast.admin, release=made, switches=service.PublicSwitches(True, True, False))
    return made


def everything(client, at):
    """All bytes read at the public address but those of its files, and these."""
    page = client.get(at("public-release", "bench", "1.1"))
    names = re.findall(r'href="[^"]*/files/([^"]+)"', page.content.decode())
    files = [client.get(at("public-file", "bench", "1.1", name)) for name in dict.fromkeys(names)]
    assert {one.status_code for one in (page, *files)} == {200} and len(files) == 5
    return page, files, client.get(JSON)


def test_public_release_tells_everything_of_itself_and_nothing_else(browse, released, at):
    page, files, found = everything(browse("nobody"), at)
    read = [b"".join(file.streaming_content) if file.streaming else file.content for file in files]
    shown = page.content.decode() + found.content.decode()

    for piece in (released.digest, "For everybody.", "tiny.jsonl", "Always +1", "urllib.request.urlopen"):
        assert piece in shown
    stated = json.loads(found.content)
    assert (stated["version"], stated["records"], stated["statistics"]["steps"]) == ("1.1", 1, 2)
    assert [row["model"] for row in stated["leaderboard"]] == ["always_plus_one", "majority"]
    names = {name for user in User.objects.all() for name in (user.display_name, user.username) if name}
    people_named = re.compile(rf"\b({'|'.join(map(re.escape, names))})\b")
    for word in ("unreleased", "for insiders", "blind_labels"):
        assert word not in shown and word.encode() not in b"".join(read)
    assert "0.9-inside" not in shown and "/p/bench/" not in shown
    assert not people_named.search(shown) and not people_named.search(b"".join(read).decode(errors="ignore"))


def test_public_release_is_kept_by_caches_only_as_long_as_it_is_public(browse, released, at, cast):
    client = browse("nobody")
    page, files, found = everything(client, at)
    for answer in (page, *files, found):
        assert answer["X-Robots-Tag"] == "noindex, nofollow"
        assert answer["Cache-Control"] == ("private, no-cache" if answer is page else "public, no-cache")
        where = answer.wsgi_request.path_info
        assert client.get(where, headers={"If-None-Match": answer["ETag"]}).status_code == 304
    assert client.head(at("public-release", "bench", "1.1")).status_code == 200

    service.withdraw(actor=cast.admin, release=released, reason="Wrong labels.")
    later = client.get(page.wsgi_request.path_info, headers={"If-None-Match": page["ETag"]})
    assert later.status_code == 200 and "Wrong labels." in later.content.decode()
    service.set_public(actor=cast.admin, release=released, switches=service.PublicSwitches(True, False, True))
    found = client.get(JSON)
    assert json.loads(found.content)["leaderboard"] is None and "X-Robots-Tag" not in found
    assert json.loads(found.content)["withdrawal"]["reason"] == "Wrong labels."
    service.set_public(actor=cast.admin, release=released, switches=service.PublicSwitches())
    for answer in (page, *files, found):
        again = client.get(answer.wsgi_request.path_info, headers={"If-None-Match": answer["ETag"]})
        assert again.status_code == 404
    missing = client.get(at("public-release", "none", "1.1"))
    off = client.get(at("public-release", "bench", "1.1"))
    words = [re.sub(r'value="[^"]*"', "", one.content.decode()) for one in (missing, off)]
    assert words[0] == words[1]


def test_switches_on_the_page_and_in_the_api_are_the_same(browse, released, at, text):
    admin, place = browse("admin"), at("release-public", "bench", "0.9-inside")
    assert "/public/bench/0.9-inside/" not in text(admin.get(at("release", "bench", "0.9-inside")))
    assert "looked up when the first predictions come" in text(admin.get(at("leaderboard", "bench", "1.1")))
    assert admin.post(place, {"is_open": "on"}).status_code == 302
    page = text(admin.get(at("release", "bench", "0.9-inside")))
    assert "http://testserver/public/bench/0.9-inside/" in page
    switch = "/api/v1/projects/bench/releases/0.9-inside/public/"
    assert admin.get(switch).json()["is_open"] is True
    changed = admin.patch(switch, {"is_open": False}, content_type="application/json").json()
    assert changed["is_open"] is False
    assert browse("nobody").get(at("public-release", "bench", "0.9-inside")).status_code == 404


def test_public_pages_are_throttled_by_address(browse, released, at, monkeypatch):
    monkeypatch.setattr(Readers, "THROTTLE_RATES", {"public": "2/min"})
    client, place = browse("nobody"), at("public-release", "bench", "1.1")
    answers = [client.get(place, REMOTE_ADDR="192.0.2.7") for _ in range(3)]
    assert [answer.status_code for answer in answers] == [200, 200, 429]
    assert int(answers[2]["Retry-After"]) > 0
    assert client.get(place, REMOTE_ADDR="192.0.2.8").status_code == 200


@pytest.mark.parametrize("who", ["admin", "judith"])
def test_diff_page_filters_and_links_where_one_may_read(browse, released, at, text, cast, who):
    people.make_unanimous(cast)
    service.freeze(actor=cast.admin, project=cast.project, version="1.2")
    client, place = browse(who), at("release-diff", "bench", "1.2", "1.1")
    page = text(client.get(place))
    assert "tiny:1:0" in page and "## 1.2, compared with 1.1" in page
    assert client.get(at("release-record", "bench", "1.2", 1)).status_code == 200
    assert at("release-record", "bench", "1.2", 1) in page
    assert "tiny:1:0" in text(client.get(place + "?what=added&subset=tiny&page=7"))
    cell = text(client.get(place + "?what=added")).partition('class="moves"')[2].partition("</ul>")[0]
    assert re.findall(r'mark__sign">(.+?)<', cell) == ["+1", "+1", "+1"] and "→" not in cell
    frozen = [
        date_format(localtime(one.created_at), "DATETIME_FORMAT")
        for one in Release.objects.order_by("number")
    ]
    assert all(f"frozen {one}" in page for one in frozen[-2:])
    assert "Nothing of this kind changed." in text(client.get(place + "?what=labels"))
    assert client.get(at("release-diff", "bench", "1.2", "nope")).status_code == 404
    chosen = client.get(at("release-compare", "bench"), {"new": "1.2", "old": "1.1"})
    assert chosen.url == place
    listed = client.get("/api/v1/projects/bench/releases/1.2/diff/1.1/changes/?what=added").json()
    assert [(one["record_id"], one["what"]) for one in listed["results"]] == [("tiny:1:0", ["added"])]
    assert client.get(at("release-changelog", "bench", "1.2", "1.1")).content.startswith(b"## 1.2")
