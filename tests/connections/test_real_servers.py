"""The line on a real MLflow and a real Phoenix: `make test-connections`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from annotation.models import Connection
from tests.people import Cast

from . import real
from .conftest import transfer
from .walking import walk


@pytest.mark.slow
@pytest.mark.parametrize("server", [real.mlflow, real.phoenix], ids=["mlflow", "phoenix"])
def test_labels_lie_on_the_spans_of_the_steps_and_follow_the_consensus(
    cast: Cast, connect: Callable[..., Connection], tmp_path: Path, server: Any
) -> None:
    with server(tmp_path) as side:
        connection = connect(side)
        walk(cast, side, connection)
        for values, code in (({"source": "gone"}, "has no"), ({"filter": "nonsense !"}, "filter")):
            broken = connect(side, name=f"Broken by {code}", **values)
            assert code in transfer(broken, cast.admin, "pull").error
