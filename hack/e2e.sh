#!/usr/bin/env bash
# Plays the suites (NO_COLOR is honoured by ginkgo); each scenario leaves a bundle below the output folder.
# What has no specs, such as suites/example, ginkgo runs as go test would, and always anew.
#
# With SAMPLE=N it plays the main job and N other scenarios, chosen by the commit: CI comes to all of them
# over time, and the same commit always plays the same ones.
set -euo pipefail
cd "$(dirname "$0")/.."
export EVENKEEL_OUT=${EVENKEEL_OUT:-$(realpath --canonicalize-missing "${1:-_out}")}
export EVENKEEL_REFPLANE=${EVENKEEL_REFPLANE:-$PWD/bin/refplane}
main_job=upgrade-rollback-crash

# sampled writes the names of N scenarios beside the main job, in an order that the commit decides.
sampled() {
	local commit name
	commit=$(git rev-parse HEAD 2>/dev/null || echo none)
	for name in fixtures/scenarios/*.yaml; do
		name=$(basename "$name" .yaml)
		[ "$name" = "$main_job" ] || printf '%s %s\n' "$(printf '%s %s' "$commit" "$name" | sha256sum | cut -c1-16)" "$name"
	done | LC_ALL=C sort | head -n "$1" | cut -d' ' -f2
}

chosen=()
if [ "${SAMPLE:-0}" -gt 0 ]; then
	names=$(sampled "$SAMPLE" | paste -sd'|')
	echo "playing $main_job|$names"
	chosen=(--focus "^($main_job|$names)( |\$)")
fi
exec go tool ginkgo run --keep-going --timeout 60m "${chosen[@]}" ./suites/...
