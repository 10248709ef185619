#!/usr/bin/env bash
# Copies a bundle to where it is to be published: all that the verdicts follow
# from, with the history compressed, and without the components' logs, which are
# large and tell of the machine, nor what `evenkeel judge`, `evenkeel timeline`
# and `evenkeel metrics` make again from the rest.
#
#   hack/publish.sh _out/rolling-upgrade reports/kubernetes/local-v1.35.4-to-v1.36.3
#
# Of a campaign that is the plan, the journal, the report, the signature, and each bundle in
# this way; the signature holds, since it is of none of what stays behind.
#
# What was published in the folder before gives way; any other folder is left alone.
set -euo pipefail
if [ $# -ne 2 ]; then
	echo "usage: hack/publish.sh BUNDLE FOLDER" >&2
	exit 3
fi
bundle=$1 folder=$2
if [ -f "$bundle/plan.yaml" ]; then
	if [ -e "$folder" ] && [ -n "$(ls -A "$folder")" ]; then
		echo "$folder is not empty: name a new folder" >&2
		exit 3
	fi
	for file in conformance.yaml journal.jsonl; do
		if [ ! -f "$bundle/$file" ]; then
			echo "$bundle has no $file: let the campaign end, with \`evenkeel conformance resume\`" >&2
			exit 3
		fi
	done
	mkdir -p "$folder/runs"
	for run in "$bundle"/runs/*/; do
		"$0" "$run" "$folder/runs/$(basename "$run")"
	done
	for file in conformance.yaml journal.jsonl plan.yaml signature.dsse.json; do
		[ ! -f "$bundle/$file" ] || cp "$bundle/$file" "$folder/"
	done
	exit
fi
told=(environment.yaml report.yaml scenario.yaml topology.yaml)
[ ! -f "$bundle/migrated.yaml" ] || told+=(migrated.yaml)
history=history.jsonl
[ -f "$bundle/$history" ] || history=history.jsonl.gz # a large one is compressed already
for file in "${told[@]}" "$history" SHA256SUMS; do
	if [ ! -f "$bundle/$file" ]; then
		echo "$bundle has no $file: name the bundle of a run that has ended" >&2
		exit 3
	fi
done
(cd "$bundle" && sha256sum --check --quiet SHA256SUMS)
if [ "$(realpath "$bundle")" = "$(realpath --canonicalize-missing "$folder")" ]; then
	echo "$folder is the bundle itself: name a new folder" >&2
	exit 3
fi
if [ -e "$folder" ] && [ -n "$(ls -A "$folder")" ]; then
	unknown=$(find "$folder" -mindepth 1 -maxdepth 1 -printf '%f\n' | grep -vxF -e SHA256SUMS -e migrated.yaml -e history.jsonl.gz -e signature.dsse.json "${told[@]/#/-e}" || true)
	if [ -n "$unknown" ] || [ ! -f "$folder/SHA256SUMS" ]; then
		echo "$folder holds what is no published bundle: name a new folder" >&2
		exit 3
	fi
	rm -r "$folder"
fi
mkdir -p "$folder"
for file in "${told[@]}"; do cp "$bundle/$file" "$folder/"; done
if [ "$history" = history.jsonl ]; then
	gzip -9n <"$bundle/history.jsonl" >"$folder/history.jsonl.gz"
else
	cp "$bundle/$history" "$folder/"
fi
(cd "$folder" && sha256sum "${told[@]}" history.jsonl.gz >SHA256SUMS)
if [ -f "$bundle/signature.dsse.json" ]; then
	echo "note: the signature is of other files and stays behind; sign $folder" >&2
fi
if ! grep -q '^implementation:' "$folder/report.yaml"; then
	echo "note: the report names no contact for the control plane; name one in spec.implementation of the topology, and run again" >&2
fi
