"""Trajectories: the admins' list, and each as far as the caller may see it."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from typing import Any

from django.db.models import QuerySet
from django.db.models.functions import Left
from django.http import HttpResponse
from django.utils.translation import gettext as _
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.core.bounds import MAX_INT
from annotation.core.errors import Conflict
from annotation.core.text import escape, unescape
from annotation.core.trajectories.messages import Message
from annotation.core.trajectories.step_costs import cost_of, total
from annotation.core.vocabulary import REASON_CODES
from annotation.models import Project, Reservation, Tag, Trajectory, User
from annotation.policies import FieldAccess, field_access, require, visible
from annotation.policies.lookups import visible_trajectory
from annotation.reports.cases import side_by_side as reports
from annotation.reports.shared.transcripts import Transcript, transcript
from annotation.reports.work import search
from annotation.reports.work.tags import counted_tags, tagged, tags_of
from annotation.reports.work.trajectory_list import as_shown, held_by
from annotation.services import assign, noted_reads, tags

from ..serializers import trajectories as shapes
from .base import ProjectView, View, fetch, fetch_all, refusals, there

REVEAL = OpenApiParameter("reveal", bool, description="See the labels, and give up claiming it.")


class Trajectories(ProjectView):
    """`/projects/<slug>/trajectories/`"""

    noun = "trajectories"

    @extend_schema(
        summary="List trajectories",
        parameters=[shapes.TrajectoryFilter],
        responses=shapes.TrajectoryRow(many=True),
    )
    def get(self, request: Request, slug: str) -> Response:
        """The trajectories of a project in the order of the queue. For admins."""
        project = self.project()
        require(self.user, "trajectory.list", project)
        rows = as_shown(
            visible(self.user, Trajectory.objects.filter(project=project, live=True)),
            held_by(self.user, project),
        )
        # of a question, which can be as long as a book, only the beginning is read
        beginning = Left("task__question", shapes.READ_OF_QUESTION)
        rows = self._filtered(rows).select_related("subset", "task").defer("task__question")
        in_order = rows.annotate(beginning=beginning).order_by("shown_place", "pk")
        part = self.paginate_queryset(in_order) or []
        context = {"tags": tags_of(self.user, part)}
        return self.get_paginated_response(shapes.TrajectoryRow(part, many=True, context=context).data)

    def _filtered(self, rows: QuerySet[Any]) -> QuerySet[Any]:
        query = self.query(shapes.TrajectoryFilter)
        paths = {"subset": "subset__name", "state": "shown_state"}
        texts = ("record_id", "policy_model")
        conditions = {path: query[name] for name, path in paths.items() if name in query}
        conditions |= {name: escape(query[name]) for name in texts if name in query}
        if "tag" in query:
            rows = rows.filter(tagged(self.user, query["tag"]))
        return rows.filter(**conditions)


class Tags(ProjectView):
    """`/projects/<slug>/tags/`"""

    noun = "trajectories"

    @extend_schema(summary="List tags", responses=shapes.Tag(many=True))
    def get(self, request: Request, slug: str) -> Response:
        """The tags of a project, by name. For admins."""
        project = self.project()
        require(self.user, "trajectory.tag", project)
        return self.page(counted_tags(self.user, project), shapes.Tag)

    @extend_schema(summary="Tag trajectories", request=shapes.TagChange, responses=shapes.TagsChanged)
    def post(self, request: Request, slug: str) -> Response:
        """Put a tag on trajectories (`add`; it is made when there is none of that name), or take it off
        (`remove`). What is refused keeps no other from being done. For admins."""
        project = self.project()
        require(self.user, "trajectory.tag", project)
        body = self.parsed(shapes.TagChange)
        rows = fetch_all(self.user, Trajectory.objects.filter(project=project), body["trajectories"])
        act, name = (tags.tag, body["add"]) if "add" in body else (tags.untag, body["remove"])
        outcome = act(actor=self.user, project=project, trajectories=rows, name=name)
        changed = [row.pk for row in outcome.done]
        answer = {"changed": changed, "refused": refusals(outcome.refused, of="record_id")}
        return Response(shapes.TagsChanged(answer).data)


class OneTag(View):
    """`/tags/<id>/`"""

    noun = "trajectories"

    @extend_schema(summary="Rename a tag", request=shapes.TagName, responses=shapes.Tag)
    def patch(self, request: Request, pk: int) -> Response:
        """Rename a tag; with the name of another, the two become one, which is the answer. For admins."""
        row = fetch(self.user, Tag.objects.select_related("project"), pk=pk)
        kept = tags.rename_tag(actor=self.user, row=row, **self.parsed(shapes.TagName))
        return Response(shapes.Tag(counted_tags(self.user, row.project).get(pk=kept.pk)).data)

    @extend_schema(summary="Delete a tag", responses={204: None})
    def delete(self, request: Request, pk: int) -> Response:
        """Delete a tag, and take it off all trajectories. For admins."""
        row = fetch(self.user, Tag.objects.select_related("project"), pk=pk)
        tags.delete_tag(actor=self.user, row=row)
        return Response(status=status.HTTP_204_NO_CONTENT)


class Reservations(ProjectView):
    """`/projects/<slug>/reservations/`"""

    noun = "trajectories"

    @extend_schema(summary="List what is assigned", responses=shapes.Reservation(many=True))
    def get(self, request: Request, slug: str) -> Response:
        """The places that are kept for annotators and that they have not claimed yet. For admins."""
        project = self.project()
        require(self.user, "assign", project)
        rows = visible(self.user, Reservation.objects.filter(project=project))
        rows = rows.exclude(trajectory__in=held_by(self.user, project))
        return self.page(rows.select_related("annotator", "trajectory"), shapes.Reservation)

    @extend_schema(
        summary="Assign trajectories", request=shapes.NewReservations, responses=shapes.Reservations
    )
    def post(self, request: Request, slug: str) -> Response:
        """Keep a place of each trajectory for each of these annotators, or `evenly` all free places, so that
        all get as many and every two meet as often. They claim what is kept for them first. What is refused
        (`no_free_slot`, `all_assigned`, `had_before`, `exposed`, `judges_first`, `nobody_left`) keeps nothing
        else from being done. For admins."""
        project = self.project()
        require(self.user, "assign", project)
        body = self.parsed(shapes.NewReservations)
        outcome = assign.assign_trajectories(
            actor=self.user,
            project=project,
            trajectories=self._chosen(project, body),
            annotators=people(self.user, body["annotators"]),
            evenly=body["evenly"],
        )
        answer = {"assigned": outcome.done, "refused": refusals(outcome.refused, of="record_id")}
        return Response(shapes.Reservations(answer).data)

    def _chosen(self, project: Project, body: dict[str, Any]) -> list[Trajectory]:
        return fetch_all(self.user, Trajectory.objects.filter(project=project), body["trajectories"])


class Unassign(Reservations):
    """`/projects/<slug>/reservations/withdraw/`"""

    http_method_names = ["post"]

    @extend_schema(
        summary="Withdraw what is assigned", request=shapes.ReservationsWithdrawn, responses=shapes.Withdrawn
    )
    def post(self, request: Request, slug: str) -> Response:
        """Keep places of these trajectories for these annotators (none: for all) no more: anybody can claim
        them. What is not assigned is refused (`not_assigned`). For admins."""
        project = self.project()
        require(self.user, "assign", project)
        body = self.parsed(shapes.ReservationsWithdrawn)
        outcome = assign.withdraw(
            actor=self.user,
            project=project,
            trajectories=self._chosen(project, body),
            annotators=people(self.user, body["annotators"]) or None,
        )
        withdrawn = [row.pk for row in outcome.done]
        answer = {"withdrawn": withdrawn, "refused": refusals(outcome.refused, of="record_id")}
        return Response(shapes.Withdrawn(answer).data)


def people(user: User, names: list[str]) -> list[User]:
    """The people of these names. Raises NotFound when the caller may not see one of them."""
    return [fetch(user, User.objects.all(), username=name) for name in names]


def window(view: View) -> range:
    """The messages that a request asks for, by index; all by default."""
    query = view.query(shapes.MessageWindow)
    first = query.get("messages_from", 0)
    return range(first, first + query["messages_limit"] if "messages_limit" in query else MAX_INT)


def shape(
    row: Trajectory, access: FieldAccess, read: Transcript, part: range, *, once: bool = False
) -> dict[str, Any]:
    """A trajectory as the API sends it, with a part of its messages. What the viewer may not see is not in
    `read` already. `once`: nothing is said a second time in another form."""
    answers = {
        index: {"message_index": message, "position": position}
        for index, (message, position) in read.results.items()
    }
    costs = [cost_of(message.raw) for message in read.messages]
    return {
        "id": row.pk,
        "record_id": unescape(row.record_id),
        "subset": row.subset.name,
        "task": unescape(row.task.key),
        "seen_as": access.mode,
        "question": read.question,
        "task_description": read.task_description,
        "tools": read.tools,
        "message_count": len(read.messages),
        "usage": asdict(total(costs)),
        "messages": [
            {
                "index": message.index,
                "role": message.role,
                "is_step": message.role == "assistant",
                "content": message.content,
                "parts": [] if once and _is_content(message) else [asdict(part) for part in message.parts],
                "tool_calls": [
                    asdict(replace(call, arguments=None) if once and call.arguments_raw else call)
                    for call in message.tool_calls
                ],
                "tool_call_id": message.tool_call_id,
                "name": message.name,
                "answers": answers.get(message.index),
                "usage": None if (cost := costs[message.index]) is None else asdict(cost),
            }
            for message in read.messages[part.start : part.stop]
        ],
        "answer_text": read.answer_text,
        "policy_model": unescape(row.policy_model) if access.mode == "admin" else None,
        "reference_answer": read.reference_answer,
        "hints": read.hints,
    }


def _is_content(message: Message) -> bool:
    """Whether the parts of a message say no more than its content."""
    return [(part.kind, part.text) for part in message.parts] == [("text", message.content)]


class OneTrajectory(View):
    """`/trajectories/<id>/`"""

    noun = "trajectories"

    @extend_schema(
        summary="Read a trajectory", parameters=[shapes.TrajectoryQuery], responses=shapes.Trajectory
    )
    def get(self, request: Request, pk: int) -> Response:
        """Its messages, tools and task, as far as one may see them: annotators from their claim on,
        adjudicators from taking the case on, admins always. Of a long one a part at a time
        (`messages_from`, `messages_limit`)."""
        row = there(visible_trajectory(self.user, pk))
        access = field_access(self.user, row)
        once = self.query(shapes.TrajectoryQuery)["once"]
        read = transcript(trajectory=row, access=access)
        return Response(shape(row, access, read, window(self), once=once))


class Labelled(View):
    """Addresses that show labels of a trajectory."""

    reading_may_conflict = True

    noun = "trajectories"

    def ask_first(self, row: Trajectory) -> FieldAccess:
        """Raise Conflict to an admin who could still claim the trajectory, unless they say `reveal=true`.
        Otherwise what the caller may see of it."""
        access = field_access(self.user, row)
        if self.request.query_params.get("reveal") == "true":
            return access
        # in this order: for whoever may not see them it takes as long, whatever the trajectory's state
        if access.raw and noted_reads.costs_the_claim(actor=self.user, trajectory=row):
            message = _(
                "Once you have seen the labels, you can no longer claim this trajectory; add reveal=true to "
                "see them."
            )
            raise Conflict(message, code="asks_first")
        return access


class Raw(Labelled):
    """`/trajectories/<id>/raw/`"""

    @extend_schema(
        summary="Download the record",
        parameters=[REVEAL],
        responses={(200, "application/octet-stream"): OpenApiTypes.BINARY},
    )
    def get(self, request: Request, pk: int) -> HttpResponse:
        """The bytes of the record exactly as they came in, labels that stood in the file included. For
        admins who are not labelling it themselves. Reading them is noted, and asked about first, as it is for
        the labels (`…/judgements/`)."""
        row = there(visible_trajectory(self.user, pk))
        access = self.ask_first(row)
        return HttpResponse(
            noted_reads.record(actor=self.user, trajectory=row, access=access),
            content_type="application/octet-stream",
            headers={
                "Content-Disposition": f'attachment; filename="trajectory-{row.pk}.json"',
                "X-Content-Type-Options": "nosniff",
            },
        )


class Atif(Labelled):
    """`/trajectories/<id>/atif/`"""

    @extend_schema(
        summary="Export a trajectory as ATIF", parameters=[REVEAL], responses={200: OpenApiTypes.OBJECT}
    )
    def get(self, request: Request, pk: int) -> HttpResponse:
        """An ATIF 1.7 document with the consensus of the steps in `extra.tristep`; importing it gives the
        same record again. For admins who are not labelling it themselves. Noted and asked about first, as it
        is for the labels (`…/judgements/`)."""
        row = there(visible_trajectory(self.user, pk))
        access = self.ask_first(row)
        # as Python writes it: logs hold NaN, which the strict renderer of the API refuses
        text = json.dumps(noted_reads.atif(actor=self.user, trajectory=row, access=access))
        return HttpResponse(text, content_type="application/json")


class Judgements(Labelled):
    """`/trajectories/<id>/judgements/`"""

    @extend_schema(
        summary="Read all labels of a trajectory",
        parameters=[REVEAL, shapes.MessageWindow],
        responses=shapes.SideBySide,
    )
    def get(self, request: Request, pk: int) -> Response:
        """All labels side by side, the consensus, and judges' suggestions. For admins who are not labelling
        it themselves. Seeing them is noted; an admin who also annotates must say `reveal=true` (else 409),
        because whoever has seen the labels of a trajectory can no longer claim it."""
        row = there(visible_trajectory(self.user, pk))
        access = self.ask_first(row)
        read = noted_reads.inspection(actor=self.user, trajectory=row, access=access)
        return Response(side_by_side(read, window(self)))


def item(item_: reports.SideBySideItem) -> dict[str, Any]:
    """One step or the outcome with what annotators said."""
    return {
        "message_index": item_.step.message_index if item_.step else None,
        "disputed": item_.disputed,
        "votes": [_annotator_label(label) for label in item_.labels],
        "consensus": {"kind": item_.kind, **_said(item_.resolved)} if item_.resolved is not None else None,
    }


def _annotator_label(label: reports.AnnotatorLabel) -> dict[str, Any]:
    named = ("letter", "name", "source", "unsure", "flagged", "note", "reason")
    submitted = reports.LabelWithRoot(label.value, label.root, label.code)
    return {
        **{name: getattr(label, name) for name in named},
        **_said(submitted),
        "now": _said(label.now) if label.now is not None else None,
    }


def _said(label: reports.LabelWithRoot) -> dict[str, Any]:
    """A label with the root (a message index) and the reason code of its error."""
    return {"value": label.value, "root": label.judged.root, "reason_code": label.code}


def sides(page: reports.SideBySide) -> list[dict[str, Any]]:
    """The annotators: letters, and names where they may be seen."""
    return [{"letter": side.letter, "name": side.name, "state": side.state} for side in page.sides]


def steps_in(page: reports.SideBySide, part: range) -> list[reports.SideBySideItem]:
    """The steps among some of the messages."""
    return [step for step in page.steps if step.step is not None and step.step.message_index in part]


def side_by_side(page: reports.SideBySide, part: range) -> dict[str, Any]:
    """All labels of a trajectory, or of a part of its messages."""
    return {
        "trajectory": page.trajectory.pk,
        "state": page.trajectory.state,
        "annotators": sides(page),
        "steps": [{**item(step), "suggestions": named_suggestions(step)} for step in steps_in(page, part)],
        "outcome": {**item(page.outcome), "suggestions": named_suggestions(page.outcome)},
    }


def named_suggestions(item_: reports.SideBySideItem) -> list[dict[str, Any]]:
    """The suggestions for a step or the outcome, by the judges' names, for admins."""
    return [
        {
            "judge": suggestion.name,
            "value": suggestion.value,
            "recalibrated": suggestion.recalibrated,
            "reason": suggestion.reason,
            "comment": suggestion.comment,
        }
        for suggestion in item_.suggestions
    ]


class Search(ProjectView):
    """`/projects/<slug>/search/`"""

    noun = "trajectories"
    throttle_scope = "costly"

    @extend_schema(
        summary="Search in a project", parameters=[shapes.SearchQuery], responses=shapes.Found(many=True)
    )
    def get(self, request: Request, slug: str) -> Response:
        """The texts of trajectories, notes, reasons, comments, decisions and remarks in which words stand, as
        far as the caller may read them; at most 500 of a kind. What an answer tells of others' judgements is
        noted as seen."""
        project = self.project()
        asked = self.query(shapes.SearchQuery)
        titles = {reason.code: _(reason.title) for reason in REASON_CODES}
        rows = search.search(
            actor=self.user, project=project, words=asked["q"], kind=asked.get("kind", ""), reasons=titles
        )
        part = self.paginate_queryset(rows) or []
        shown = noted_reads.found(actor=self.user, project=project, rows=part)
        return self.get_paginated_response(shapes.Found(shown, many=True).data)
