#!/usr/bin/env bash
# Formatting, vet, staticcheck, the border between harness and reference, and with LINTERS=1
# what .golangci.yml lists and with WORDS=1 the word list of style. The latter two are off
# until the whole tree is clean.
set -euo pipefail
cd "$(dirname "$0")/.."
# As gobuild.Rarely has it, and for the same reason.
export GOGC=${GOGC:-800} GOMEMLIMIT=${GOMEMLIMIT:-4GiB}

unformatted=$(git ls-files -z '*.go' | xargs -0 gofmt -l)
if [ -n "$unformatted" ]; then
	echo "gofmt wants to change: $unformatted" >&2
	exit 1
fi
go vet ./...
go tool staticcheck ./...

# The harness judges every control plane, so it knows nothing of the reference, and the
# reference does not lean on what judges it. depguard sees what a package imports; this
# also sees what comes with that.
module=$(go list -m)
if go list -deps ./pkg/... ./suites/... | grep "^$module/impl/" >&2; then
	echo "pkg/ or suites/ imports impl/" >&2
	exit 1
fi
if go list -deps ./impl/... | grep -E "^$module/(pkg|suites)/" >&2; then
	echo "impl/ imports the harness" >&2
	exit 1
fi

# The linters are a module of their own, so that what they need is no dependency of Evenkeel.
if [ -n "${LINTERS:-}" ]; then
	tools=$(mktemp -d)
	trap 'rm -rf "$tools"' EXIT
	(cd hack/tools && go build -o "$tools/golangci-lint" github.com/golangci/golangci-lint/v2/cmd/golangci-lint)
	"$tools/golangci-lint" run
fi

# A sentence names its actor, and a step and a field are called what the field calls them. A
# line that quotes one of the words says so with "quoted".
words='somebody|nobody|whoever|anybody|turmoil|raze|errands|watchkeepers|meddle|lookout'
if [ -n "${WORDS:-}" ] && found=$(git grep -nwiE "$words" -- '*.go' '*.md' '*.yaml' | grep -vE '\bquoted\b|http\.NoBody'); then
	printf 'name the actor instead of these words:\n%s\n' "$found" >&2
	exit 1
fi
