#!/bin/sh
# Restart the web servers one after the other, each once the one before answers again, and then the workers: nobody
# waits as long as there are two web servers (docs/machines.md, "A rolling restart").
set -eu
cd "$(dirname "$0")/.."
for container in $(docker compose ps --quiet web); do
    docker restart --time 30 "$container" >/dev/null
    tries=60
    until [ "$(docker inspect --format '{{.State.Health.Status}}' "$container")" = healthy ]; do
        tries=$((tries - 1))
        [ "$tries" -gt 0 ] || { echo "$container does not answer; the others run as before." >&2; exit 1; }
        sleep 2
    done
done
docker compose restart --timeout 60 worker
