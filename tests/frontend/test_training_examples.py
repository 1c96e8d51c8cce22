"""The button of the training examples on the page of training subsets, and its address in the API."""

from annotation.core.kinds import DECISIONS
from annotation.models import ImportFile
from annotation.services import ingest, projects

BUTTON = "Add the 12 training examples"


def test_examples_are_offered_and_added_while_nothing_is_in_training(browse, cast, at, text):
    client = browse("admin")
    assert BUTTON in text(client.get(at("training", "bench")))
    response = client.post(at("training-examples", "bench"))
    source = ImportFile.objects.get()
    assert response.url == at("import-detail", "bench", source.pk)
    ingest.run_import(source_id=source.pk)
    page = text(client.get(at("training", "bench")))
    assert BUTTON not in page and ">12<" in "".join(page.split())


def test_examples_are_not_offered_in_a_project_of_decisions(browse, cast, at, text):
    projects.create_project(actor=cast.root, name="Other", slug="other", kind=DECISIONS.name)
    client = browse("root")
    assert BUTTON not in text(client.get(at("training", "other")))
    page = text(client.post(at("training-examples", "other"), follow=True))
    assert "alert" in page and not ImportFile.objects.exists()
