"""Training subsets, their items, and keys. For admins."""

from __future__ import annotations

from django.urls import reverse
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.models import Subset, Trajectory
from annotation.policies import require
from annotation.policies.training import training_items
from annotation.reports.training import keys as report
from annotation.services import ingest, projects, training

from ...serializers import imports
from ...serializers.training import proficiency as shapes
from ..base import ProjectView, View, fetch, fetch_all, only_row, refusals

NOUN = "training"


class TrainingSubsets(ProjectView):
    """`/projects/<slug>/training/subsets/`"""

    noun = NOUN

    @extend_schema(summary="List training subsets", responses=shapes.TrainingSubset(many=True))
    def get(self, request: Request, slug: str) -> Response:
        """The training subsets of a project, with how much of them has a key and is used. For admins."""
        return self.page(report.training_subsets(self.user, self.project()), shapes.TrainingSubset)

    @extend_schema(
        summary="Make a training subset",
        request=shapes.NewTrainingSubset,
        responses={201: shapes.TrainingSubset},
    )
    def post(self, request: Request, slug: str) -> Response:
        """Make a training subset of that name, or of a subset that nobody has worked on: labels that stood in
        its file become the key. For admins. Conflict: `used`."""
        project = self.project()
        require(self.user, "training.change", project)
        name = self.parsed(shapes.NewTrainingSubset)["name"]
        subset = projects.ensure_subset(actor=self.user, project=project, name=name)
        training.mark_training(actor=self.user, subset=subset)
        row = report.training_subsets(self.user, project).get(pk=subset.pk)
        return Response(shapes.TrainingSubset(row).data, status=status.HTTP_201_CREATED)


class TrainingExamples(ProjectView):
    """`/projects/<slug>/training/examples/`"""

    noun = NOUN

    @extend_schema(
        summary="Add the training examples",
        request=shapes.NewTrainingExamples,
        responses={202: imports.Import},
    )
    def post(self, request: Request, slug: str) -> Response:
        """Import 12 trajectories, labelled and explained by the default guidelines, into the training subset
        `training` of a project of `steps`, in the background: follow the address in `Location`. Once more it
        changes nothing. For admins. Conflict: `subset_in_use`."""
        project = self.project()
        require(self.user, "training.change", project)
        language = self.parsed(shapes.NewTrainingExamples).get("language", "")
        source = ingest.add_examples(actor=self.user, project=project, language=language)
        where = reverse("api:import", args=[source.pk])
        return Response(
            imports.Import(source).data, status=status.HTTP_202_ACCEPTED, headers={"Location": where}
        )


class _OfSubset(ProjectView):
    noun = NOUN

    def subset(self, name: str) -> Subset:
        """The training subset of that name."""
        rows = Subset.objects.filter(project=self.project(), training=True).select_related("project")
        return fetch(self.user, rows, name=name)


class TrainingItems(_OfSubset):
    """`/projects/<slug>/training/subsets/<name>/items/`"""

    @extend_schema(summary="List training items", responses=shapes.TrainingItem(many=True))
    def get(self, request: Request, slug: str, name: str) -> Response:
        """The items of a training subset, and what each is used for. For admins."""
        require(self.user, "training.view", self.project())
        return self.page(report.training_items(self.user, self.subset(name)), shapes.TrainingItem)

    @extend_schema(
        summary="Make training items", request=shapes.ItemsOfResolved, responses=shapes.TrainingItemsMade
    )
    def post(self, request: Request, slug: str, name: str) -> Response:
        """Make training items of resolved trajectories: copies, whose key is the consensus. What is refused
        keeps no other from being done. For admins."""
        project = self.project()
        require(self.user, "training.change", project)
        body = self.parsed(shapes.ItemsOfResolved)
        of_project = Trajectory.objects.filter(project=project).select_related("project", "task")
        rows = fetch_all(self.user, of_project, body["trajectories"])
        outcome = training.make_items(
            actor=self.user, project=project, trajectories=rows, subset=self.subset(name)
        )
        made = [row.pk for row in outcome.done]
        answer = {"made": made, "refused": refusals(outcome.refused, of="record_id")}
        return Response(shapes.TrainingItemsMade(answer).data)


class OneTrainingSubset(_OfSubset):
    """`/projects/<slug>/training/subsets/<name>/`"""

    @extend_schema(summary="Put a training subset into the queue", responses={204: None})
    def delete(self, request: Request, slug: str, name: str) -> Response:
        """Put what a training subset holds into the queue like anything else; its keys are gone. For admins.
        Conflict: `used`."""
        require(self.user, "training.change", self.project())
        training.unmark_training(actor=self.user, subset=self.subset(name))
        return Response(status=status.HTTP_204_NO_CONTENT)


class TrainingKey(View):
    """`/training/items/<id>/key/`"""

    noun = NOUN

    def _item(self, pk: int) -> Trajectory:
        rows = Trajectory.objects.select_related("project", "subset", "task", "content")
        return only_row(training_items(self.user, rows).filter(pk=pk))

    @extend_schema(summary="Show the key of a training item", responses=shapes.TrainingKey)
    def get(self, request: Request, pk: int) -> Response:
        """The key of a training item, a label for each step and the outcome. For admins."""
        item = report.keyed_item(viewer=self.user, trajectory=self._item(pk))
        return Response(shapes.TrainingKey({"missing": item.missing, "labels": item.key.values()}).data)

    @extend_schema(summary="Write a label of a key", request=shapes.KeyLabelChange, responses=shapes.KeyLabel)
    def put(self, request: Request, pk: int) -> Response:
        """Write the label of a step, or without `message_index` that of the outcome, into the key of a
        training item. For admins."""
        item = self._item(pk)
        body = self.parsed(shapes.KeyLabelChange)
        row = training.write_key_label(
            actor=self.user,
            trajectory=item,
            message_index=body["message_index"],
            value=body["value"],
            note=body["note"],
            reason=body["reason"],
        )
        return Response(shapes.KeyLabel(row).data)
