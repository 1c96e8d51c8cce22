"""A project that the bench has made large is one that an import could have made; of 2,000 trajectories."""

from __future__ import annotations

from pathlib import Path

import pytest

from annotation.models import Assignment, Step, Task, Trajectory
from annotation.policies import OPERATOR
from annotation.services import release
from bench import filling, inside, multiplying, records
from tests import people

IMPORTED, TIMES = 20, 100
OWN = ("id", "position", "record_id", "query_index", "task_id")


@pytest.mark.django_db
@pytest.mark.postgres
@pytest.mark.usefixtures("own_uploads")
def test_multiplied_project_is_like_an_imported_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(multiplying, "AT_ONCE", 1_500)  # in two transactions
    cast = people.make_cast("large")
    records.write_small(tmp_path / "first.jsonl", IMPORTED)
    records.write_small(tmp_path / "more.jsonl", IMPORTED, after=IMPORTED)
    inside.import_file("large", str(tmp_path / "first.jsonl"))
    templates = list(Trajectory.objects.order_by("pk"))

    told = multiplying.multiply(project=cast.project, times=TIMES)

    assert told["trajectories"] == IMPORTED * TIMES == Trajectory.objects.filter(live=True).count()
    assert told["steps"] == TIMES * sum(one.step_count for one in templates)
    columns = [field.attname for field in Trajectory._meta.concrete_fields if field.attname not in OWN]
    of_record = {one.record_id: one for one in templates}
    for copy in Trajectory.objects.order_by("-pk")[:IMPORTED]:
        template = of_record[copy.record_id.rpartition("-")[0]]
        assert [getattr(copy, name) for name in columns] == [getattr(template, name) for name in columns]
        assert copy.content.parsed() == template.content.parsed()
        steps = [list(one.steps.values_list("message_index", "ordinal")) for one in (copy, template)]
        assert steps[0] == steps[1] and len(steps[0]) == copy.step_count
        assert copy.task.question == template.task.question and copy.task_id != template.task_id
    assert len(set(Trajectory.objects.values_list("position", flat=True))) == IMPORTED * TIMES

    filling.label(project=cast.project, share=0.01)
    assert Assignment.objects.count() == 2 * IMPORTED * TIMES // 100
    people.label_next(cast.ann, cast.project)
    again = inside.import_file("large", str(tmp_path / "more.jsonl"))
    assert again["trajectories"] == IMPORTED
    assert Step.objects.filter(trajectory__live=True).count() == told["steps"] + again["steps"]
    frozen = release.freeze(actor=OPERATOR, project=cast.project, version="1.0")
    resolved = Trajectory.objects.filter(state="unanimous").count()
    assert 0 < resolved < 100
    assert frozen.record_count == resolved == release.verify(actor=OPERATOR, release=frozen).records
    assert Task.objects.count() == (IMPORTED // 5) * (TIMES + 1)
    assert inside.on_disk()["whole database"] > 0
