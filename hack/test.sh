#!/usr/bin/env bash
# Every test that needs neither Docker nor a cluster. Vet is for `make lint`, and
# doing it again for this build costs minutes from cold.
#
# The race detector wants all that a test links compiled a second time. For API servers,
# etcd and generated clients that is most of what there is, and minutes of both cores
# where nothing is compiled yet; so tests that link those get it with RACE=all only.
set -euo pipefail
cd "$(dirname "$0")/.."
go=${GO:-go}
# As gobuild.Rarely has it, and for the same reason.
export GOGC=${GOGC:-800} GOMEMLIMIT=${GOMEMLIMIT:-4GiB}
# Specs, and what else brings a control plane up.
specs='/suites/(chaosmesh|discovery|example|indexedjob|installed|leaderelection|migration|secrets|storageversion|upgrade)$'
large='^(k8s\.io/apiserver|k8s\.io/client-go/kubernetes|go\.etcd\.io/etcd/server/v3|sigs\.k8s\.io/controller-runtime|github\.com/chromedp/chromedp)(/|$)'

mapfile -t packages < <("$go" list ./... | grep -vE "$specs")
raced=("${packages[@]}") rest=()
if [ "${RACE:-}" != all ]; then
	# A package's tests are packages of their own, with what only they import.
	mapfile -t rest < <("$go" list -test -f '{{or .ForTest .ImportPath}}{{range .Deps}} {{.}}{{end}}' "${packages[@]}" |
		awk -v large="$large" '{ sub(/\.test$/, "", $1); for (i = 2; i <= NF; i++) if ($i ~ large) { print $1; next } }' | sort -u)
	mapfile -t raced < <(printf '%s\n' "${packages[@]}" | grep -vxFf <(printf '%s\n' "${rest[@]}"))
fi
echo "${#raced[@]} packages with the race detector, ${#rest[@]} without"

status=0
CGO_ENABLED=1 "$go" test -race -vet=off "${raced[@]}" || status=$?
if [ "${#rest[@]}" -gt 0 ]; then "$go" test -vet=off "${rest[@]}" || status=$?; fi
exit "$status"
