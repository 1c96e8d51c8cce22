"""Child processes that never outlive their parent."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO

PR_SET_PDEATHSIG = 1


def die_with_parent(sign: signal.Signals) -> Callable[[], None] | None:
    """For `Popen(preexec_fn=…)`: the kernel sends `sign` when the parent is gone, even by SIGKILL.

    Only Linux knows this; elsewhere None, and an orderly stop is all there is.
    """
    if not sys.platform.startswith("linux"):
        return None
    libc = ctypes.CDLL(None, use_errno=True)

    def set_signal() -> None:
        libc.prctl(PR_SET_PDEATHSIG, int(sign), 0, 0, 0)

    return set_signal


def spawn(
    command: Sequence[str | Path],
    *,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    output: IO[bytes] | int | None = None,
    user: int | None = None,
    group: int | None = None,
    orphan_signal: signal.Signals = signal.SIGTERM,
) -> subprocess.Popen[bytes]:
    """Start `command` in a process group of its own, so that a terminal's Ctrl-C reaches its parent only.

    `output` takes stdout and stderr (default: the parent's own).
    """
    return subprocess.Popen(
        [os.fspath(part) for part in command],
        env=None if env is None else dict(env),
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=output,
        user=user,
        group=group,
        extra_groups=[] if user is not None else None,
        start_new_session=True,
        preexec_fn=die_with_parent(orphan_signal),
    )


def stop(child: subprocess.Popen[bytes], *, grace: float, sign: signal.Signals = signal.SIGTERM) -> bool:
    """Ask `child` to stop, wait `grace` seconds, then kill its group. True when it stopped by itself."""
    if child.poll() is not None:
        return True
    with contextlib.suppress(ProcessLookupError):
        child.send_signal(sign)
    try:
        child.wait(timeout=grace)
        return True
    except subprocess.TimeoutExpired:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)
        child.wait()
        return False
