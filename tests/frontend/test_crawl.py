"""Every page that can be reached by links: no bare error page, and in Chinese no English."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from html.parser import HTMLParser
from typing import Any
from urllib.parse import SplitResult, parse_qsl, urljoin, urlsplit

import pytest

from tests.callers import PlainClient
from tests.canaries import CANARY
from tests.fixtures.shared_rows import shared_rows
from tests.frontend.chinese import Words, english, speak_chinese
from tests.people import make_member
from tests.world import World, make_world

# what an admin reaches, a superuser who is one reaches too
ROLES = {"annotator": "ben", "adjudicator": "judith", "superuser and admin": "rita"}
FIRST = ("/", "/no/such/page/", "/p/bench/", "/p/bench/no/such/", "/assignments/0/", "/p/none/")
# One page for many rows, and lists that are filtered by their address: a few of each will do. But every tab
# in every order, and the file of it, is a query of its own.
SAME = re.compile(r"\?.*|\d+|[0-9a-f]{8}-[0-9a-f-]+")
MOST_OF_A_KIND = 2
QUERIED = ("state", "tab", "list", "sort", "as")
# what the world is made of, the keys of its records and of label files, and a model's name
DATA = re.compile(
    rf"{CANARY}[\w-]*|\b(?:[Rr]ita|[Ee]mil|An example|Not JSON|Token|\w+_\w+|meta|explanations|gpt-\S+)\b"
    r"|@example.org|\.jsonl|\"low\""
)


class Links(HTMLParser):
    """Links of a page that lead on with a GET."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        held = dict(attrs)
        if tag == "a" and (href := held.get("href")):
            self.found.append(href)
        elif tag == "form" and (held.get("method") or "get").lower() == "get" and held.get("action"):
            self.found.append(str(held["action"]))


@shared_rows
def world() -> World:
    """One project in the middle of everything, where everybody reads Chinese."""
    made = make_world()
    make_member(made.cast.project, made.others["rita"], "annotator", "admin")
    speak_chinese(made.cast)
    return made


def kind_of(target: SplitResult) -> str:
    """The kind of a page: its address without the row; of a list also its tab, its order, and whether as a
    file."""
    query = [(name, value.removeprefix("-")) for name, value in parse_qsl(target.query) if name in QUERIED]
    return f"{SAME.sub('…', target.path)}{sorted(query) if query else ''}"


def crawl(client: PlainClient) -> Iterator[tuple[str, Any]]:
    """(path, answer) of every page that can be reached, two of each kind."""
    due, seen, kinds = list(FIRST), set(FIRST), Counter[str]()
    while due:
        path = due.pop(0)
        answer = client.get(path)
        yield path, answer
        if answer.status_code in (301, 302):
            links = [answer.url]
        elif answer.headers.get("Content-Type", "").startswith("text/html"):
            links = Links(answer.content.decode()).found
        else:
            links = []
        for link in links:
            target = urlsplit(urljoin(path, link))
            where = target.path + (f"?{target.query}" if target.query else "")
            kind = kind_of(target)
            if target.netloc or where in seen or kinds[kind] >= MOST_OF_A_KIND:
                continue
            seen.add(where)
            kinds[kind] += 1
            due.append(where)


# descriptions of the API are English (docs/translating.md); the audit log's details are machine words
ENGLISH_PAGES = re.compile(r"/api/$|/p/[^/]+/audit/")


def complaint(path: str, answer: Any) -> list[str]:
    if answer.streaming or not answer.headers.get("Content-Type", "").startswith("text/html"):
        return [] if answer.status_code < 400 else [f"{path}: a bare {answer.status_code}"]
    if answer.status_code in (301, 302):
        return []
    page = answer.content.decode()
    if 'class="brand"' not in page or '<html lang="zh-Hans"' not in page:
        return [f"{path}: {answer.status_code} without our page in Chinese"]
    ours = path.startswith("/no/such/") or "/no/such/" in path or path in FIRST
    if answer.status_code >= 400 and not ours:
        return [f"{path}: a link leads to {answer.status_code}"]
    if ENGLISH_PAGES.match(path):
        return []
    return [f"{path}: {text}" for text in english([DATA.sub("", one) for one in Words(page).found])]


@pytest.mark.parametrize("who", ROLES.values(), ids=ROLES)
def test_pages_that_a_role_can_reach_are_ours_and_in_its_language(world: World, who: str) -> None:
    found, reached = set[str](), set[str]()
    for path, answer in crawl(PlainClient(world.people[who])):
        reached.add(SAME.sub("…", path))
        found.update(complaint(path, answer))
    assert not found, "\n".join(sorted(found))
    assert len(reached) > {"ben": 15, "judith": 40, "rita": 85}[who]
