#!/usr/bin/env bash
# Formatting, vet, staticcheck, and the border between harness and reference.
set -euo pipefail
cd "$(dirname "$0")/.."
# As gobuild.Rarely has it, and for the same reason.
export GOGC=${GOGC:-800} GOMEMLIMIT=${GOMEMLIMIT:-4GiB}

unformatted=$(git ls-files '*.go' | xargs gofmt -l)
if [ -n "$unformatted" ]; then
	echo "gofmt wants to change: $unformatted" >&2
	exit 1
fi
go vet ./...
go tool staticcheck ./...

# The harness judges anybody's control plane, so it may know nothing of ours;
# the reference must not lean on what judges it.
module=$(go list -m)
if go list -deps ./pkg/... ./suites/... | grep -q "^$module/impl/"; then
	echo "pkg/ or suites/ imports impl/" >&2
	exit 1
fi
if go list -deps ./impl/... | grep -qE "^$module/(pkg|suites)/"; then
	echo "impl/ imports the harness" >&2
	exit 1
fi
