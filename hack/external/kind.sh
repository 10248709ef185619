#!/usr/bin/env bash
# Judges a cluster that Evenkeel has not made: one of the program kind, of published Kubernetes,
# whose nodes hold nothing of Evenkeel's. The agent is installed there as on any cluster of a
# user's, and the scenarios are played beside it. Wants Docker, bin/ (`make build`), and
# `make node-images RELEASES=v1.35.4 NEXT=1`.
#
#   hack/external/kind.sh up              makes the cluster, with the agent
#   hack/external/kind.sh chaos-mesh      installs Chaos Mesh, to which faults are left from then on
#   hack/external/kind.sh play SCENARIO…  plays scenarios, into the output folder
#   hack/external/kind.sh kill N SCENARIO kills so many runs at random moments, and fails if one of them
#                                         has left anything 120 s later; of a scenario that upgrades nothing
#   hack/external/kind.sh down            removes the cluster
#
# RELEASE is where it begins and NEXT what its members can be taken to. OUT is the output folder.
set -euo pipefail
cd "$(dirname "$0")/../.."
name=stranger
release=${RELEASE:-v1.35.4}
next=${NEXT:-v1.36.3}
out=${OUT:-_out}/stranger
image=docker.io/library/evenkeel-agent:v1
evenkeel=bin/evenkeel
kind=$out/kind

nodes() { "$kind" get nodes --name "$name" | grep control-plane; }

import() {
	local node
	for node in $(nodes); do
		docker exec --interactive "$node" ctr --namespace k8s.io images import - <"$1" >"$out/import.log" 2>&1 ||
			{ cat "$out/import.log" >&2; exit 1; }
	done
}

up() {
	mkdir -p "$out"
	go build -o "$kind" sigs.k8s.io/kind
	go run ./hack/external --kind-config 3 --release "$release" >"$out/kind.yaml"
	"$kind" create cluster --name "$name" --config "$out/kind.yaml" --kubeconfig "$out/admin.kubeconfig"
	import "${EVENKEEL_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/evenkeel}/kubernetes/$next/node/images.tar"
	"$evenkeel" agent image --name "${image#docker.io/library/}" --out "$out/agent.tar"
	import "$out/agent.tar"
	describe
	"$evenkeel" agent install --topology "$out/theirs.yaml"
}

describe() {
	go run ./hack/external --kind "$name" --kubeconfig "$out/members.kubeconfig" --releases "$release,$next" --release "$release" \
		--traffic --agent disrupt --agent-image "$image" "$@" >"$out/theirs.yaml"
}

kubectl() { docker exec --interactive "$name-control-plane" kubectl --kubeconfig /etc/kubernetes/admin.conf "$@"; }

# chaos_mesh runs its controller on the last node, and has it reach the load balancer.
chaos_mesh() {
	local node address
	node=$(nodes | sort | tail -n 1)
	address=$(docker inspect --format '{{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}' "$node")
	go run ./hack/chaosmesh --image "$out/chaos-mesh.tar" --manifest "$out/chaos-mesh.yaml" --node "$node" --address "$address" \
		--server "$name-external-load-balancer:6443"
	import "$out/chaos-mesh.tar"
	kubectl apply --server-side --filename - <"$out/chaos-mesh.yaml" >/dev/null
	kubectl rollout status --namespace chaos-mesh --timeout 180s daemonset/chaos-daemon deployment/chaos-controller-manager
	describe --chaos-mesh
}

play() {
	local scenario status worst=0
	for scenario in "$@"; do
		status=0
		"$evenkeel" run --topology "$out/theirs.yaml" --scenario "fixtures/scenarios/$scenario.yaml" --allow-disruption --out "$out/$scenario" || status=$?
		if [ "$status" -gt "$worst" ]; then worst=$status; fi
	done
	return "$worst"
}

# objects that runs have left, of all kinds that the cluster has.
objects() {
	docker exec "$name-control-plane" sh -c 'export KUBECONFIG=/etc/kubernetes/admin.conf
		kubectl api-resources --verbs=list --output=name 2>/dev/null |
			while read -r kind; do kubectl get "$kind" --all-namespaces --selector=evenkeel.dev/run --ignore-not-found --no-headers --output=name 2>/dev/null; done'
}

# changes of the nodes: packets that are dropped, processes that stand still, and manifests.
changes() {
	local node
	for node in $(nodes); do
		docker exec "$node" sh -c 'nft list tables 2>/dev/null | grep evenkeel; ps -eo stat=,comm= | grep "^T"; cd /etc/kubernetes/manifests && sha256sum .[!.]* * 2>/dev/null; true' | sed "s/^/$node: /"
	done
}

kill_runs() {
	local runs=$1 scenario=$2 before left harness moment made began
	before=$(changes)
	for i in $(seq "$runs"); do
		moment=$((20 + RANDOM % 100))
		rm -rf "$out/killed"
		"$evenkeel" run --topology "$out/theirs.yaml" --scenario "fixtures/scenarios/$scenario.yaml" --allow-disruption --out "$out/killed" >"$out/killed.log" 2>&1 &
		harness=$!
		sleep "$moment"
		made=$(objects | wc -l)
		kill -KILL "$harness"
		began=$SECONDS
		while left=$(objects && changes | diff - <(echo "$before")) || true; [ -n "$left" ]; do
			if [ $((SECONDS - began)) -gt 120 ]; then
				printf 'run %d, killed after %d s, has left after 120 s:\n%s\n' "$i" "$moment" "$left" >&2
				return 1
			fi
		done
		printf 'run %d, killed after %d s with %d objects: nothing is left %d s later\n' "$i" "$moment" "$made" $((SECONDS - began))
	done
}

case ${1:-} in
up) up ;;
chaos-mesh) chaos_mesh ;;
play) shift && play "$@" ;;
kill) kill_runs "$2" "$3" ;;
down) "$kind" delete cluster --name "$name" --kubeconfig "$out/admin.kubeconfig" ;;
*)
	echo "usage: hack/external/kind.sh up | chaos-mesh | play SCENARIO… | kill N SCENARIO | down" >&2
	exit 3
	;;
esac
