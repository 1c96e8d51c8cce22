"""Proficiency tests: for admins to make, for annotators to sit."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.core.vocabulary import TokenScope
from annotation.models import ProficiencyTest, Subset, TestAttempt
from annotation.policies import allowed, require, visible
from annotation.reports.training import proficiency as report
from annotation.reports.training import tutorial
from annotation.services import proficiency

from ...serializers.training import proficiency as shapes
from ..base import ProjectView, View, fetch, only_row

NOUN = "training"


class Tests(ProjectView):
    """`/projects/<slug>/tests/`"""

    noun = NOUN

    @extend_schema(summary="List proficiency tests", responses=shapes.ProficiencyTest(many=True))
    def get(self, request: Request, slug: str) -> Response:
        """The tests of a project by number. For admins."""
        return self.page(report.tests_of(viewer=self.user, project=self.project()), shapes.ProficiencyTest)

    @extend_schema(
        summary="Make a proficiency test", request=shapes.NewTest, responses={201: shapes.ProficiencyTest}
    )
    def post(self, request: Request, slug: str) -> Response:
        """Make a test of training trajectories with keys. Fewer than ten items, or a mark that nobody can
        reach, are refused (400). For admins."""
        project = self.project()
        require(self.user, "training.change", project)
        body = self.parsed(shapes.NewTest)
        body["trajectories"] = tutorial.chosen(project, body["trajectories"])
        made = proficiency.make_test(actor=self.user, project=project, **body)
        row = report.tests_of(viewer=self.user, project=project).get(pk=made.pk)
        return Response(shapes.ProficiencyTest(row).data, status=status.HTTP_201_CREATED)


class Proposal(ProjectView):
    """`/projects/<slug>/tests/proposal/`"""

    noun = NOUN

    @extend_schema(
        summary="Propose items for a test", parameters=[shapes.Size], responses=shapes.ProposedItems
    )
    def get(self, request: Request, slug: str) -> Response:
        """The training trajectories to take for a test: those that mislead judges first, with and without
        errors in the key. For admins."""
        size = self.query(shapes.Size)["size"]
        proposal = report.proposed(viewer=self.user, project=self.project(), size=size)
        return Response(shapes.ProposedItems({"trajectories": proposal}).data)


class _OfTest(ProjectView):
    """Addresses of one test, by its number."""

    noun = NOUN

    def test(self) -> ProficiencyTest:
        """The test. Raises NotFound to whoever is no member of the project or may not sit or make tests."""
        project = self.project()
        if not allowed(self.user, "claim", project):
            require(self.user, "training.view", project)
        rows = ProficiencyTest.objects.filter(project=project, number=self.kwargs["number"])
        return only_row(rows.select_related("project"))


class OneTest(_OfTest):
    """`/projects/<slug>/tests/<number>/`"""

    @extend_schema(summary="Look at a proficiency test", responses=shapes.TestDetail)
    def get(self, request: Request, slug: str, number: int) -> Response:
        """A test with its items, and the chance that it is passed by always +1 (`judge` empty) and by copying
        each judge. For admins."""
        test = self.test()
        passes = report.false_passes(viewer=self.user, test=test)
        row = report.tests_of(viewer=self.user, project=test.project).get(pk=test.pk)
        chances = [{"judge": judge, **_chance(shown)} for judge, shown in passes.items()]
        shown = {"test": row, "items": report.items_of(test), "false_passes": chances}
        return Response(shapes.TestDetail(shown).data)

    @extend_schema(
        summary="Change a proficiency test", request=shapes.TestChange, responses=shapes.ProficiencyTest
    )
    def patch(self, request: Request, slug: str, number: int) -> Response:
        """Change a test. Its items and marks are fixed by its first attempt (409 `begun`). For admins."""
        test = self.test()
        require(self.user, "training.change", test)
        body = self.parsed(shapes.TestChange)
        if "trajectories" in body:
            body["trajectories"] = tutorial.chosen(test.project, body["trajectories"])
        proficiency.change_test(actor=self.user, test=test, **body)
        row = report.tests_of(viewer=self.user, project=test.project).get(pk=test.pk)
        return Response(shapes.ProficiencyTest(row).data)


class Opens(_OfTest):
    """`/projects/<slug>/tests/<number>/opens/`"""

    @extend_schema(summary="Open a subset by a test", request=shapes.Opens, responses={204: None})
    def post(self, request: Request, slug: str, number: int) -> Response:
        """Give trajectories of a subset to those alone who have passed this test; with `needed` false, to
        every annotator. For admins."""
        test = self.test()
        require(self.user, "training.change", test)
        body = self.parsed(shapes.Opens)
        rows = Subset.objects.filter(project=test.project).select_related("project")
        subset = fetch(self.user, rows, name=body["subset"])
        proficiency.require_test(actor=self.user, subset=subset, test=test if body["needed"] else None)
        return Response(status=status.HTTP_204_NO_CONTENT)


class Attempts(_OfTest):
    """`/projects/<slug>/tests/<number>/attempts/`"""

    writes = TokenScope.LABEL

    @extend_schema(summary="List attempts at a test", responses=shapes.Attempt(many=True))
    def get(self, request: Request, slug: str, number: int) -> Response:
        """One's own attempts, the newest first; for admins those of all."""
        return self.page(visible(self.user, report.attempts_at(self.test())), shapes.Attempt)

    @extend_schema(summary="Begin an attempt", request=None, responses={201: shapes.Attempt})
    def post(self, request: Request, slug: str, number: int) -> Response:
        """Begin an attempt, or go on with the one that is running; its items come with `claim`. For
        annotators. 409: `passed`, `used_up`, `too_early`, `tutorial`."""
        attempt = proficiency.begin_attempt(actor=self.user, test=self.test())
        return Response(shapes.Attempt(attempt).data, status=status.HTTP_201_CREATED)


class Stands(_OfTest):
    """`/projects/<slug>/tests/<number>/standing/`"""

    @extend_schema(summary="See where I stand before a test", responses=shapes.Standing)
    def get(self, request: Request, slug: str, number: int) -> Response:
        """The rules of a test, the number of attempts left, and the time of the next. For annotators."""
        test = self.test()
        require(self.user, "claim", test)
        return Response(shapes.Standing(report.standing(self.user, test)).data)


class _OfAttempt(View):
    """Addresses of one attempt."""

    noun = NOUN

    def attempt(self) -> TestAttempt:
        """The attempt: one's own, or as an admin anybody's. Raises NotFound otherwise."""
        rows = TestAttempt.objects.select_related("test__project", "annotator")
        return fetch(self.user, rows, pk=self.kwargs["pk"])


class OneAttempt(_OfAttempt):
    """`/attempts/<id>/`"""

    @extend_schema(summary="Read the result of an attempt", responses=shapes.AttemptResult)
    def get(self, request: Request, pk: int) -> Response:
        """The result of an attempt, and the differences of its labels from the keys, with the reasons; to its
        annotator once it is over (before: 403 `sealed`), and to admins."""
        attempt = self.attempt()
        results = report.result(viewer=self.user, attempt=attempt)
        return Response(shapes.AttemptResult({"attempt": attempt, "items": results}).data)


class StopAttempt(_OfAttempt):
    """`/attempts/<id>/stop/`"""

    @extend_schema(summary="Stop an attempt", request=None, responses=shapes.Attempt)
    def post(self, request: Request, pk: int) -> Response:
        """Stop an attempt that is running: it counts as none. For admins. 409 `over`."""
        return Response(
            shapes.Attempt(proficiency.stop_attempt(actor=self.user, attempt=self.attempt())).data
        )


class GrantAttempt(_OfAttempt):
    """`/attempts/<id>/grant/`"""

    @extend_schema(summary="Grant another attempt", request=None, responses=shapes.Attempt)
    def post(self, request: Request, pk: int) -> Response:
        """Grant another attempt in place of one that has failed, which then neither counts nor makes anybody
        wait. For admins. 409 `not_failed`."""
        attempt = self.attempt()
        proficiency.grant_attempt(actor=self.user, attempt=attempt)
        attempt.refresh_from_db()
        return Response(shapes.Attempt(attempt).data)


def _chance(chance: report.FalsePass) -> dict[str, Any]:
    return {
        "chance": chance.chance,
        "low": chance.low,
        "high": chance.high,
        "as_they_are": chance.as_they_are,
        "too_likely": chance.too_likely,
    }
