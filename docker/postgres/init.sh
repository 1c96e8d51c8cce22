#!/bin/sh
# Run by the image when the database is made; by hand, with `docker compose exec postgres`, in one from before.
set -eu
POSTGRES_OWNER_PASSWORD=$(cat /run/secrets/postgres_owner_password)
POSTGRES_APP_PASSWORD=$(cat /run/secrets/postgres_app_password)
export POSTGRES_OWNER_PASSWORD POSTGRES_APP_PASSWORD
psql --no-psqlrc --quiet --output /dev/null --set ON_ERROR_STOP=1 --username "$POSTGRES_USER" --dbname "$POSTGRES_DB" <<'SQL'
\getenv owner_password POSTGRES_OWNER_PASSWORD
\getenv app_password POSTGRES_APP_PASSWORD
SELECT set_config('tristep.owner_password', :'owner_password', false),
       set_config('tristep.app_password', :'app_password', false);
\ir /etc/tristep/roles.sql
SQL
