"""From every state that people and claims can reach, every trajectory can still be finished."""

from __future__ import annotations

from annotation.policies import OPERATOR
from annotation.services import projects
from tests import people
from tests.people import Cast
from tests.services.project_machine import TRAJECTORIES, Project, play


def test_claims_and_people_can_be_finished_from_every_reachable_state(cast: Cast) -> None:
    trajectories = people.import_records(cast.project, TRAJECTORIES)
    projects.update_project(actor=OPERATOR, project=cast.project, values={"claim_limit": 2})
    people.make_member(cast.project, cast.ann, "annotator", "adjudicator")

    class Machine(Project):
        pass

    Machine.cast, Machine.trajectories = cast, trajectories
    play(Machine, examples=8, steps=25)
