"""A Redis cache that a request survives: when the server is away, everything is a miss."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from django.core.cache.backends.redis import RedisCache
from redis.exceptions import RedisError

log = logging.getLogger(__name__)


class TolerantRedisCache(RedisCache):
    """Holds throttle counters and rendered text, nothing that may not be lost."""

    def _try(self, call: Callable[[], Any], default: Any) -> Any:
        try:
            return call()
        except RedisError as error:
            log.warning("The cache does not answer", extra={"kind": type(error).__name__})
            return default

    def get(self, key: str, default: Any = None, version: int | None = None) -> Any:
        return self._try(lambda: super(TolerantRedisCache, self).get(key, default, version), default)

    def set(self, key: str, value: Any, *args: Any, **kwargs: Any) -> None:
        self._try(lambda: super(TolerantRedisCache, self).set(key, value, *args, **kwargs), None)

    def add(self, key: str, value: Any, *args: Any, **kwargs: Any) -> bool:
        return bool(self._try(lambda: super(TolerantRedisCache, self).add(key, value, *args, **kwargs), True))

    def delete(self, key: str, version: int | None = None) -> bool:
        return bool(self._try(lambda: super(TolerantRedisCache, self).delete(key, version), False))

    def get_many(self, keys: Any, version: int | None = None) -> dict[str, Any]:
        found = self._try(lambda: super(TolerantRedisCache, self).get_many(keys, version), {})
        return dict(found)
