"""Damaged files of every format: a reader and a sniffer say what is wrong, and raise nothing."""

import io

import pytest

from annotation.core.errors import Invalid
from annotation.core.trajectories.trajectory import (
    TrajectoryDraft,
    content_digest,
    normalise,
    pair_results,
    step_indexes,
)
from annotation.importers import FORMATS, ReadContext, RecordError, sniff
from tests.importers.mutations import mutations


@pytest.mark.parametrize("name", sorted(FORMATS))
def test_damaged_files_of_a_format_are_read_or_refused(name: str) -> None:
    for _, data in mutations(name, 30):
        try:
            sniff(data)
        except Invalid as refusal:
            assert refusal.message
        found = list(FORMATS[name].read(io.BytesIO(data), ReadContext("f")))
        assert found, data
        for item in found:
            if isinstance(item, RecordError):
                assert item.reason
                continue
            assert isinstance(item, TrajectoryDraft)
            assert step_indexes(item.messages)
            assert len(content_digest(item)) == 64
            pair_results(normalise(item.messages))
