"""Settings of gunicorn; `--bind` is given on the command line."""

import contextlib
import resource
from pathlib import Path
from typing import Any

from gunicorn.glogging import Logger

from config.env import Env
from config.logs import OneLine


class ServerLog(Logger):
    """gunicorn's own log lines in the format of the others."""

    def setup(self, cfg: Any) -> None:
        super().setup(cfg)
        for logger in (self.error_log, self.access_log):
            for handler in logger.handlers:
                handler.setFormatter(OneLine())


_env = Env()

# Each visitor needs a file descriptor; many systems give a process 1,024 unless it asks for more.
_soft, _hard = resource.getrlimit(resource.RLIMIT_NOFILE)
if _soft != resource.RLIM_INFINITY and _soft < 4096:
    _more = 4096 if _hard == resource.RLIM_INFINITY else min(4096, _hard)
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(_soft, _more), _hard))

wsgi_app = "config.wsgi"
# Once, before the processes are forked, which then share the memory of what is loaded.
preload_app = True
# Slow visitors cost it nothing but a connection: see there for the limits of time.
worker_class = "config.server.worker.Worker"
# Visitors at a time in one process; with more, who has waited longest goes.
worker_connections = 500
workers = _env.number("TRISTEP_WEB_PROCESSES", 2, minimum=1)
threads = _env.number("TRISTEP_WEB_THREADS", 8, minimum=1)
# A browser keeps its connection between two labels.
keepalive = 75
# Uploads are large and exports are streamed; the thread pool answers the heartbeat meanwhile.
timeout = 120
# Pieces that are sent one by one can be timed; a whole file cannot.
sendfile = False
graceful_timeout = 20
# The heartbeat file must not wait for a slow disk.
worker_tmp_dir = "/dev/shm" if Path("/dev/shm").is_dir() else None
control_socket_disable = True
limit_request_line = 8190
limit_request_fields = 64


def on_starting(server: Any) -> None:
    """Once, before the processes are forked: begin only with a bucket that can be used."""
    from config.bucket import check as bucket_check

    if sentence := bucket_check.problem():
        raise SystemExit(sentence)


logger_class = ServerLog
accesslog = "-" if _env.flag("TRISTEP_ACCESS_LOG") else None
# Paths without their query: what people search for may be trajectory text.
access_log_format = "%(m)s %(U)s %(s)s %(B)s bytes %(M)s ms"
