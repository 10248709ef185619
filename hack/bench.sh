#!/usr/bin/env bash
# Benchmarks. Figures are to be compared within one run on one machine.
set -euo pipefail
cd "$(dirname "$0")/.."
EVENKEEL_REFPLANE=$PWD/bin/refplane go test -run '^$' -bench . -benchtime 3x -timeout 20m ./pkg/check ./pkg/cluster/local
