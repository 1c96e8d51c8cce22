#!/bin/sh
# Bring in the version that is checked out: a backup first, the old image kept beside the new one, and the old server
# stopped before the database changes. docker/return.sh goes back (docs/operations.md, "Upgrading").
set -eu
cd "$(dirname "$0")/.."
now=$(date -u +%Y%m%dT%H%M%SZ)
version=$(sed -n 's/^version = "\(.*\)"$/\1/p' pyproject.toml)
old=$(sed -n 's/^TRISTEP_TAG=//p' .env)
old=${old:-latest}
new="$version-$now"
backup="backups/before-$new.tar.gz"

# under a tag of its own: the image that runs stays
TRISTEP_TAG=$new docker compose build
docker compose stop --timeout 60 web worker
trap 'docker compose start web worker; echo "Not upgraded; the old version runs again." >&2' EXIT

# by the old version, which alone can restore it; on this machine and not in the volume of uploads and keys
mkdir -p backups
chmod 700 backups
docker compose run --rm --no-deps --no-TTY worker sh -c \
    'file=/data/.upgrade.tar.gz; python manage.py backup $file >&2 && cat $file; done=$?; rm -f $file; exit $done' \
    > "$backup.part"
gzip --test "$backup.part"
trap - EXIT
mv "$backup.part" "$backup"
printf '%s %s\n' "$old" "$backup" > backups/last

grep -v '^TRISTEP_TAG=' .env > .env.new || true
printf 'TRISTEP_TAG=%s\n' "$new" >> .env.new
cat .env.new > .env
rm .env.new
echo "Backup: $backup. Image: tristep:$new; before: tristep:$old. Back: docker/return.sh" >&2
docker compose "$@" up --detach --wait --remove-orphans
