"""The history of a step: everything that happened to it, for each as far as they may see it."""

from __future__ import annotations

from annotation.models import Adjudication, Discussion, Exposure, Step, Trajectory, User
from annotation.services import adjudicate, sights
from tests.people import Cast
from tests.services.talking import letter_of, revise, say


def seen(user: User, case: Adjudication) -> list[tuple[str, str, int | None]]:
    """(kind, letter, value) of the second step's history."""
    row = Trajectory.objects.select_related("project", "subset", "task").get(pk=case.trajectory_id)
    step = Step.objects.get(trajectory=row, message_index=4)
    entries = sights.history(actor=user, trajectory=row, step=step)
    return [(one.kind, one.letter, one.value) for one in entries]


def test_history_is_ones_own_then_that_of_the_discussion_and_all_of_it_once_resolved(
    cast: Cast, disputed_case: Adjudication, talk: Discussion
) -> None:
    ann, ben = (letter_of(user, talk) for user in (cast.ann, cast.ben))
    say(cast.ben, talk)
    revise(cast.ann, talk, 4, 0)
    decision = {"actor": cast.judith, "adjudication": disputed_case, "value": -1}
    adjudicate.decide(**decision, message_index=4, note="Read it again.")
    said = [("comment", ben, None), ("revision", ann, 0)]
    own, other = ("save", ann, 1), ("save", ben, -1)

    assert seen(cast.ann, disputed_case) == [own, *said]
    assert seen(cast.judith, disputed_case) == [own, other, *said, ("decision", "", -1)]
    adjudicate.decide(**decision, message_index=None)
    adjudicate.close_case(actor=cast.judith, adjudication=disputed_case)
    whole = [own, other, *said, ("decision", "", -1), ("resolved", "", -1)]
    for reader in (cast.ann, cast.judith, cast.admin):
        assert seen(reader, disputed_case) == whole
    assert Exposure.objects.filter(user=cast.ann, kind="consensus").exists()


def test_history_names_people_to_admins_alone(
    cast: Cast, disputed_case: Adjudication, talk: Discussion
) -> None:
    say(cast.ben, talk)
    row = Trajectory.objects.select_related("project", "subset", "task").get()
    step = Step.objects.get(message_index=4)
    for user, names in ((cast.admin, {"Ann", "Ben"}), (cast.judith, {""}), (cast.ann, {""})):
        assert {one.name for one in sights.history(actor=user, trajectory=row, step=step)} == names


def test_history_without_a_discussion_is_ones_own(cast: Cast, disputed_case: Adjudication) -> None:
    assert [kind for kind, _, _ in seen(cast.ann, disputed_case)] == ["save"]
    assert not Exposure.objects.filter(user=cast.ann).exists()
