#!/usr/bin/env bash
# The main job on kind, in two parts that answer different questions.
#
#   1. The reference control plane as static Pods on kind nodes. It keeps every
#      promise or it has a bug, so nothing but a pass will do.
#   2. Published Kubernetes: up, back and up again between two releases, an API
#      server killed, a node's power cut. What it keeps and what it breaks is the
#      finding; the job fails only if a requirement got no verdict from evidence.
#
# RELEASE is where Kubernetes begins; it goes to the next release that is known.
# Bundles and reports are left below the output folder.
set -euo pipefail
cd "$(dirname "$0")/.."
out=${1:-_out}/kind
release=${RELEASE:-v1.35.4}
evenkeel=bin/evenkeel
export EVENKEEL_REFPLANE=$PWD/bin/refplane

rm -rf "$out"
mkdir -p "$out"
trap '$evenkeel cluster clean' EXIT

printf '\n--- reference on kind\n'
"$evenkeel" run --topology clusters/kind-3.yaml --scenario fixtures/scenarios/upgrade-rollback-crash.yaml --out "$out/reference"

printf '\n--- Kubernetes %s on kind\n' "$release"
status=0
"$evenkeel" run --topology clusters/kind-3-kubernetes.yaml --release "$release" --scenario fixtures/scenarios/rolling-upgrade.yaml --out "$out/kubernetes" || status=$?
# 0 is a pass and 1 a failure that was found; 2 is no verdict and 3 no run.
if [ "$status" -gt 1 ]; then exit "$status"; fi
if grep -q 'verdict: inconclusive' "$out/kubernetes/report.yaml"; then
	echo "a requirement got no verdict: see $out/kubernetes/report.yaml" >&2
	{ "$evenkeel" judge "$out/kubernetes" || true; } | awk -v RS= '/^[A-Z]+-[0-9]+ inconclusive:/' >&2
	exit 2
fi
