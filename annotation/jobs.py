"""Celery tasks, thin: each claims a row by a guarded UPDATE in its service, and is safe to deliver twice."""

import logging
import uuid

from celery import shared_task
from celery.signals import worker_init, worker_shutdown, worker_shutting_down
from django.db import close_old_connections

from annotation.core.errors import ImportRefused, TristepError
from annotation.services import (
    asking,
    audit,
    claim_expiry,
    connections,
    derive,
    evaluate,
    ingest,
    kept_figures,
    label,
    label_audits,
    notices,
    projects,
    rechecks,
    release,
    second_person,
    shares,
    suggest,
    training,
    webhooks,
)
from annotation.services.suggest import background

log = logging.getLogger(__name__)


@shared_task(name="annotation.run_import")
def run_import(source_id: int) -> None:
    """Import a received file, or derive what was asked for; what is wrong with it stands in its row."""
    try:
        derive.run_import(source_id=source_id, resumable=True)
    except ImportRefused as refused:
        log.info("import %s refused: %s errors", source_id, refused.report.get("count"))
    except TristepError as stopped:
        log.info("import %s stopped: %s", source_id, stopped.code)
    finally:
        close_old_connections()


@shared_task(name="annotation.run_freeze")
def run_freeze(job_id: int) -> None:
    """Freeze a release that was asked for; what keeps it from that stands in its row."""
    try:
        release.run_freeze(job_id=job_id)
    finally:
        close_old_connections()


@shared_task(name="annotation.run_transfer")
def run_transfer(transfer_id: int) -> None:
    """Pull from an outside server or push to it; how it went stands in its row."""
    try:
        connections.run_transfer(transfer_id=transfer_id)
    finally:
        close_old_connections()


@shared_task(name="annotation.run_prompts")
def run_prompts(set_id: int) -> None:
    """Make the prompts that were asked for; what keeps it from that stands in their row."""
    try:
        asking.run_prompts(set_id=set_id)
    finally:
        close_old_connections()


@shared_task(name="annotation.run_suggestions")
def run_suggestions(run_id: int) -> None:
    """Begin a judge's run beside the worker's pool; how it goes stands in its row."""
    try:
        background.begin(run_id)
    finally:
        close_old_connections()


@shared_task(name="annotation.score_run")
def score_run(run_id: int) -> None:
    """Take what a run for a release has brought as predictions of that release."""
    try:
        evaluate.score_run(run_id=run_id)
    except TristepError as stopped:
        log.info("run %s is not scored: %s", run_id, stopped.code)
    finally:
        close_old_connections()


@shared_task(name="annotation.fit_release")
def fit_release(release_id: str) -> None:
    """Fit what the leaderboard of a release shows beside its models."""
    try:
        evaluate.fit_release(release_id=uuid.UUID(release_id))
    except TristepError as stopped:
        log.info("release %s is not fitted: %s", release_id, stopped.code)
    finally:
        close_old_connections()


@shared_task(name="annotation.fit_recalibration")
def fit_recalibration(judge_id: int) -> None:
    """Fit what is shown beside the labels of a judge whose recalibration is switched on."""
    try:
        suggest.fit_recalibration(judge_id=judge_id)
    finally:
        close_old_connections()


@shared_task(name="annotation.second_person")
def look_at_second_person(project_id: int) -> None:
    """Decide what one person has submitted where judges are the second reader."""
    try:
        second_person.look_at(project_id=project_id)
    finally:
        close_old_connections()


@shared_task(name="annotation.renew_figures")
def renew_figures(row_id: int) -> None:
    """Work figures out anew that somebody has seen to be old."""
    try:
        kept_figures.renew(row_id=row_id)
    finally:
        close_old_connections()


@worker_init.connect
def _take_runs(**_: object) -> None:
    background.ready()


@worker_shutting_down.connect
def _hand_runs_on(**_: object) -> None:
    background.ask_to_stop()


@worker_shutdown.connect
def _wait_for_runs(**_: object) -> None:
    background.wait_until_stopped()


@shared_task(name="annotation.deliver_webhook")
def deliver_webhook(webhook_id: int) -> None:
    """Send to a webhook what is due; how it went stands in the rows of its deliveries."""
    try:
        webhooks.deliver(webhook_id=webhook_id)
    finally:
        close_old_connections()


@shared_task(name="annotation.mail_notices")
def mail_notices() -> None:
    """Send the mails that notices are due."""
    try:
        notices.mail_due()
    finally:
        close_old_connections()


@shared_task(name="annotation.reap")
def reap() -> None:
    """See to jobs whose worker died, to what was never sent, to claims that nobody uses, and chain the audit
    log."""
    try:
        ingest.reap()
        suggest.reap()
        projects.sweep_places()
        claim_expiry.sweep()
        shares.reservations.sweep()
        rechecks.sweep()
        training.sweep()
        training.sweep_pilots()
        label_audits.sweep()
        second_person.sweep()
        label.sweep_half_imports()
        label.sweep_looks()
        suggest.sweep_half_imports()
        suggest.sweep_recalibrations()
        evaluate.sweep_runs()
        release.reap()
        release.sweep_staged()
        asking.reap()
        connections.reap()
        evaluate.sweep_unfitted()
        webhooks.sweep()
        notices.mail_due()
        kept_figures.sweep()
        audit.chain()
    finally:
        # a connection that broke must not be met again in the next round
        close_old_connections()
