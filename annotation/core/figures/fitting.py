"""Settings of scikit-learn for all who fit many small models."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any


@contextmanager
def small_fits() -> Iterator[None]:
    """Fit on one thread, for more cost more than they bring and could add up in another order; and without
    scikit-learn's checks of parameters, which take as long as a small fit.

    Imports scikit-learn, which takes a second or two: only who fits pays for it.
    """
    import sklearn

    with _libraries().limit(limits=1), sklearn.config_context(skip_parameter_validation=True):
        yield


@cache
def _libraries() -> Any:
    """The libraries that may begin threads: to look for them takes longer than a small fit."""
    # loads all of them
    import sklearn.linear_model  # noqa: F401
    from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]

    return ThreadpoolController()
