"""The subset that a file without one is imported into, through the page, the API and the command."""

from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from annotation.models import ImportFile, Project
from tests.callers import Caller, signed_in
from tests.commands.calling import run
from tests.people import Cast, jsonl, make_record


@pytest.mark.parametrize(
    ("filename", "subset"),
    [
        ("gaia.jsonl", "gaia"),
        ("gaia.sample.jsonl", "gaia"),
        ("GAIA-2_dev.jsonl", "GAIA-2_dev"),
        ("My runs.jsonl", "my-runs"),
        (".jsonl", "upload"),
        ("轨迹.jsonl", "upload"),
    ],
)
def test_default_subset__is_the_name_up_to_the_first_dot_through_every_door(
    cast: Cast, own_uploads: Path, tmp_path: Path, filename: str, subset: str
) -> None:
    data = jsonl([make_record()])
    path = tmp_path / filename
    path.write_bytes(data)

    slug = [cast.project.slug]
    page = signed_in(cast.admin).post(
        reverse("frontend:imports", args=slug), {"file": SimpleUploadedFile(filename, data)}
    )
    api = Caller(cast.admin).client.post(
        reverse("api:imports", args=slug), {"file": SimpleUploadedFile(filename, data)}
    )
    run("import_trajectories", "other", path)

    assert (page.status_code, api.status_code) == (302, 202)
    assert Project.objects.filter(slug="other").exists()
    rows = ImportFile.objects.order_by("pk").values_list("filename", "subset__name")
    assert list(rows) == [(filename, subset)] * 3
