"""Error replies as real servers write them, and what they mean."""

import random

import pytest

from annotation.outside.waiting import LONGEST, CallWaits, retry_after
from annotation.providers import FailureKind
from annotation.providers.http_errors import AskedModel, Complaint, refusal

ASKED = AskedModel("gpt-x", "ACME_API_KEY")

# Bodies as these servers' documentation and issue threads show them.
REAL = [
    (
        "openai",
        404,
        '{"error": {"message": "The model `gpt-x` does not exist or you do not have access to it.", '
        '"type": "invalid_request_error", "param": null, "code": "model_not_found"}}',
        ("wrong_model", True, "run"),
    ),
    (
        "deepseek",
        400,
        '{"error": {"message": "Model Not Exist", "type": "invalid_request_error", "code": null}}',
        ("wrong_model", True, "run"),
    ),
    (
        "openrouter",
        400,
        '{"error": {"message": "gpt-x is not a valid model ID", "code": 400}}',
        ("wrong_model", True, "run"),
    ),
    (
        "vllm",
        404,
        '{"object": "error", "message": "The model `gpt-x` does not exist.", "type": "NotFoundError", '
        '"param": null, "code": 404}',
        ("wrong_model", True, "run"),
    ),
    (
        "ollama",
        404,
        '{"error": {"message": "model \\"gpt-x\\" not found, try pulling it first", "type": "api_error"}}',
        ("wrong_model", True, "run"),
    ),
    ("nginx", 404, "<html><h1>404 Not Found</h1></html>", ("wrong_address", True, "run")),
    ("fastapi", 404, '{"detail": "Not Found"}', ("wrong_address", True, "run")),
    (
        "openai",
        401,
        '{"error": {"message": "Incorrect API key provided: sk-ab***xyz.", "code": "invalid_api_key"}}',
        ("bad_key", True, "run"),
    ),
    ("proxy", 403, "Forbidden", ("bad_key", True, "run")),
    (
        "openrouter",
        403,
        '{"error": {"message": "Your input was flagged", "code": 403, "metadata": {"reasons": ["x"]}}}',
        ("refused", True, "call"),
    ),
    (
        "azure",
        400,
        '{"error": {"message": "The response was filtered due to the prompt triggering content management '
        'policy.", "code": "content_filter"}}',
        ("refused", True, "call"),
    ),
    (
        "openai",
        429,
        '{"error": {"message": "You exceeded your current quota, please check your plan.", '
        '"type": "insufficient_quota", "code": "insufficient_quota"}}',
        ("no_credit", True, "run"),
    ),
    ("deepseek", 402, '{"error": {"message": "Insufficient Balance"}}', ("no_credit", True, "run")),
    ("openai", 429, '{"error": {"message": "Rate limit reached"}}', ("rate_limited", False, "call")),
    (
        "openai",
        400,
        '{"error": {"message": "This model\'s maximum context length is 8192 tokens.", '
        '"code": "context_length_exceeded"}}',
        ("too_long", True, "call"),
    ),
    (
        "llama.cpp",
        400,
        '{"error": {"code": 400, "message": "the request exceeds the available context size", '
        '"type": "exceed_context_size_error"}}',
        ("too_long", True, "call"),
    ),
    ("nginx", 413, "<html>Request Entity Too Large</html>", ("too_long", True, "call")),
    (
        "openai",
        400,
        '{"error": {"message": "Unsupported value: \'temperature\' does not support 0 with this model.", '
        '"param": "temperature", "code": "unsupported_value"}}',
        ("bad_request", True, "run"),
    ),
    ("unknown", 400, '{"error": "bad"}', ("bad_request", True, "call")),
    ("openai", 500, '{"error": {"message": "The server had an error"}}', ("server_error", False, "call")),
    ("cloudflare", 524, "<html>", ("server_error", False, "call")),
    ("any", 408, "", ("server_error", False, "call")),
    ("any", 307, "", ("redirect", True, "run")),
]


@pytest.mark.parametrize(("server", "status", "body", "meaning"), REAL)
def test_refusal_of_real_servers_has_its_meaning(
    server: str, status: int, body: str, meaning: tuple[str, bool, str]
) -> None:
    failure = refusal(status, Complaint.read(body.encode()), ASKED)
    assert (failure.kind, failure.permanent, failure.scope) == meaning
    assert failure.message[0].isupper() and "<" not in failure.message and len(failure.message) < 330


def test_sentences_name_what_to_look_at() -> None:
    nothing = Complaint.read(b"")
    assert refusal(401, nothing, ASKED).message == "The key in $ACME_API_KEY was refused by the server (401)."
    missing = Complaint.of({"error": {"code": "model_not_found"}})
    assert refusal(404, missing, ASKED).message == "The server has no model “gpt-x”."
    named = Complaint.of({"error": {"code": "unsupported_parameter", "param": "top_k", "message": "No."}})
    assert (
        refusal(400, named, ASKED).message
        == "The server does not take the parameter “top_k”. The server says: No."
    )


@pytest.mark.parametrize(
    "body", ["", "[]", "7", '{"error": []}', '{"error": {"message": {"a": 1}}}', "[" * 9_999]
)
def test_refusal_survives_any_body(body: str) -> None:
    assert refusal(400, Complaint.read(body.encode()), ASKED).kind == FailureKind.BAD_REQUEST


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": " 0.5 "}, 0.5),
        ({"retry-after": "7", "retry-after-ms": "1500"}, 1.5),
        ({"retry-after": "Thu, 01 Jan 1970 00:16:50 GMT"}, 10.0),
        ({"retry-after": "Thu, 01 Jan 1970 00:00:00 GMT"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-5"}, None),
        ({"retry-after": "٧"}, None),
        ({"retry-after": "9" * 400}, None),
        ({}, None),
    ],
)
def test_retry_after(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers, now=1_000.0) == seconds


def test_backoff_grows_has_full_jitter_and_an_end() -> None:
    waits = CallWaits(lambda: 0.0, random.Random(7))
    for attempt, most in [(0, 0.5), (1, 1.0), (3, 4.0), (10, LONGEST), (10**9, LONGEST)]:
        drawn = [waits.backoff(attempt) for _ in range(300)]
        assert 0 <= min(drawn) < most / 10 and most * 0.9 < max(drawn) <= most


def test_wait_that_one_is_told_to_make_holds_all_back() -> None:
    now = [100.0]
    waits = CallWaits(lambda: now[0], random.Random(7))
    assert waits.left() == 0
    waits.hold(8.0)
    waits.hold(2.0)
    assert all(8.0 <= waits.left() <= 9.0 for _ in range(50))
    now[0] = 108.0
    assert waits.left() == 0
