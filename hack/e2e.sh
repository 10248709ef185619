#!/usr/bin/env bash
# Plays the suites; each scenario leaves a bundle below the output folder.
set -euo pipefail
cd "$(dirname "$0")/.."
export EVENKEEL_OUT=${EVENKEEL_OUT:-$PWD/${1:-_out}}
export EVENKEEL_REFPLANE=${EVENKEEL_REFPLANE:-$PWD/bin/refplane}
exec go tool ginkgo run --timeout 20m --no-color=${NO_COLOR:+true} ./suites/...
