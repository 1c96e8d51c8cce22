"""What a person sees: the answers to all that they can GET, and which of them an act changes."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from django.db import connection, transaction
from django.db.models import Model

from annotation.models import Assignment, Trajectory, User
from tests.addresses import Address, addresses, methods
from tests.callers import PlainClient
from tests.ids import Id
from tests.people import Cast
from tests.world import PLACES, TABLES, World

NOW = datetime(2026, 3, 14, 12, 0, tzinfo=UTC)
# made anew for each answer: CSRF tokens, and the key that makes a double click claim once
CHANCE = re.compile(r'name="(?:csrfmiddlewaretoken|claim_key)"\s+value="[^"]*"|csrftoken=[^;]+')
Act = Callable[[Cast, Trajectory], None]
Acts = Sequence[tuple[Act, Trajectory]]
Ids = dict[type[Model], list[int]]


def ids_of(*rows: Model, after: int = 1) -> Ids:
    """The ids to ask with: of these rows, of one of every other table, and the next of each: of assignments,
    as many as others begin `after`."""
    found: Ids = {}
    for table in {*TABLES.values(), Trajectory}:
        there = sorted(table._default_manager.values_list("pk", flat=True))
        asked = [row.pk for row in rows if isinstance(row, table)] or there[:1]
        last = there[-1] if there else 0
        found[table] = [*asked, *range(last + 1, last + 1 + (after if table is Assignment else 1))]
    return found


def place_of(cast: Cast, row: Trajectory) -> World:
    """The world of the addresses; ids are filled in afterwards."""
    return World(
        cast=cast,
        at=dict.fromkeys(PLACES, row),
        ids={name: Id.of(table(pk=1)) for name, table in TABLES.items()},
        link="x",
        answers=dict.fromkeys(PLACES, UUID(int=0)),
    )


def urls_of(world: World, ids: Ids) -> list[str]:
    """Every address that can be read, with these ids."""
    read = [
        address
        for address in addresses()
        if "GET" in methods(address)
        and address.tag not in ("good", "bad")
        and not address.name.startswith("admin:")
    ]
    return list(dict.fromkeys(url for address in read for url in sorted(_urls(address, world, ids))))


def _urls(address: Address, world: World, ids: Ids) -> set[str]:
    filling = dict(address.fill(world))
    if "pk" not in filling or isinstance(filling["pk"], UUID):  # nobody guesses a UUID
        return {address.url(world)}
    aimed = [{**filling, "pk": pk} for pk in ids[filling["pk"].table]]
    return {Address(address.name, lambda _world, at=at: at).url(world) for at in aimed}


def _plain(client: PlainClient, url: str) -> str:
    answer = client.get(url)
    assert answer.status_code < 500, url
    body = b"".join(answer.streaming_content) if answer.streaming else answer.content
    return CHANCE.sub("", f"{answer.status_code}\n{answer.headers}\n{body.decode(errors='replace')}")


def sent(client: PlainClient, world: World, address: Address, method: str, url: str = "") -> Any:
    """The answer to a request with what is to be sent there, to the address in this world or to a `url`."""
    url = url or address.url(world)
    if method == "GET":
        return client.get(url)
    if address.name.startswith("api:"):
        body = json.dumps(address.sent(world)) if address.body else ""
        return client.generic(method, url, body, content_type="application/json")
    return client.post(url, address.sent(world))


def all_rows() -> dict[str, list[tuple[object, ...]]]:
    """The rows of each table but sessions, of which each client makes one."""
    with connection.cursor() as cursor:
        tables = [one for one in connection.introspection.table_names(cursor) if one != "django_session"]
        return {table: cursor.execute(f'SELECT * FROM "{table}"').fetchall() for table in tables}


class Sight:
    """The answers to a person's GET at these addresses, and what each asked of the database."""

    def __init__(self, user: User, urls: Sequence[str]) -> None:
        self.user, self.rows = user, all_rows()
        self.answers: dict[str, str] = {}
        self.statements: dict[str, set[str]] = {url: set() for url in urls}
        client = PlainClient(user)
        for url, statements in self.statements.items():

            def noted(
                execute: Callable[..., object], sql: str, *rest: object, to: set[str] = statements
            ) -> object:
                to.add(sql)
                return execute(sql, *rest)

            with connection.execute_wrapper(noted):
                self.answers[url] = _plain(client, url)

    def changed(self) -> set[str]:
        """The addresses that answer otherwise now. Only those are asked again that read a table whose rows
        are others, in whatever way it came about: the rest ask what they asked, and are told the same."""
        rows = all_rows()
        tables = [table for table in rows if rows[table] != self.rows[table]]
        assert tables, "nothing has been done"
        read = re.compile(rf"\b(?:{'|'.join(tables)})\b")
        client = PlainClient(self.user)
        return {
            url
            for url, statements in self.statements.items()
            if any(map(read.search, statements)) and _plain(client, url) != self.answers[url]
        }


@contextmanager
def done(cast: Cast, acts: Acts = ()) -> Iterator[None]:
    """These acts are done, each at its trajectory; neither they nor what is written inside stay."""
    with transaction.atomic():
        for act, row in acts:
            act(cast, row)
        yield
        transaction.set_rollback(True)
