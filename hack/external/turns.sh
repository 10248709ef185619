#!/usr/bin/env bash
# Plays two campaigns at once on one external cluster, and makes sure that their runs take turns
# by the Lease: no two of them at the same time, and neither campaign all of its runs first.
# The cluster is one of local processes that is taken for an external one. Wants bin/
# (`make build`). What is left lies below the output folder.
set -euo pipefail
cd "$(dirname "$0")/../.."
out=${1:-_out}/turns
evenkeel=bin/evenkeel
name=evenkeel-turns
scenario=${SCENARIO:-discovery-quick}
repeat=${REPEAT:-3}
export EVENKEEL_REFPLANE=${EVENKEEL_REFPLANE:-$PWD/bin/refplane}

rm -rf "$out"
mkdir -p "$out"
playing=()
end() {
	for pid in "${playing[@]}"; do kill "$pid" 2>/dev/null || true; done
	wait
	"$evenkeel" cluster down "$name" || true
}
trap end EXIT
"$evenkeel" cluster up --topology clusters/local-3.yaml --name "$name"
go run ./hack/external --cluster "$name" >"$out/theirs.yaml"

for who in a b; do
	"$evenkeel" conformance run --topology "$out/theirs.yaml" --scenario "$scenario" --repeat "$repeat" --seed 1 --tries 1 --allow-disruption --out "$out/$who" >"$out/$who.log" 2>&1 &
	playing+=($!)
done
for pid in "${playing[@]}"; do
	status=0
	wait "$pid" || status=$?
	# 0 to 2 are verdicts; this is not about which.
	[ "$status" -le 2 ] || { cat "$out"/?.log; echo "a campaign ended with the status $status" >&2; exit 1; }
done
playing=()

# spans CAMPAIGN prints begin and end of each of its runs, in nanoseconds, from its history.
spans() {
	local history began took
	for history in "$out/$1"/runs/*/history.jsonl; do
		began=$(date -d "$(head -n 1 "$history" | sed 's/.*"started":"\([^"]*\)".*/\1/')" +%s%N)
		took=$(tail -n 1 "$history" | sed 's/.*"at":\([0-9]*\).*/\1/')
		echo "$began $((began + took)) $1"
	done
}
{ spans a; spans b; } | sort --numeric-sort >"$out/spans"
cat "$out/spans"
awk -v runs=$((2 * repeat)) '
	NR > 1 && $1 < ended { print "the runs that began at " before " and " $1 " were played at the same time"; wrong = 1 }
	NR > 1 && $3 != who { changes++ }
	{ before = $1; ended = $2; who = $3 }
	END {
		if (NR != runs) { print NR " runs were played, want " runs; wrong = 1 }
		if (changes < 2) { print "the campaigns took " changes + 1 " turns only"; wrong = 1 }
		print NR " runs, " changes " times the turn went to the other campaign"
		exit wrong
	}' "$out/spans"
grep -h 'waiting for the cluster' "$out"/?.log | sort | uniq -c
