#!/usr/bin/env bash
# Plays scenarios as specs (NO_COLOR is honoured by ginkgo); each leaves a bundle below the output folder.
# What has no specs, such as suites/example, ginkgo runs as go test would, and always anew.
#
# Without more it plays the main job and a short scenario of each KEP that is judged. SAMPLE=N plays the
# main job and N others, chosen by the commit: CI comes to all of them over time, and the same commit always
# plays the same ones. ALL=1 plays everything.
set -euo pipefail
cd "$(dirname "$0")/.."
export EVENKEEL_OUT=${EVENKEEL_OUT:-$(realpath --canonicalize-missing "${1:-_out}")}
export EVENKEEL_REFPLANE=${EVENKEEL_REFPLANE:-$PWD/bin/refplane}
main_job=upgrade-rollback-crash
short='restart-skew|discovery-quick|migration-custom'

# sampled writes the names of N scenarios beside the main job, in an order that the commit decides.
sampled() {
	local commit name
	commit=$(git rev-parse HEAD 2>/dev/null || echo none)
	for name in fixtures/scenarios/*.yaml; do
		name=$(basename "$name" .yaml)
		[ "$name" = "$main_job" ] || printf '%s %s\n' "$(printf '%s %s' "$commit" "$name" | sha256sum | cut -c1-16)" "$name"
	done | LC_ALL=C sort | head -n "$1" | cut -d' ' -f2
}

names=$short
if [ "${SAMPLE:-0}" -gt 0 ]; then names=$(sampled "$SAMPLE" | paste -sd'|'); fi
chosen=(--focus "^($main_job|$names)( |\$)")
if [ "${ALL:-0}" -gt 0 ]; then chosen=(); else echo "playing $main_job|$names"; fi
exec go tool ginkgo run --keep-going --timeout 90m "${chosen[@]}" ./suites/...
