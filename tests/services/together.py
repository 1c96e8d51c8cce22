"""Many people at once: each call in a thread of its own, with a database connection of its own."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

from django.db import connections

from annotation.core.errors import Conflict
from annotation.models import Project, User
from annotation.services import assign
from tests import people

PATIENCE = 120.0


def together(*calls: Callable[[], Any]) -> list[Any]:
    """Let all calls loose at the same moment; what each returned, or the exception it raised, in order."""
    barrier = threading.Barrier(len(calls))
    results: list[Any] = [None] * len(calls)

    def run(place: int, call: Callable[[], Any]) -> None:
        try:
            barrier.wait(PATIENCE)
            results[place] = call()
        except Exception as error:
            results[place] = error
        finally:
            connections.close_all()

    threads = [
        threading.Thread(target=run, args=(place, call), daemon=True) for place, call in enumerate(calls)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
        assert not thread.is_alive(), "somebody waits for ever"
    return results


def annotators(project: Project, how_many: int) -> list[User]:
    """New annotators of a project."""
    made = [people.make_user(f"annotator-{number}") for number in range(how_many)]
    for user in made:
        people.make_member(project, user, "annotator")
    return made


def until_nothing_is_left(user: User, project: Project) -> Callable[[], int]:
    """Claims until there is nothing left for this person, and returns how often."""

    def claim_all() -> int:
        claimed = 0
        while True:
            try:
                assign.claim_next(actor=user, project=project)
                claimed += 1
            except Conflict as error:
                if error.code == "nothing_left":
                    return claimed
                assert error.code == "busy"

    return claim_all


def succeeded(results: Sequence[Any]) -> list[Any]:
    """The results that were not refusals."""
    return [result for result in results if not isinstance(result, Exception)]


def refused(results: Sequence[Any]) -> list[str]:
    """The codes of the refusals; anything that is not one of ours is raised."""
    codes = []
    for result in results:
        if isinstance(result, Exception):
            if not hasattr(result, "code") or not hasattr(result, "message"):
                raise result
            codes.append(result.code)
    return codes
