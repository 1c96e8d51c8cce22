"""Do runs in threads beside the worker's pool, because a run takes hours and imports must not wait for it."""

import logging
import threading
import time
from datetime import timedelta

from django.conf import settings
from django.db import connections
from django.utils import timezone

from annotation import dispatch
from annotation.core.vocabulary import SuggestionRunState
from annotation.models import SuggestionRun

from .runner import run_suggestions

log = logging.getLogger(__name__)

STOP_SECONDS = 20.0
# A run that found no free place is offered to the other workers after this.
OFFERED_AGAIN = timedelta(seconds=10)
_stopping = threading.Event()
_lock = threading.Lock()
_running: dict[int, threading.Thread] = {}


def begin(run_id: int) -> bool:
    """Do a run in a thread of its own; False when this process has enough to do, or has this run already.

    What was not begun stays queued: a run that ends here is followed by the next, and the reaper looks too.
    """
    with _lock:
        if not (_stopping.is_set() or run_id in _running or len(_running) >= settings.JUDGE_RUNS):
            thread = threading.Thread(target=_work, args=(run_id,), name=f"run-{run_id}", daemon=True)
            _running[run_id] = thread
            thread.start()
            return True
    waiting = SuggestionRun.objects.filter(pk=run_id, state=SuggestionRunState.QUEUED)
    waiting.update(resend_at=timezone.now() + OFFERED_AGAIN)
    return False


def ask_to_stop() -> None:
    """Have every run of this process hand itself on; returns at once."""
    _stopping.set()


def wait_until_stopped(seconds: float = STOP_SECONDS) -> bool:
    """Wait for the runs of this process; False when some did not end in time."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        with _lock:
            thread = next(iter(_running.values()), None)
        if thread is None:
            return True
        thread.join(max(0.0, min(0.1, deadline - time.monotonic())))
    return False


def ready() -> None:
    """This process takes runs (again)."""
    _stopping.clear()


def _work(run_id: int) -> None:
    current: int | None = run_id
    try:
        while current is not None:
            run = run_suggestions(run_id=current, stopping=_stopping)
            if run.selection.get("release") or run.prompts_id is not None:
                # whoever started it wants the judge scored on that release
                dispatch.send("score_run", run.pk)
            current = _next(current)
    except Exception:
        # the row keeps its lease until that runs out, and then the reaper queues it again
        log.exception("a run broke off")
    finally:
        with _lock:
            for pk in [pk for pk, thread in _running.items() if thread is threading.current_thread()]:
                del _running[pk]
        connections.close_all()


def _next(ended: int) -> int | None:
    """A run that waits for a free place takes the one that has become free."""
    if _stopping.is_set():
        return None
    waiting = SuggestionRun.objects.filter(
        state=SuggestionRunState.QUEUED, lease_until__isnull=True, not_before__isnull=True
    )
    for pk in waiting.order_by("created_at", "pk").values_list("pk", flat=True)[: settings.JUDGE_RUNS]:
        with _lock:
            if pk not in _running:
                del _running[ended]
                _running[pk] = threading.current_thread()
                return pk
    return None
