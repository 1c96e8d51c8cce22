"""Refusals and broken replies of `tests.judge_server`; see `tests.judge_behaviours`."""

from __future__ import annotations

import asyncio
import gzip
import json
from email.utils import formatdate
from functools import cache
from time import time
from typing import Any

from tests.judge_behaviours import ALL, MEGABYTE, Writer, behaviour, completion, good, ok

__all__ = ["ALL", "Writer", "ok"]


# ── refusals ──
@behaviour
async def rate_limited(server: Any, _: Any, reply: Writer) -> None:
    error = {"message": "Rate limit reached", "type": "requests", "code": "rate_limit_exceeded"}
    await reply.json(429, {"error": error}, Retry_After=server.retry_after)


@behaviour
async def rate_limited_date(server: Any, _: Any, reply: Writer) -> None:
    moment = formatdate(time() + float(server.retry_after), usegmt=True)
    await reply.json(429, {"error": {"message": "Rate limit reached"}}, Retry_After=moment)


def refuses(name: str, status: int, error: Any, **headers: str) -> None:
    """A behaviour that always refuses alike."""

    async def refuse(_: Any, __: Any, reply: Writer) -> None:
        await reply.json(status, error, **headers)

    ALL[name] = refuse


refuses("rate_limited_bare", 429, {"error": {"message": "Too many requests"}})
refuses("http_500", 500, {"error": {"message": "The server had an error", "type": "server_error"}})
refuses("http_503", 503, {"error": {"message": "Overloaded"}})
refuses("error_in_200", 200, {"error": {"message": "Provider returned error", "code": 502}})
refuses("redirect", 302, {}, Location="http://127.0.0.1:1/v1/chat/completions")
_QUOTA = "You exceeded your current quota, please check your plan and billing details."
refuses("no_credit", 429, {"error": {"message": _QUOTA, "code": "insufficient_quota"}})
_LENGTH = "This model's maximum context length is 8192 tokens."
refuses("context_length", 400, {"error": {"message": _LENGTH, "code": "context_length_exceeded"}})


@behaviour
async def wrong_model(_: Any, call: Any, reply: Writer) -> None:
    message = f"The model `{call.model}` does not exist or you do not have access to it."
    error = {"message": message, "type": "invalid_request_error", "param": None, "code": "model_not_found"}
    await reply.json(404, {"error": error})


@behaviour
async def expired_key(_: Any, call: Any, reply: Writer) -> None:
    key = call.headers.get("authorization", "").removeprefix("Bearer ")
    message = f"Incorrect API key provided: {key}, also {key[:6]}********{key[-4:]}."
    error = {"message": message, "type": "invalid_request_error", "code": "invalid_api_key"}
    await reply.json(401, {"error": error}, WWW_Authenticate=f"Bearer {key}")


@behaviour
async def no_json_schema(server: Any, call: Any, reply: Writer) -> None:
    if call.body.get("response_format", {}).get("type") != "json_schema":
        return await ok(server, call, reply)
    message = "This response_format type is unavailable now"
    await reply.json(400, {"error": {"message": message, "type": "invalid_request_error"}})


@behaviour
async def no_response_format(server: Any, call: Any, reply: Writer) -> None:
    if "response_format" not in call.body:
        return await ok(server, call, reply)
    await reply.json(422, {"detail": [{"loc": ["body", "response_format"], "msg": "Extra inputs"}]})


@behaviour
async def completion_tokens(server: Any, call: Any, reply: Writer) -> None:
    if "max_tokens" not in call.body:
        return await ok(server, call, reply)
    message = "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."
    await reply.json(
        400, {"error": {"message": message, "param": "max_tokens", "code": "unsupported_parameter"}}
    )


# ── broken ──
@behaviour
async def timeout(_: Any, __: Any, ___: Writer) -> None:
    await asyncio.sleep(3600)


@behaviour
async def reset(server: Any, call: Any, reply: Writer) -> None:
    body = json.dumps(completion(call, good(server, call))).encode()
    reply.head(200, {"Content-Type": "application/json", "Content-Length": str(len(body))})
    reply.stream.write(body[: len(body) // 2])
    await reply.stream.drain()
    await asyncio.sleep(0.02)
    reply.reset()


@behaviour
async def closed(_: Any, __: Any, reply: Writer) -> None:
    reply.reset()


@behaviour
async def html(_: Any, __: Any, reply: Writer) -> None:
    await reply.body(200, "text/html", b"<!doctype html><title>Gateway</title><h1>Please sign in</h1>")


@behaviour
async def cut_envelope(server: Any, call: Any, reply: Writer) -> None:
    body = json.dumps(completion(call, good(server, call))).encode()
    await reply.body(200, "application/json", body[:-25])


@behaviour
async def huge(_: Any, call: Any, reply: Writer) -> None:
    reply.head(200, {"Content-Type": "application/json", "Content-Length": str(50 * MEGABYTE)})
    for _number in range(50):
        reply.stream.write(b"x" * MEGABYTE)
        await reply.stream.drain()


@behaviour
async def endless(_: Any, __: Any, reply: Writer) -> None:
    reply.head(200, {"Content-Type": "application/json", "Transfer-Encoding": "chunked"})
    while True:
        reply.stream.write(b"10000\r\n" + b" " * 0x10000 + b"\r\n")
        await reply.stream.drain()


@behaviour
async def drip(_: Any, __: Any, reply: Writer) -> None:
    reply.head(200, {"Content-Type": "application/json", "Transfer-Encoding": "chunked"})
    while True:
        reply.stream.write(b"1\r\n \r\n")
        await reply.stream.drain()
        await asyncio.sleep(0.02)


@behaviour
async def drip_headers(_: Any, __: Any, reply: Writer) -> None:
    reply.stream.write(b"HTTP/1.1 200 OK\r\nX-Long: ")
    while True:
        reply.stream.write(b"x")
        await reply.stream.drain()
        await asyncio.sleep(0.02)


@cache
def _bomb() -> bytes:
    return gzip.compress(b" " * (50 * MEGABYTE), 1)


@behaviour
async def gzip_bomb(_: Any, __: Any, reply: Writer) -> None:
    bomb = await asyncio.to_thread(_bomb)
    await reply.body(200, "application/json", bomb, Content_Encoding="gzip")


@behaviour
async def gzipped(server: Any, call: Any, reply: Writer) -> None:
    reply.charge()
    body = gzip.compress(json.dumps(completion(call, good(server, call))).encode())
    await reply.body(200, "application/json", body, Content_Encoding="gzip")
