#!/usr/bin/env bash
# Formatting, vet and the linters that .golangci.yml lists, the border between harness and
# reference, and the words that no sentence uses.
set -euo pipefail
cd "$(dirname "$0")/.."
# As gobuild.Rarely has it, and for the same reason.
export GOGC=${GOGC:-800} GOMEMLIMIT=${GOMEMLIMIT:-4GiB}

unformatted=$(git ls-files -z '*.go' | xargs -0 gofmt -l)
if [ -n "$unformatted" ]; then
	echo "gofmt wants to change: $unformatted" >&2
	exit 1
fi

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
tools=$(mktemp -d)
trap 'rm -rf "$tools"' EXIT
(cd hack/tools && go build -o "$tools/golangci-lint" github.com/golangci/golangci-lint/v2/cmd/golangci-lint)
"$tools/golangci-lint" run

# A sentence names its actor, and a step and a field are called what the field calls them. A
# line that quotes one of the words says so with "quoted". Published bundles and the old one
# that pkg/bundle/convert is tested with are quoted as they are.
words='somebody|nobody|whoever|anybody|turmoil|raze|errands|watchkeepers|meddle|lookout'
if found=$(git grep -nwiE "$words" -- '*.go' '*.md' '*.yaml' '*.sh' Makefile .ci ':!hack/lint.sh' ':!reports/kubernetes' ':!reports/results' ':!pkg/bundle/convert/testdata' | grep -vE '\bquoted\b|http\.NoBody'); then
	printf 'name the actor instead of these words:\n%s\n' "$found" >&2
	exit 1
fi
