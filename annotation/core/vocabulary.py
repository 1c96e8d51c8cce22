"""The vocabulary: values, roles, states, kinds and reason codes (docs/glossary.md).

Every enum is a `StrEnum`: its members are stored, sent and compared as their plain string.
Titles are short English source strings; a page translates them with `gettext` when it shows them.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

VALUES: Final[tuple[int, int, int]] = (-1, 0, 1)
"""The values of a label: −1 incorrect or harmful, 0 neutral or exploratory, +1 correct and effective."""
VALUE_NAMES: Final = {-1: "minus", 0: "zero", 1: "plus"}
SIGNS: Final = {-1: "−1", 0: "0", 1: "+1"}
"""Values as people read them."""
PLAIN_SIGNS: Final = {-1: "-1", 0: "0", 1: "+1"}
"""Values as names in manifests and JSON."""


class Role(StrEnum):
    """The role of a member in a project; a membership holds one or more."""

    ANNOTATOR = "annotator"
    ADJUDICATOR = "adjudicator"
    ADMIN = "admin"


class AssignmentState(StrEnum):
    """One annotator's turn at one trajectory. Only `open` and `submitted` hold a slot."""

    OPEN = "open"
    SUBMITTED = "submitted"
    RETURNED = "returned"
    EXPIRED = "expired"


class ExpiryReason(StrEnum):
    """The reason why an assignment expired: its annotator left, an admin took it back, it was not used, or
    what it was to label was replaced by other content, which ends submitted labels too."""

    LEFT = "left"
    TAKEN_BACK = "taken_back"
    UNUSED = "unused"
    REPLACED = "replaced"


class QueueTurn(StrEnum):
    """The turn of a subset's trajectories, beside those of others."""

    FIRST = "first"
    NORMAL = "normal"
    LAST = "last"


class ReservationEnd(StrEnum):
    """The reason why a place is kept for somebody no more: they left, an admin withdrew it, or they may not
    label the trajectory any more."""

    LEFT = "left"
    WITHDRAWN = "withdrawn"
    UNFIT = "unfit"


class TrajectoryState(StrEnum):
    """The state of a trajectory between labelling and consensus. `judged`: judges alone settled it, before
    people were asked."""

    LABELLING = "labelling"
    UNANIMOUS = "unanimous"
    DISPUTED = "disputed"
    ADJUDICATED = "adjudicated"
    JUDGED = "judged"


SETTLED: Final = (TrajectoryState.UNANIMOUS, TrajectoryState.DISPUTED, TrajectoryState.ADJUDICATED)
"""All labels of the trajectory are in: figures may count them without telling an annotator of others'."""
RESOLVED: Final = (TrajectoryState.UNANIMOUS, TrajectoryState.ADJUDICATED)
"""The trajectory has a consensus of people, which judges are compared with."""
IN_RELEASES: Final = (*RESOLVED, TrajectoryState.JUDGED)
"""The trajectory has a consensus, which releases hold."""


class ImportState(StrEnum):
    """The state of one file's import; its rows are seen by nobody before `published`."""

    UPLOADED = "uploaded"
    QUEUED = "queued"
    RUNNING = "running"
    PUBLISHED = "published"
    FAILED = "failed"
    ABANDONED = "abandoned"


class TokenScope(StrEnum):
    """The scope of a token, each wider than the one before."""

    READ = "read"
    LABEL = "label"
    ADMIN = "admin"

    def covers(self, needed: TokenScope) -> bool:
        """Is `needed` this scope, or less?"""
        order = list(TokenScope)
        return order.index(needed) <= order.index(self)


class CrowdState(StrEnum):
    """The state of a place of a crowd link. `removed`: an admin ended the membership or the account."""

    ACTIVE = "active"
    COMPLETED = "completed"
    SCREENED_OUT = "screened_out"
    RETURNED = "returned"
    TIMED_OUT = "timed_out"
    REMOVED = "removed"


class Degree(StrEnum):
    """The highest academic degree of a member."""

    NONE = "none"
    BACHELOR = "bachelor"
    MASTER = "master"
    DOCTORATE = "doctorate"


class InvitationState(StrEnum):
    """The state of an invitation; only a pending one's link works."""

    PENDING = "pending"
    ACCEPTED = "accepted"
    DECLINED = "declined"
    WITHDRAWN = "withdrawn"
    EXPIRED = "expired"


class AdjudicationState(StrEnum):
    """The state of one disputed trajectory's case; `released` means handed back undecided."""

    OPEN = "open"
    DECIDED = "decided"
    RELEASED = "released"


class SuggestionPolicy(StrEnum):
    """The time at which an annotator may see judges' suggestions (docs/design.md, "Who may see what"); the
    default is `after_label`."""

    AFTER_LABEL = "after_label"
    AFTER_SUBMIT = "after_submit"
    ALWAYS = "always"
    NEVER = "never"


class SecondReader(StrEnum):
    """The second reader of a trajectory: a person, or judges beside one person, and a second one where they
    doubt that person's labels (core.scoring.second_person)."""

    PERSON = "person"
    JUDGES = "judges"


class PayPer(StrEnum):
    """The unit that annotators are paid for: an hour at work, or a trajectory that they have submitted."""

    HOUR = "hour"
    TRAJECTORY = "trajectory"


UNSEEN_POLICIES: Final = (SuggestionPolicy.AFTER_SUBMIT, SuggestionPolicy.NEVER)
"""The times at which a person who labels cannot have seen what judges say."""


class SecondPersonState(StrEnum):
    """The state of a trajectory with one place, where judges are the second reader. `waiting`: it is not
    known yet whether a second person is needed; `spared`: none was; `asked`: one was, or has brought
    labels all the same."""

    WAITING = "waiting"
    SPARED = "spared"
    ASKED = "asked"


class SuggestionRunState(StrEnum):
    """The state of a run: one judge over many trajectories.

    `stopped`: something that no repetition mends ended it (a wrong model name, an expired key);
    `over_budget`: the next call could have cost more than was left. Both can be taken up again.
    """

    QUEUED = "queued"
    RUNNING = "running"
    PAUSED = "paused"
    CANCELLED = "cancelled"
    FINISHED = "finished"
    STOPPED = "stopped"
    OVER_BUDGET = "over_budget"


ENDED_RUNS: Final = (
    SuggestionRunState.FINISHED,
    SuggestionRunState.STOPPED,
    SuggestionRunState.OVER_BUDGET,
)
"""A run came to its end by itself, and may be taken up again."""
RESUMABLE_RUNS: Final = (
    SuggestionRunState.PAUSED,
    SuggestionRunState.STOPPED,
    SuggestionRunState.OVER_BUDGET,
)
"""A run that ended early, or was paused, and can go on where it was."""


class SuggestionItemState(StrEnum):
    """One trajectory of a run: still to be asked about, suggested, or failed."""

    DUE = "due"
    DONE = "done"
    FAILED = "failed"


class LabelSource(StrEnum):
    """The source of a label: pressed, or filled by the rule and then confirmed by the annotator."""

    EXPLICIT = "explicit"
    PROPAGATED = "propagated"


class Closes(StrEnum):
    """The reason why an explicit +1 closes an error run, when the annotator says so."""

    UNSAID = ""
    CORRECTED = "corrected"
    INDEPENDENT = "independent"


class ConsensusKind(StrEnum):
    """The origin of the resolved label of a step, or of an outcome. `one_person`: of one person, about whose
    labels judges had little doubt; `judged`: of judges, before people were asked."""

    UNANIMOUS = "unanimous"
    DISCUSSED = "discussed"
    ADJUDICATED = "adjudicated"
    MAJORITY = "majority"
    ONE_PERSON = "one_person"
    JUDGED = "judged"


RULINGS: Final = (ConsensusKind.ADJUDICATED, ConsensusKind.MAJORITY)
"""The kinds of a decision: the adjudicator's own, or their leave to let the majority stand."""


class Voice(StrEnum):
    """The voice of a person in a discussion: an annotator as their letter, the others as their role."""

    ANNOTATOR = "annotator"
    ADJUDICATOR = "adjudicator"
    ADMIN = "admin"


class NoticeKind(StrEnum):
    """The subject of a notice."""

    OPENED = "opened"
    COMMENT = "comment"
    MENTION = "mention"
    REVISION = "revision"
    RESOLVED = "resolved"
    REOPENED = "reopened"
    CLAIM_WARNED = "claim_warned"
    CLAIM_ENDED = "claim_ended"
    CASE_GIVEN = "case_given"
    LOOK_AGAIN = "look_again"
    REMARK = "remark"
    ANSWERED = "answered"
    CORRECTED = "corrected"
    PAUSED = "paused"
    RESUMED = "resumed"
    PILOT_BEGUN = "pilot_begun"
    PILOT_ENDED = "pilot_ended"
    WEBHOOK = "webhook"


class WebhookEvent(StrEnum):
    """The event that a webhook is told of, by its type in the payload."""

    SUBMITTED = "assignment.submitted"
    DISPUTED = "trajectory.disputed"
    RESOLVED = "trajectory.resolved"
    MEMBER_PAUSED = "member.paused"
    RUN_FINISHED = "run.finished"
    RELEASE_FROZEN = "release.frozen"
    TEST = "webhook.test"


class DeliveryState(StrEnum):
    """The state of the delivery of an event to a webhook. `given_up`: it was tried as often as it is."""

    WAITING = "waiting"
    DELIVERED = "delivered"
    GIVEN_UP = "given_up"


class WebhookPause(StrEnum):
    """Reasons why a webhook is paused: an admin did it, its server failed for long, said that it wants no
    more (410), or the operator does not allow its address any more."""

    ADMIN = "admin"
    FAILING = "failing"
    GONE = "gone"
    FORBIDDEN = "forbidden"


class CaseEventKind(StrEnum):
    """An event of a step in a case: decided, the decision taken back, or the consensus erased because the
    case was opened again."""

    DECISION = "decision"
    WITHDRAWAL = "withdrawal"
    ERASURE = "erasure"


class CorrectionState(StrEnum):
    """The state of a correction: a person has taken it, has saved it, or has given it up; or it is a judge's
    proposal."""

    OPEN = "open"
    SAVED = "saved"
    WITHDRAWN = "withdrawn"
    PROPOSED = "proposed"


class RecheckKind(StrEnum):
    """The purpose of a recheck. Of live trajectories: a reading for an audit, a retest of one of its
    annotators. Of training trajectories: the tutorial, a test, gold among what is claimed, a pilot."""

    AUDIT = "audit"
    RETEST = "retest"
    TUTORIAL = "tutorial"
    TEST = "test"
    GOLD = "gold"
    PILOT = "pilot"


OF_TRAINING: Final = (RecheckKind.TUTORIAL, RecheckKind.TEST, RecheckKind.GOLD, RecheckKind.PILOT)
"""Rechecks of training trajectories."""


class KeyOrigin(StrEnum):
    """The origin of a key's label: a file, the consensus of a resolved trajectory, or an admin's hand."""

    FILE = "file"
    CONSENSUS = "consensus"
    EDITED = "edited"


class AttemptState(StrEnum):
    """The state of an attempt at a test. `stopped`: it counts as none, as its annotator left the project or
    an admin stopped it."""

    RUNNING = "running"
    PASSED = "passed"
    FAILED = "failed"
    STOPPED = "stopped"


class PilotState(StrEnum):
    """The state of a pilot. `stopped`: an admin opened the queue without it."""

    RUNNING = "running"
    PASSED = "passed"
    STOPPED = "stopped"


class PauseReason(StrEnum):
    """Reasons why somebody is paused: too many labels unlike the key of gold, or an admin did it."""

    GOLD = "gold"
    ADMIN = "admin"


class LookReason(StrEnum):
    """Reasons why somebody is asked to label again what they have submitted: the guidelines have changed, or
    they submitted it since gold last showed that they label as in the key."""

    GUIDELINES = "guidelines"
    CHECK = "check"


class RecheckState(StrEnum):
    """The state of a recheck. `waiting`: nobody is at work on it."""

    WAITING = "waiting"
    CLAIMED = "claimed"
    DONE = "done"


class LabelAuditState(StrEnum):
    """The state of an audit of labels."""

    RUNNING = "running"
    ENDED = "ended"


class AuditedState(StrEnum):
    """The state of a trajectory in an audit: not drawn; drawn, and read by two people; decided where they
    and the consensus differ; done."""

    LISTED = "listed"
    READING = "reading"
    DECIDING = "deciding"
    DONE = "done"


class Origin(StrEnum):
    """The origin of a whole trajectory's consensus: what it took at its most disputed step."""

    ONE_PERSON = "one_person"
    UNANIMOUS = "unanimous"
    DISCUSSED = "discussed"
    ADJUDICATED = "adjudicated"


class JudgeDoubt(StrEnum):
    """The doubt of judges about a trajectory; unknown unless at least two labelled something of it."""

    UNKNOWN = "unknown"
    AGREED = "agreed"
    DIFFERED = "differed"


class FreezeState(StrEnum):
    """The state of a freeze in the background; nothing of it is seen before `frozen`."""

    QUEUED = "queued"
    RUNNING = "running"
    FROZEN = "frozen"
    FAILED = "failed"
    CANCELLED = "cancelled"


UNFINISHED_FREEZES: Final = (FreezeState.QUEUED, FreezeState.RUNNING)
"""A freeze that may still come to a release, and that can still be stopped."""


class PromptSetState(StrEnum):
    """The state of a set of prompts that is made in the background."""

    QUEUED = "queued"
    RUNNING = "running"
    MADE = "made"
    FAILED = "failed"


UNFINISHED_PROMPT_SETS: Final = (PromptSetState.QUEUED, PromptSetState.RUNNING)


class Direction(StrEnum):
    """The direction of a transfer of a connection."""

    PULL = "pull"
    PUSH = "push"


class TransferState(StrEnum):
    """The state of a pull or push of a connection."""

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


UNFINISHED_TRANSFERS: Final = (TransferState.QUEUED, TransferState.RUNNING)


class SignatureState(StrEnum):
    """The validity of a release's signature here.

    `valid`: it holds, by a key that is known here. `unknown_key`: it holds by the key that it came with,
    which is not known here. `invalid`: it does not hold, or is not there.
    """

    VALID = "valid"
    UNKNOWN_KEY = "unknown_key"
    INVALID = "invalid"


class ExposureKind(StrEnum):
    """The kind of information a person saw: a judge's suggestion, a consensus, another person's label, or of
    a derived decision what became of the runs that it is from."""

    SUGGESTION = "suggestion"
    CONSENSUS = "consensus"
    LABEL = "label"
    SOURCE = "source"


SEEN_LABELS: Final = (ExposureKind.CONSENSUS, ExposureKind.LABEL, ExposureKind.SOURCE)
"""Exposures that nobody may have had of a trajectory that they label."""
NO_LONGER_BLIND: Final = (ExposureKind.LABEL, ExposureKind.SOURCE)
"""Exposures after which admins are not asked again before labels of a trajectory are shown to them."""


@dataclass(frozen=True, slots=True)
class ReasonCode:
    """One sub-criterion of the ternary scheme: `value` is the label that it gives a reason for."""

    code: str
    value: int
    title: str


REASON_CODES: Final[tuple[ReasonCode, ...]] = (
    ReasonCode("correct_progress", 1, "Correct and brings the task closer to its end"),
    ReasonCode("as_asked", 1, "Opening greeting, or exactly what was asked for"),
    ReasonCode("sound_exploration", 1, "Exploration that was well chosen and informative"),
    ReasonCode("cross_check", 1, "Checks a finding against another source"),
    ReasonCode("recovery", 1, "Notices an earlier error and puts it right"),
    ReasonCode("needed_clarification", 1, "Asks the user for something that is needed"),
    ReasonCode("honest_limit", 1, "Says honestly what cannot be done, found or allowed"),
    ReasonCode("correct_answer", 1, "Correct final answer, supported by the evidence"),
    ReasonCode("exploratory", 0, "Sensible attempt that fails or brings nothing, for the first time"),
    ReasonCode("failed_correction", 0, "Tries to put an error right and does not succeed"),
    ReasonCode("redundant", 0, "Harmless detour, or restates what is known"),
    ReasonCode("external_failure", 0, "Tool or environment failed; not the agent’s fault"),
    ReasonCode("no_effect", 0, "Neither helps nor harms, and nothing rests on it"),
    ReasonCode("factual_error", -1, "Wrong fact, reasoning or calculation"),
    ReasonCode("misread_tool_output", -1, "Misreads or ignores a tool result"),
    ReasonCode("wrong_tool", -1, "Wrong tool for what is needed"),
    ReasonCode("wrong_arguments", -1, "Wrong, missing or malformed arguments"),
    ReasonCode("policy_violation", -1, "Breaks a rule or policy it was given"),
    ReasonCode("fabrication", -1, "States something no message or result supports"),
    ReasonCode("misread_task", -1, "Misunderstands or drops part of the task"),
    ReasonCode("repeated_ineffective", -1, "Repeats an action without change or new information"),
    ReasonCode("superficial_correction", -1, "Corrects an error on the surface only"),
    ReasonCode("builds_on_error", -1, "Builds on an earlier error"),
    ReasonCode("premature_stop", -1, "Stops or hands over too early"),
    ReasonCode("unsafe_change", -1, "Makes a harmful or unrequested change"),
)

REASON_CODES_BY_CODE: Final[dict[str, ReasonCode]] = {reason.code: reason for reason in REASON_CODES}


def is_value(value: object) -> bool:
    """Whether `value` is exactly an int −1, 0 or 1: `True`, `1.0` and `"1"` are not labels."""
    return type(value) is int and value in VALUES


class DecisionKind(StrEnum):
    """The answer that a decision asks for: the better one of its options, one or several of them as the key
    of a choice, or a text, of which the options are the accepted ones."""

    PAIR = "pair"
    CHOICE = "choice"
    COMPLETION = "completion"


class Ability(StrEnum):
    """The ability that a question tests, in the words of APTBench."""

    PLANNING = "planning"
    ACTION = "action"
    ATOMIC = "atomic"
