"""Caches that count: in Redis, where a server that is away makes everything a miss, and in one process."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from typing import Any

from django.core.cache.backends.locmem import LocMemCache
from django.core.cache.backends.redis import RedisCache
from django.utils.crypto import constant_time_compare, salted_hmac
from redis.exceptions import RedisError

log = logging.getLogger(__name__)


class TolerantRedisCache(RedisCache):
    """Holds throttle counters and rendered text, nothing that may not be lost. None is a miss."""

    def _try(self, call: Callable[[], Any], default: Any) -> Any:
        try:
            return call()
        except RedisError as error:
            log.warning("The cache does not answer", extra={"kind": type(error).__name__})
            return default

    def get(self, key: str, default: Any = None, version: int | None = None) -> Any:
        value = self._try(lambda: super(TolerantRedisCache, self).get(key, default, version), default)
        return default if value is None else value

    def set(self, key: str, value: Any, *args: Any, **kwargs: Any) -> None:
        self._try(lambda: super(TolerantRedisCache, self).set(key, value, *args, **kwargs), None)

    def add(self, key: str, value: Any, *args: Any, **kwargs: Any) -> bool:
        return bool(self._try(lambda: super(TolerantRedisCache, self).add(key, value, *args, **kwargs), True))

    def incr(self, key: str, delta: int = 1, version: int | None = None) -> int:
        def call() -> int:
            try:
                return super(TolerantRedisCache, self).incr(key, delta, version)
            except ValueError:  # it has just run out
                return delta

        return int(self._try(call, delta))

    def count(self, key: str, seconds: int) -> int:
        """Add one to a number that is forgotten after so many seconds, and return it; 1 without a server."""

        def call() -> int:
            made = self.make_and_validate_key(key)
            with self._cache.get_client(made, write=True).pipeline() as pipeline:
                pipeline.set(made, 0, ex=seconds, nx=True)
                pipeline.incr(made)
                return int(pipeline.execute()[1])

        return int(self._try(call, 1))

    def delete(self, key: str, version: int | None = None) -> bool:
        return bool(self._try(lambda: super(TolerantRedisCache, self).delete(key, version), False))

    def get_many(self, keys: Any, version: int | None = None) -> dict[str, Any]:
        values = self._try(lambda: super(TolerantRedisCache, self).get_many(keys, version), {})
        return dict(values)


class LocalCache(LocMemCache):
    """The cache of one process."""

    def count(self, key: str, seconds: int) -> int:
        """Add one to a number that is forgotten after so many seconds, and return it."""
        self.add(key, 0, seconds)
        try:
            return int(self.incr(key))
        except ValueError:  # it has just run out
            return 1


class SignedJSON:
    """The cache's serializer: JSON with a signature of ours. Anything else is a miss, and nothing is
    unpickled.

    Whoever can write into Redis could otherwise run code here, or put a text of theirs onto a page. Counters
    are plain numbers, which Redis itself counts up.
    """

    def dumps(self, value: Any) -> int | bytes:
        """The stored form of a value. Raises TypeError for what JSON cannot carry."""
        if type(value) is int:
            return value
        text = json.dumps(value, ensure_ascii=True)
        return f"{self._signature(text)}:{text}".encode("ascii")

    def loads(self, stored: bytes) -> Any:
        """The value, or None when it is not of ours."""
        try:
            return int(stored)
        except ValueError:
            pass
        signature, _colon, text = stored.decode("ascii", "replace").partition(":")
        if not constant_time_compare(signature, self._signature(text)):
            log.warning("The cache held something that this server has not written")
            return None
        return json.loads(text)

    @staticmethod
    def _signature(text: str) -> str:
        return salted_hmac("config.cache", text, algorithm="sha256").hexdigest()
