#!/usr/bin/env bash
# Ends the Docker daemon that prepare.sh started, and no other.
set -euo pipefail
cd "$(dirname "$0")"
. ./common.sh

if ! ours; then
	say "no daemon runs that prepare.sh started"
	exit 0
fi
stop_ours
say "stopped"
