#!/usr/bin/env bash
# Fuzzes what takes input from strangers: N executions of each fuzz test, ten million by
# default, which takes hours on a small machine. ONLY is a pattern of their names. Inputs
# that reached what none had reached before stay beside the tests, in testdata/fuzz,
# where every `go test` runs them.
set -euo pipefail
cd "$(dirname "$0")/.."
n=${N:-10000000}
only=${ONLY:-.}

grep -rnoE --include='*_test.go' '^func Fuzz[A-Za-z0-9_]+' impl pkg hack | LC_ALL=C sort | while IFS=: read -r file _ name; do
	name=${name#func }
	[[ $name =~ $only ]] || continue
	folder=$(dirname "$file")
	echo "== $name in $folder, $n executions"
	# With a cache of its own, what it finds can be told from what other checkouts found.
	found=$(mktemp -d)
	status=0
	go test "./$folder" -run '^$' -fuzz "^$name\$" -fuzztime "${n}x" -test.fuzzcachedir "$found" </dev/null || status=$?
	if [ -d "$found/$name" ]; then
		mkdir -p "$folder/testdata/fuzz/$name"
		cp "$found/$name"/* "$folder/testdata/fuzz/$name/"
	fi
	rm -rf "$found"
	[ "$status" -eq 0 ] || exit "$status"
done
