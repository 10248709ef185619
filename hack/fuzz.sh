#!/usr/bin/env bash
# Fuzzes what takes input from strangers: N executions of each fuzz test, ten million by
# default, and a thousandth of that before, guided by what code an input reaches. ONLY is a
# pattern of their names. Inputs that reached what none had reached before stay beside the
# tests, in testdata/fuzz, where every `go test` runs them.
set -euo pipefail
cd "$(dirname "$0")/.."
n=${N:-10000000}
only=${ONLY:-.}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# keep puts what was found beside the tests.
keep() {
	[ -d "$work/found/$2" ] || return 0
	mkdir -p "$1/testdata/fuzz/$2"
	cp "$work/found/$2"/* "$1/testdata/fuzz/$2/"
}

grep -rnoE --include='*_test.go' '^func Fuzz[A-Za-z0-9_]+' impl pkg hack | LC_ALL=C sort | while IFS=: read -r file _ name; do
	name=${name#func }
	[[ $name =~ $only ]] || continue
	folder=$(dirname "$file")
	rm -rf "$work/found"
	# Guidance watches all the code that is linked in, which is a hundred times slower than
	# the tests themselves. So it looks for inputs, and most executions begin with those.
	# To make each of them as short as can be would take a minute of it.
	flags=(-test.run '^$' -test.fuzz "^$name\$" -test.fuzzminimizetime 10x -test.fuzzcachedir "$work/found")
	for way in guided blind; do
		executions=$n
		build=()
		if [ "$way" = guided ]; then
			executions=$(((n + 999) / 1000))
			build=(-fuzz "^$name\$")
		fi
		echo "== $name in $folder, $way, $executions executions"
		go test -c -o "$work/test" "${build[@]}" "./$folder"
		status=0
		(cd "$folder" && "$work/test" "${flags[@]}" -test.fuzztime "${executions}x" </dev/null) || status=$?
		keep "$folder" "$name"
		[ "$status" -eq 0 ] || exit "$status"
	done
done
