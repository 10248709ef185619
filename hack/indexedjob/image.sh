#!/usr/bin/env bash
# Makes an image that plays lines of a plan, from static binaries alone: evenkeel and
# refplane, and with RELEASES="v1.35.4 v1.36.3" also what `make binaries` has built of
# Kubernetes. Docker has it then; no registry is asked.
#
#   make build && hack/indexedjob/image.sh registry.example/evenkeel:v1
set -euo pipefail
cd "$(dirname "$0")/../.."
[ $# -eq 1 ] || { echo "usage: [RELEASES=\"v1.35.4 v1.36.3\"] hack/indexedjob/image.sh NAME" >&2; exit 3; }
cache=${EVENKEEL_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/evenkeel}

context=$(mktemp -d)
trap 'rm -rf "$context"' EXIT
mkdir -p "$context/cache"
cp bin/evenkeel bin/refplane "$context/"
for release in ${RELEASES:-}; do
	mkdir -p "$context/cache/kubernetes/$release"
	cp "$cache/kubernetes/$release"/kube-* "$context/cache/kubernetes/$release/"
	cp -r "$cache/etcd" "$context/cache/"
done
# The Job runs it as another user than root, with a root file system that is read-only.
chmod -R a+rX "$context"
cat >"$context/Dockerfile" <<'END'
FROM scratch
COPY evenkeel refplane /usr/local/bin/
COPY cache /cache
ENV PATH=/usr/local/bin EVENKEEL_CACHE=/cache
ENTRYPOINT ["evenkeel"]
END
docker build --quiet --tag "$1" "$context"
