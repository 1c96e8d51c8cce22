"""Jobs of the background that failed, for the world of tests/world.py."""

from __future__ import annotations

import contextlib

from annotation.core.errors import ImportRefused
from annotation.models import Freeze, ImportFile
from annotation.services import release
from annotation.services.release.contents import CHANGED
from tests.canaries import canary
from tests.people import Cast, import_file, jsonl, make_record


def failed_freeze(cast: Cast) -> Freeze:
    job = release.start_freeze(
        actor=cast.admin, project=cast.project, version="3.0", note=canary("freeze-note")
    )
    Freeze.objects.filter(pk=job.pk).update(state="failed", error=str(CHANGED))
    return job


def failed_import(cast: Cast) -> ImportFile:
    bad = jsonl([{**make_record(0), "messages": canary("import")}])
    with contextlib.suppress(ImportRefused):
        import_file(cast.project, bad, filename=f"{canary('file')}.jsonl", format="agentprocessbench")
    return ImportFile.objects.latest("pk")
