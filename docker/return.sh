#!/bin/sh
# Go back to what was before the last docker/upgrade.sh: its image, and its backup in a new database. What the newer
# version has written stays in the old one, under another name (docs/operations.md, "Upgrading").
set -eu
cd "$(dirname "$0")/.."
read -r tag backup < backups/last || { echo "backups/last names no upgrade to go back from." >&2; exit 1; }
gzip --test "$backup"
aside="tristep_$(date -u +%Y%m%dT%H%M%SZ)"

docker compose stop --timeout 60 web worker
docker compose exec -T postgres psql --username tristep --dbname postgres --set ON_ERROR_STOP=1 \
    --command "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'tristep'" \
    --command "ALTER DATABASE tristep RENAME TO \"$aside\"" \
    --command "CREATE DATABASE tristep ENCODING 'UTF8'"
docker compose exec -T postgres sh /docker-entrypoint-initdb.d/10-roles.sh

grep -v '^TRISTEP_TAG=' .env > .env.new || true
printf 'TRISTEP_TAG=%s\n' "$tag" >> .env.new
cat .env.new > .env
rm .env.new
docker compose run --rm --no-deps --no-TTY migrate
docker compose run --rm --no-deps --no-TTY worker sh -c \
    'file=/data/.return.tar.gz; cat > $file && python manage.py restore $file; done=$?; rm -f $file; exit $done' < "$backup"
docker compose "$@" up --detach --wait --no-build --remove-orphans
echo "Back at tristep:$tag. What the newer version wrote stands in the database $aside." >&2
