#!/bin/bash
# Stands in for the program nsexec of Chaos Mesh, which is written in Rust: it runs a command
# in namespaces of another process, by nsenter.
set -euo pipefail
into=()
while [ $# -gt 0 ]; do
	case $1 in
	-m) into+=("--mount=$2") && shift 2 ;;
	-n) into+=("--net=$2") && shift 2 ;;
	-i) into+=("--ipc=$2") && shift 2 ;;
	-p) into+=("--pid=$2") && shift 2 ;;
	--) shift && break ;;
	*) echo "nsexec: $1 is not understood here" >&2 && exit 1 ;;
	esac
done
exec nsenter "${into[@]}" -- "$@"
