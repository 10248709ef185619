#!/usr/bin/env bash
# Copies a bundle to where it is to be published: all that the verdicts follow
# from, with the history compressed, and without the components' logs, which are
# large and tell of the machine, nor what `evenkeel judge`, `evenkeel timeline`
# and `evenkeel metrics` make again from the rest.
#
#   hack/publish.sh _out/rolling-upgrade reports/kubernetes/local-v1.35.4-to-v1.36.3
set -euo pipefail
if [ $# -ne 2 ]; then
	echo "usage: hack/publish.sh BUNDLE FOLDER" >&2
	exit 3
fi
bundle=$1 folder=$2
told=(environment.yaml report.yaml scenario.yaml topology.yaml)
history=history.jsonl
[ -f "$bundle/$history" ] || history=history.jsonl.gz # a large one is compressed already
for file in "${told[@]}" "$history" SHA256SUMS; do
	if [ ! -f "$bundle/$file" ]; then
		echo "$bundle has no $file: name the bundle of a run that has ended" >&2
		exit 3
	fi
done
(cd "$bundle" && sha256sum --check --quiet SHA256SUMS)
rm -rf "$folder"
mkdir -p "$folder"
for file in "${told[@]}"; do cp "$bundle/$file" "$folder/"; done
if [ "$history" = history.jsonl ]; then
	gzip -9n <"$bundle/history.jsonl" >"$folder/history.jsonl.gz"
else
	cp "$bundle/$history" "$folder/"
fi
(cd "$folder" && sha256sum "${told[@]}" history.jsonl.gz >SHA256SUMS)
