#!/usr/bin/env bash
# Plays the suites (NO_COLOR is honoured by ginkgo); each scenario leaves a bundle below the output folder.
# What has no specs, such as suites/example, ginkgo runs as go test would, and always anew.
set -euo pipefail
cd "$(dirname "$0")/.."
export EVENKEEL_OUT=${EVENKEEL_OUT:-$(realpath --canonicalize-missing "${1:-_out}")}
export EVENKEEL_REFPLANE=${EVENKEEL_REFPLANE:-$PWD/bin/refplane}
exec go tool ginkgo run --keep-going --timeout 30m ./suites/...
