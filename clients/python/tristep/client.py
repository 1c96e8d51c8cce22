"""The client: where everything begins."""

from __future__ import annotations

from types import TracebackType

import httpx

from . import models as m
from .connection import Connection
from .credentials import found
from .deciding import Adjudications, AuditCases, Comments, Corrections, Discussions, Examples, LabelAudits
from .imports import Imports
from .judging import Answers, Judges, Runs, Samples
from .labelling import Assignments, Remarks, Tags, Trajectories
from .nouns import Noun, Part, quoted
from .people import CrowdPlaces, Me
from .projects import Projects
from .releases import Freezes
from .training import Attempts, KeyedItems


class Client(Noun):
    """A Tristep server, used as one person.

    Without an address and a token these are those of TRISTEP_URL and TRISTEP_TOKEN, or those that the
    command `login` kept.

        with Client() as tristep:
            for project in tristep.projects.list():
                print(project["slug"])

    Raises NotConfigured when there is no address. Without a token only what is public can be read.
    """

    me = Part(Me, "me/")
    projects = Part(Projects, "projects/")
    imports = Part(Imports, "imports/")
    trajectories = Part(Trajectories, "trajectories/")
    tags = Part(Tags, "tags/")
    assignments = Part(Assignments, "assignments/")
    remarks = Part(Remarks, "remarks/")
    adjudications = Part(Adjudications, "adjudications/")
    discussions = Part(Discussions, "discussions/")
    comments = Part(Comments, "comments/")
    examples = Part(Examples, "examples/")
    corrections = Part(Corrections, "corrections/")
    label_audits = Part(LabelAudits, "label-audits/")
    audit_cases = Part(AuditCases, "audit-cases/")
    judges = Part(Judges, "judges/")
    runs = Part(Runs, "runs/")
    samples = Part(Samples, "samples/")
    answers = Part(Answers, "answers/")
    attempts = Part(Attempts, "attempts/")
    keyed_items = Part(KeyedItems, "training/items/")
    crowd_places = Part(CrowdPlaces, "crowd-places/")
    freezes = Part(Freezes, "freezes/")

    def __init__(
        self, url: str = "", token: str | None = None, *, transport: httpx.BaseTransport | None = None
    ) -> None:
        address, secret = found(url, token)
        super().__init__(Connection(address, secret, transport))

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections to the server."""
        self._connection.close()

    def public_release(self, slug: str, version: str) -> m.Document:
        """Read a public release."""
        return self._get(f"public/{quoted(slug)}/{quoted(version)}/")

    def schema(self) -> m.Document:
        """Read the schema of the API."""
        return self._get("schema/")
