#!/usr/bin/env bash
# Writes the report of each bundle below reports/ anew from its history, and tells what
# has changed in the verdicts; then the table of requirements and targets. What is signed, and
# the bundles of a campaign, which has one signature, stay as they are.
set -euo pipefail
cd "$(dirname "$0")/.."
evenkeel=$PWD/bin/evenkeel

# The first key of a result is its bounds where it has any.
verdicts() { grep -E '^(- |  )(id|verdict):|^verdict:' "$1" | sed 's/^- /  /'; }

find reports -name SHA256SUMS -printf '%h\n' | LC_ALL=C sort | while read -r bundle; do
	if [ -f "$bundle/signature.dsse.json" ]; then
		echo "$bundle: signed, left as it is"
		continue
	fi
	if [ -f "$bundle/../../plan.yaml" ]; then
		echo "$bundle: part of a campaign, left as it is"
		continue
	fi
	before=$(verdicts "$bundle/report.yaml")
	# Other verdicts than a pass have other statuses; only 3 means that nothing was judged.
	status=0
	"$evenkeel" judge --update "$bundle" >/dev/null || status=$?
	if [ "$status" -ge 3 ]; then exit "$status"; fi
	if changed=$(diff <(echo "$before") <(verdicts "$bundle/report.yaml")); then
		echo "$bundle: every verdict as before"
	else
		printf '%s: verdicts have changed\n%s\n' "$bundle" "$changed"
	fi
done

"$evenkeel" site reports --table >reports/results.md.new
mv reports/results.md.new reports/results.md
