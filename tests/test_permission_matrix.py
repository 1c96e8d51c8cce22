"""Every address × every role: who gets what. A new address without a row in permission_matrix.txt fails.

In the same round every body, header and cookie is searched for canaries (tests/world.py): strings in other
people's notes, in suggestions, decisions, reference answers, reward hints and raw records. What was shown of
others' judgements is held against what was noted as seen.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib import admin
from django.db import transaction
from django.db.models import Model

from annotation.models import Assignment, Exposure, Trajectory, User
from annotation.reports.judging.suggestions import StepSuggestions, requested_steps, suggestions_for
from tests.addresses import ROUTES, Address, addresses, methods
from tests.callers import PlainClient
from tests.canaries import judgement, words
from tests.fixtures.shared_rows import shared_rows
from tests.ids import Id
from tests.permission_matrix import ROLES, ROWS, TABLE
from tests.release_addresses import published
from tests.sight import sent
from tests.world import PLACES, World, make_world

FOUND = re.compile(r"canary((?:-[a-z]+)+)-7f3a9c")
NOT_OFFERED = {302, 401, 405}
# Whether a method exists at all is no matter of roles: those who may least, something, and most are asked.
ASKED_IN_VAIN = ("nobody", "ann", "root")
# Django's own admin asks of a person only whether they are staff, as superusers are.
ASKED_AT_DJANGOS_ADMIN = {"nobody", "ann", "admin", "root"}
# Where two are answered alike, only the one is asked who could sooner be answered too much: who was a member,
# and not who never was; and what is sent, a superuser, and not one who labels too, and of two annotators who
# has been at nearly everything (pages and lists ask both).
ASKED_FOR = {
    "oscar": ("emil", ("GET", "POST", "PATCH", "DELETE")),
    "rita": ("root", ("POST", "PATCH", "DELETE")),
    "cleo": ("ben", ("POST", "PATCH", "DELETE")),
}


class Browser:
    """One of the cast, signed in (or nobody), who can send anything without anything staying of it."""

    def __init__(self, world: World, who: str) -> None:
        self.world = world
        self.user = None if who == "nobody" else world.people[who]
        self.client = PlainClient(self.user)

    def send(self, address: Address, method: str, url: str = "") -> Any:
        """One request."""
        with transaction.atomic():
            answer = sent(self.client, self.world, address, method, url)
            whole = b"".join(answer.streaming_content) if answer.streaming else answer.content
            # a signature is no text
            text = re.sub("</?mark>", "", whole.decode(errors="replace"))  # what was searched for is marked
            answer.said = f"{answer.headers}\n{answer.cookies.output()}\n{text}"
            answer.unnoted = self.unnoted(met(answer))
            transaction.set_rollback(True)
        return answer

    def unnoted(self, canaries: set[str]) -> set[str]:
        """The canaries that tell of others' judgements, and are not noted as seen by this person."""
        told = {canary: sight for canary in canaries if (sight := judgement(canary, self.user)) is not None}
        if not told:
            return set()
        rows = Exposure.objects.filter(user=self.user).values_list("trajectory", "step__ordinal", "kind")
        noted = set(rows)
        return {
            one
            for one, (place, sights) in told.items()
            if not any((self.world.at[place].pk, *sight) in noted for sight in sights)
        }


def test_address_has_a_row_each() -> None:
    ours = set(ROUTES) - {"admin:None"}  # Django's own redirects
    filled = addresses()
    assert ours == {address.name for address in filled}, "fill it in, in tests/addresses.py"
    keys = {address.key for address in filled}
    assert len(keys) == len(filled)
    assert {key.split()[1] for key in ROWS} <= keys
    for address in filled:
        rows = [f"{method} {address.key}" for method in methods(address)]
        assert any(row in ROWS for row in rows), f"{address.key} needs a row in {TABLE.name}"
    for row, answers in ROWS.items():
        if " admin:" in row:
            others = {who: answers["root" if who == "rita" else "ann"] for who in answers}
            asked = {who: answers[who] for who in ASKED_AT_DJANGOS_ADMIN}
            assert answers == others | asked, row


def test_recheck_answers_its_annotator_as_any_claim_does() -> None:
    """Cleo's is one, ann's is none; what is answered otherwise would tell them apart."""
    rechecked = {row: ROWS[row] for row in ROWS if row.endswith("@cleo-agreed")}
    assert len(rechecked) > 10
    for row, answers in rechecked.items():
        plain = ROWS[row.replace("@cleo-agreed", "@ann-shared")]
        assert answers == {**plain, "ann": plain["cleo"], "cleo": plain["ann"]}, row
    # to have it open is what any annotator may have; the trajectory is resolved, and that must not show
    for act in ("POST frontend:discussion-start", "POST api:discussion-open"):
        assert ROWS[f"{act}@agreed"]["cleo"] == ROWS[f"{act}@held"]["rita"] == 403


# ── What each may come across ─────────────
RECORD = ("question", "message", "reference", "reward", "meta", "stop")


FROZEN = words((*RECORD, "label"), ("agreed", "audited", "settled"))


def _annotator(name: str, *places: str) -> set[str]:
    """Question and messages of what one is or was at, one's own notes; neither reference nor hints."""
    return words(("question", "message", f"note-{name}", f"remark-{name}"), places) | {"description"}


def revealed(who: str, address: Address, method: str) -> set[str]:
    """The suggestions that a person has revealed (tests/world.py), where they are shown again; and the second
    step's, which the request itself reveals. Everything else about suggestions is sealed."""
    if who == "judith" and address.name in ("api:case-reveals", "frontend:adjudication"):
        return {"suggested-second-dispute"}
    if address.name != "api:reveals":
        return set()
    mine = {"suggested-first-shared"} if who == "ann" and method == "GET" else set()
    asked = {"ann-dispute": "suggested-second-dispute", "ben-shared": "suggested-second-shared"}
    if method == "POST" and address.tag.startswith(who) and address.tag in asked:
        return {asked[address.tag]}
    return mine


def corrected(who: str, address: Address) -> set[str]:
    """The canaries of the run that cleo corrects, where she does, and the judge's proposal for it."""
    if who != "cleo" or "correction" not in address.name:
        return set()
    proposed = {"judge", "proposed-settled"} if address.name == "api:correction-proposals" else set()
    return proposed | {"question-settled", "message-settled", "decision-settled", "corrected-cleo-settled"}


def discussed(who: str, address: Address) -> set[str]:
    """The canaries that participants meet in a discussion."""
    places = [
        *("api:discussion", "api:history", "frontend:discussion"),
        "frontend:history",
        *("frontend:search", "api:search"),
    ]
    places += ["frontend:history-export", *["frontend:adjudication"] * (who == "judith")]
    if who not in ("ann", "ben", "judith") or address.name not in places:
        return set()
    said = {f"said-{name}-talked" for name in ("ann", "ben", "judith")}
    return said | {"note-ann-talked", "note-ben-talked", "revised-ann-talked"}


def allowed(who: str, address: Address, method: str) -> set[str] | None:
    """The canaries a person may meet at an address; None: any but those of `never`."""
    link = {"invited"} if address.key == "frontend:invitation@good" else set()
    # whoever opens a link with an id has that from the service
    brought = {"outside"} if address.key == "frontend:crowd-arrival@known" else set()
    if address.name in ("frontend:guidelines", "api:examples") and who not in ("nobody", "oscar", "emil"):
        link |= {"example-settled", "question-settled", "message-settled"}
    judged = ("dispute", "settled", "talked")
    known: dict[str, set[str]] = {
        "nobody": set(),
        "oscar": set(),
        "ann": _annotator("ann", "shared", *judged, "waiting", "agreed", "audited") | {"token-ann"},
        "ben": _annotator(
            "ben", "shared", "theirs", "seen", "held", "left", *judged, "waiting", "agreed", "audited"
        ),
        "cleo": _annotator("cleo", "agreed", "audited", "returned") | {"reason-cleo"},
        "judith": words((*RECORD, "note-ann", "note-ben", "decision", "case", "tag"), judged)
        | {"description", "question-waiting", "question-left"}
        # the trajectory of an audit's case, and nothing that anybody has said of it
        | words(RECORD, ("audited",)),
        "emil": set(),
    }
    link |= published(address, FROZEN) | brought
    if who not in known:
        return None
    known[who] |= revealed(who, address, method) | discussed(who, address) | corrected(who, address)
    if who == "judith" and "release" in address.name:
        return known[who] | FROZEN | {"release-note", "public-note"}
    return known[who] | link


def never(who: str) -> set[str]:
    """The canaries that not even those who see nearly everything may meet."""
    judged = ("suggested-first", "suggested-second", "suggested-outcome", "comment", "asked", "answered")
    sealed = ("reference", "reward", "meta", "stop", "label", "note-ben", *judged)
    held = {"admin": ("seen",), "rita": ("held",)}
    return {"token-ann", "note-cleo-agreed", "note-cleo-audited", "note-emil-audited"} | words(
        sealed, held.get(who, ())
    )


def met(answer: Any) -> set[str]:
    """The canaries in an answer."""
    return {found.removeprefix("-") for found in FOUND.findall(answer.said)}


def strangers(who: str, address: Address, answer: Any, method: str = "GET") -> set[str]:
    """The canaries that should not be there."""
    may = allowed(who, address, method)
    if address.name.startswith("admin:"):
        # nothing that anybody has said of a trajectory, whoever asks
        return {one for one in met(answer) if judgement(one, None) is not None} | (met(answer) & never(who))
    return met(answer) & never(who) if may is None else met(answer) - may


# There is something to meet: each kind of canary can be met by whom it is for.
MET_BY_ROOT = {
    *(f"{kind}-shared" for kind in (*RECORD, "note-ben", "comment", "suggested-outcome")),
    *("said-ben-talked", "revised-ann-talked", "decision-dispute", "suggested-second-free"),
    *("judge", "judge-server", "address", "stop-reason"),
}


@shared_rows
def world() -> World:
    """The project in the middle of everything."""
    made = make_world()
    assert len(PLACES) == made.cast.project.trajectories.filter(live=True).count()
    return made


def is_asked(who: str, method: str, row: str) -> bool:
    """Whether this role is asked it."""
    if row not in ROWS:
        return who in ASKED_IN_VAIN
    if " admin:" in row:
        return who in ASKED_AT_DJANGOS_ADMIN
    other, alike = ASKED_FOR.get(who, ("", ()))
    return method not in alike or ROWS[row][who] != ROWS[row][other]


@pytest.mark.parametrize("who", ROLES)
def test_role_gets_what_the_matrix_says_and_meets_no_canary(world: World, who: str) -> None:
    browser = Browser(world, who)
    wrong, seen = [], set()
    for address in addresses():
        for method in methods(address):
            row = f"{method} {address.key}"
            if not is_asked(who, method, row):
                continue
            answer = browser.send(address, method)
            seen |= met(answer)
            wanted = {ROWS[row][who]} if row in ROWS else NOT_OFFERED
            if method == "GET" and address.name.startswith("frontend:"):
                wanted = wanted - {405}  # a browser would show its own, empty page
            if answer.status_code not in wanted:
                wrong.append(f"{row}: {answer.status_code}, expected {sorted(wanted)}")
            if leaked := strangers(who, address, answer, method):
                wrong.append(f"{row}: shows {sorted(leaked)}")
            # of who is not signed in nothing can be noted
            if answer.unnoted - (published(address, FROZEN) if who == "nobody" else set()):
                wrong.append(f"{row}: shows {sorted(answer.unnoted)}, and nothing is noted")
    assert not wrong, "\n".join(wrong)
    if who == "root":
        assert not MET_BY_ROOT - seen


def ids_of(table: type[Model], user: User) -> list[int]:
    """All ids of a table, and one that nobody has; of others' assignments one of each person and state."""
    ids = sorted(table._default_manager.values_list("pk", flat=True))
    if table is not Assignment:
        return [*ids, ids[-1] + 1]
    rows = Assignment._default_manager.order_by("pk").values_list("annotator", "state", "recheck", "pk")
    kinds = {(who, state, again is None, pk if who == user.pk else 0): pk for who, state, again, pk in rows}
    return [*sorted(kinds.values()), ids[-1] + 1]


def everything_by_id(world: World, user: User) -> Iterator[tuple[Address, str]]:
    """Every address that can be read and has an id, for the ids of its table, but what the matrix asks."""
    done: set[str] = set()
    read = [address for address in addresses() if f"GET {address.key}" in ROWS]
    asked = {address.url(world) for address in read}
    for address in read:
        filling = dict(address.fill(world))
        if not isinstance(filling.get("pk"), int) or address.name in done:
            continue
        done.add(address.name)
        assert isinstance(filling["pk"], Id), address.key
        for number in ids_of(filling["pk"].table, user):
            aimed = Address(
                address.name, lambda _world, at={**filling, "pk": number}: at, "any", address.body
            )
            if (url := aimed.url(world)) not in asked:
                yield aimed, url


@pytest.mark.parametrize("who", ["ann", "judith"])
def test_canary_is_shown_under_no_id_that_one_can_guess(world: World, who: str) -> None:
    browser = Browser(world, who)
    wrong = []
    seen = 0
    for address, url in everything_by_id(world, world.people[who]):
        answer = browser.send(address, "GET", url)
        seen += answer.status_code == 200
        assert answer.status_code < 500, url
        if leaked := strangers(who, address, answer):
            wrong.append(f"{url}: shows {sorted(leaked)}")
    assert not wrong, "\n".join(wrong)
    assert seen


def reveals(world: World, whose: str) -> Address:
    """The address of what somebody has revealed."""
    return next(address for address in addresses() if address.key == f"api:reveals@{whose}")


def test_canary_of_a_step_is_met_by_who_has_revealed_it_and_of_no_other(world: World) -> None:
    browser = Browser(world, "ann")
    assert met(browser.send(reveals(world, "ann-shared"), "GET")) == {"suggested-first-shared"}
    assert met(browser.send(reveals(world, "ann-dispute"), "GET")) == set()
    assert met(browser.send(reveals(world, "ann-dispute"), "POST")) == {"suggested-second-dispute"}


def test_canary_that_is_leaked_on_purpose_is_found(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    def leaky(user: Any, trajectory: Trajectory) -> list[StepSuggestions]:
        everything = requested_steps(
            trajectory=trajectory, message_index=None, outcome=False, everything=True
        )
        return suggestions_for(trajectory=trajectory, steps=everything)

    monkeypatch.setattr("annotation.reports.judging.suggestions.revealed_to", leaky)
    browser = Browser(world, "ann")
    address = reveals(world, "ann-shared")

    answer = browser.send(address, "GET")

    assert strangers("ann", address, answer) == {"suggested-second-shared", "suggested-outcome-shared"}


def test_sight_that_is_not_noted_is_found(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("annotation.services.exposures.note", lambda **_what: set())
    address = next(address for address in addresses() if address.key == "frontend:trajectory@shared")

    unnoted = Browser(world, "root").send(address, "GET").unnoted

    assert {"note-ben-shared", "suggested-first-shared", "comment-shared"} <= unnoted


@pytest.mark.parametrize(
    "asked",
    [
        "user/?assignments__labels__value=1",
        "user/?assignments__outcome__value__gte=0",
        "user/?assignments__return_reason__startswith=c",
        "project/?trajectories__consensus__value=1",
        "project/?assignments__id=1",
        "suggestionrun/?judge__suggestions__outcome=1",
        "importfile/?trajectories__suggestions__outcome=-1",
        "auditevent/?project__trajectories__free_slots=0",
    ],
)
def test_admin_of_django_filters_by_nothing_that_was_said(world: World, asked: str) -> None:
    answer = Browser(world, "root").send(Address("admin:index"), "GET", f"/admin/annotation/{asked}")
    assert answer.status_code == 400


def test_admin_of_django_has_no_model_that_holds_a_judgement() -> None:
    held = {model.__name__ for model in admin.site._registry if model._meta.app_label == "annotation"}
    jobs = {"ImportFile", "Freeze", "PromptSet", "SuggestionRun"}
    assert held == {"User", "Project", "Membership", *jobs, "AuditEvent"}
