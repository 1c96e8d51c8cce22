#!/bin/sh
# Make the passwords that docker-compose.yml reads, in secrets/ beside it; those that are there stay.
set -eu
cd "$(dirname "$0")/.."
mkdir -p secrets
# closed to other users of this machine; open to the containers, whose users are others
chmod 700 secrets
for name in postgres_password postgres_owner_password postgres_app_password redis_password secret_key; do
    [ -s "secrets/$name" ] || head -c 32 /dev/urandom | od -An -v -tx1 | tr -d ' \n' > "secrets/$name"
    chmod 444 "secrets/$name"
done
