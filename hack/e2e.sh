#!/usr/bin/env bash
# Plays scenarios as specs (NO_COLOR is honored by ginkgo); each leaves a bundle below the output folder.
# What has no specs, such as suites/example and suites/secrets, ginkgo runs as go test would, and always anew.
#
# Without more it plays the main job and a short scenario of each KEP that is judged. SAMPLE=N plays the
# main job and N others, chosen by the commit: CI comes to all of them over time, and the same commit always
# plays the same ones. ALL=1 plays everything.
set -euo pipefail
# What is played ends an interrupt with a status of its own, after which this would go on with the next.
trap 'exit 130' INT
trap 'exit 143' TERM
cd "$(dirname "$0")/.."
export EVENKEEL_OUT=${EVENKEEL_OUT:-$(realpath --canonicalize-missing "${1:-_out}")}
export EVENKEEL_REFPLANE=${EVENKEEL_REFPLANE:-$PWD/bin/refplane}
# Specs are compiled by go test, which stamps no version.
export EVENKEEL_VERSION=${EVENKEEL_VERSION:-$(git describe --tags --always --dirty 2>/dev/null || echo suites)}
main_job=upgrade-rollback-crash
# longer than all the rest of a sample together
long='discovery-churn|election-soak|election-storm|migration-large|migration-takeover|storage-version-soak'
# refused where API servers know no ValidatingAdmissionPolicies, as those of the reference do not
foreign=election-denied
short='restart-skew|discovery-quick|migration-custom|election-quick|window-refused'

# sampled writes the names of N scenarios beside the main job, in an order that the commit decides.
sampled() {
	local commit name
	commit=$(git rev-parse HEAD 2>/dev/null || echo none)
	for name in fixtures/scenarios/*.yaml; do
		name=$(basename "$name" .yaml)
		[[ $name =~ ^($main_job|$long|$foreign)$ ]] || printf '%s %s\n' "$(printf '%s %s' "$commit" "$name" | sha256sum | cut -c1-16)" "$name"
	done | LC_ALL=C sort | head -n "$1" | cut -d' ' -f2
}

names=$main_job\|$short
if [ "${SAMPLE:-0}" -gt 0 ]; then names=$main_job\|$(sampled "$SAMPLE" | paste -sd'|'); fi
# A spec is called after the suite, the scenario and the requirement.
chosen=(--focus "(^| )($names)( [A-Z]+-[0-9]+:|\$)")
if [ "${ALL:-0}" -gt 0 ]; then
	rm -rf "${EVENKEEL_OUT:?}/conformance"
	status=0
	# What plays no scenario that ships waits most of its time, so it is played beside the campaign:
	# compiled before that, and in a group of processes of its own, which is ended as a whole.
	others=(./suites/example ./suites/secrets ./suites/chaosmesh)
	go test -exec true "${others[@]}" >/dev/null
	mkdir -p "$EVENKEEL_OUT"
	set -m
	go tool ginkgo run --keep-going --timeout 30m "${others[@]}" >"$EVENKEEL_OUT/suites.log" 2>&1 </dev/null &
	beside=$!
	set +m
	trap 'kill -TERM -- "-$beside" 2>/dev/null && wait "$beside" || true' EXIT
	bin/evenkeel conformance run --parallel "${PARALLEL:-auto}" --out "$EVENKEEL_OUT/conformance" || status=$?
	wait "$beside" || status=$?
	cat "$EVENKEEL_OUT/suites.log"
	exit $status
fi
echo "playing $names"

# A focus that matches nothing is green too: what was to be played must have left a report.
IFS='|' read -ra played <<<"$names"
for name in "${played[@]}"; do rm -rf "${EVENKEEL_OUT:?}/$name"; done
status=0
# suites/installed and suites/indexedjob take Kubernetes: `make migrate-install`, `make e2e-job`.
go tool ginkgo run --keep-going --skip-package installed,indexedjob --timeout 6h "${chosen[@]}" ./suites/... || status=$?
for name in "${played[@]}"; do
	if [ ! -f "$EVENKEEL_OUT/$name/report.yaml" ]; then
		echo "the scenario $name was not played: $EVENKEEL_OUT/$name has no report" >&2
		status=1
	fi
done
# As pkg/bundle has it in MaxCompressed.
bound=20000000
if [ -d "$EVENKEEL_OUT/$main_job" ]; then
	size=$(tar -C "$EVENKEEL_OUT" -cz "$main_job" | wc -c)
	echo "the bundle of $main_job takes $size bytes compressed"
	if [ "$size" -gt "$bound" ]; then
		echo "the bundle of $main_job is to take at most $bound bytes compressed" >&2
		status=1
	fi
fi
exit $status
