#!/usr/bin/env bash
# Plays the main job RUNS times and counts what comes out; a clean control
# plane must be green every time.
set -uo pipefail
cd "$(dirname "$0")/.."
runs=${1:-20}
out=${2:-_out}/soak
rm -rf "$out"
mkdir -p "$out"
green=0
for i in $(seq 1 "$runs"); do
	started=$SECONDS
	bin/evenkeel run --seed "$i" --out "$out/$i" >"$out/$i.log" 2>&1
	status=$?
	echo "run $i: exit $status after $((SECONDS - started)) s"
	if [ "$status" -eq 0 ]; then
		green=$((green + 1))
		rm -rf "${out:?}/$i"
	else
		grep -E '(FAIL|INCONCLUSIVE)' "$out/$i.log" || tail -n 3 "$out/$i.log"
	fi
done
echo "$green passed, $((runs - green)) failed"
[ "$green" -eq "$runs" ]
