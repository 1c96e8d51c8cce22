#!/bin/sh
# Bring in the version that is checked out: the old one stops before the database changes (docs/operations.md).
set -eu
cd "$(dirname "$0")/.."
docker compose build
docker compose stop --timeout 60 web worker
docker compose "$@" up --detach --wait --remove-orphans
