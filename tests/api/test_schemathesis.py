"""The promise of the schema to any client: no answer is a 5xx, and every answer is one the schema speaks
of."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest
from django.core.handlers.wsgi import WSGIHandler
from django.db import transaction
from hypothesis import HealthCheck, Phase, given, settings

from annotation.models import (
    Adjudication,
    Assignment,
    ImportFile,
    Invitation,
    JudgeAnswer,
    Membership,
    Trajectory,
)
from annotation.providers import FailureKind
from annotation.services import projects, release
from tests.callers import token_of
from tests.fixtures.judges import Scripted, do, failure, install, make_judge, start
from tests.people import (
    Cast,
    claim,
    import_records,
    jsonl,
    label_next,
    make_adjudicated,
    make_disputed,
    make_records,
    open_case,
    receive,
)

# Loading it takes a second, and every process of a run loads this module: see also `-p no:schemathesis`.
if TYPE_CHECKING:
    from schemathesis import Case, GenerationMode

pytestmark = pytest.mark.slow

# takes any text and nobody's token: no request to it can be against the schema
NEVER_WRONG = {"/api/v1/public/{slug}/{version}/"}
MODES = ("positive", "negative")
# no id of a row, whatever the database, and no name
NOWHERE = {"integer": 2**63, "string": "%F0%9F%98%80"}
# of each mode for each operation; a made-up request costs far more than its answers
EXAMPLES = int(os.environ.get("SCHEMATHESIS_EXAMPLES", "1"))


@pytest.fixture
def there(cast: Cast, judge_urls: None, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """A project in the middle of everything; for each path parameter something that is there."""
    import_records(cast.project, 6)
    for user in (cast.ann, cast.ben):
        label_next(user, cast.project)
    make_disputed(cast, 2)
    disputed = list(Trajectory.objects.filter(state="disputed"))
    make_adjudicated(cast, disputed[0])
    open_case(cast.judith, disputed[1])
    claim(cast.ann, cast.project)
    release.freeze(actor=cast.admin, project=cast.project, version="1.0")
    projects.invite(actor=cast.admin, project=cast.project, is_annotator=True)
    receive(cast.project, jsonl(make_records(1)), actor=cast.admin, subset="waiting", enqueue=True)
    install(monkeypatch, Scripted(lambda _request: failure(FailureKind.NOT_JSON)))
    run = do(start(make_judge(cast)))
    return {
        "judges": run.judge_id,
        "runs": run.pk,
        "answers": JudgeAnswer.objects.earliest("created_at").pk,
        "slug": "bench",
        "version": "1.0",
        "subset": "tiny",
        "name": "tiny",
        "trajectories": disputed[1].pk,
        "assignments": Assignment.objects.get(annotator=cast.ann, state="open").pk,
        "adjudications": Adjudication.objects.get(state="open").pk,
        "imports": ImportFile.objects.get(state="queued").pk,
        "members": Membership.objects.get(user=cast.admin).pk,
        "invitations": Invitation.objects.get().pk,
    }


def places(operation: Any, there: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The path parameters of something that is there, as far as that is known, and of what is not."""
    kinds = operation.path_parameters.schema["properties"]
    nowhere = {name: NOWHERE[kind["type"]] for name, kind in kinds.items()}
    known = {}
    nouns = [part for part in operation.path.split("/") if part]
    for position, part in enumerate(nouns):
        name = part.strip("{}").removesuffix("}.jsonl").removeprefix("{")
        if part.startswith("{"):
            known[name] = there.get(nouns[position - 1]) if name == "id" else there.get(name)
    return nowhere | {name: value for name, value in known.items() if value is not None}, nowhere


def test_schema_makes_no_request_that_breaks_the_server(
    cast: Cast, there: dict[str, Any], kept_open: None
) -> None:
    import schemathesis
    from schemathesis import GenerationMode

    schema = schemathesis.openapi.from_wsgi("/api/v1/schema/", WSGIHandler())
    # over WSGI it does not unpack what is compressed
    plain = {"Accept-Encoding": "identity"}
    admin, annotator = (
        plain | {"Authorization": f"Bearer {token_of(user)}"} for user in (cast.admin, cast.ann)
    )
    operations = [operation.ok() for operation in schema.get_all_operations()]
    assert len(operations) > 80
    for operation in operations:
        for name in MODES:
            mode = GenerationMode(name)
            # of a path alone nothing can be wrong that reaches a view
            can_be_wrong = operation.query or operation.body
            if mode.is_positive or (can_be_wrong and operation.path not in NEVER_WRONG):
                _try(operation, mode, there, admin, annotator)


def _try(
    operation: Any,
    mode: GenerationMode,
    there: dict[str, Any],
    admin: dict[str, str],
    annotator: dict[str, str],
) -> None:
    """Call one operation with made-up requests, of what exists: only there does anybody look at what is sent.
    Those that keep to the schema come from somebody who may do little, too, and to what does not exist."""
    from schemathesis.checks import not_a_server_error
    from schemathesis.specs.openapi.checks import (
        content_type_conformance,
        response_schema_conformance,
        status_code_conformance,
    )

    checks = [
        not_a_server_error,
        status_code_conformance,
        content_type_conformance,
        response_schema_conformance,
    ]

    here, nowhere = places(operation, there)

    def call(case: Case, headers: dict[str, str]) -> None:
        with transaction.atomic():
            case.validate_response(case.call(headers=headers), checks=checks)
            transaction.set_rollback(True)

    @settings(
        max_examples=EXAMPLES,
        phases=[Phase.explicit, Phase.generate],
        deadline=None,
        database=None,
        derandomize=True,
        suppress_health_check=list(HealthCheck),
    )
    # drawing a path would fail at each empty part of it
    @given(case=operation.as_strategy(generation_mode=mode, path_parameters=here))
    def check(case: Case) -> None:
        call(case, admin)
        if mode.is_positive:
            call(case, annotator)
            if nowhere:
                case.path_parameters = nowhere
                call(case, admin)

    try:
        check()
    except Exception as error:
        error.add_note(f"{operation.method} {operation.path} ({mode})")
        raise
