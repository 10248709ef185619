#!/usr/bin/env bash
# Plays a plan as an Indexed Job on kind with one node, while Pods are deleted at five random
# moments and the node is stopped once, and compares what `collect` makes of it with a campaign
# on this machine. Then it plays a Job with a planted defect, whose index has to fail after one
# Pod. Wants bin/ (`make build`), Docker (`make docker`) and a node image (`make node-images
# RELEASES=v1.35.4`).
#
# SEED chooses the moments, and is the seed of the first run of each scenario. CPU and
# MEMORY are those of each Pod. What is left lies below the output folder.
set -euo pipefail
cd "$(dirname "$0")/../.."
out=${1:-_out}/job
seed=${SEED:-$((RANDOM + 1))}
cpu=${CPU:-1}
memory=${MEMORY:-3Gi}
evenkeel=bin/evenkeel
name=evenkeel-job
image=evenkeel/conformance:job
job=conformance
deletions=5
stop_after=3
# Each takes less than a quarter of a minute.
scenarios=(quick conflict-storm joined-silent election-odd restart-same boot-together)
plan=(--topology clusters/local-3.yaml --repeat 2 --tries 3 --seed "$seed")
for scenario in "${scenarios[@]}"; do plan+=(--scenario "$scenario"); done
defect=${DEFECT:-SV-12-wrong-refusal}
RANDOM=$seed

say() { printf '%s %s\n' "$(date -u +%T)" "$*"; }
fail() { say "$*" >&2; exit 1; }
k() { docker exec -i "$node" kubectl --kubeconfig /etc/kubernetes/admin.conf "$@"; }

# until_true COMMAND… tries a command for five minutes.
until_true() {
	local end=$((SECONDS + 300))
	until "$@" >/dev/null 2>&1; do
		[ "$SECONDS" -lt "$end" ] || fail "not within five minutes: $*"
		sleep 1
	done
}

rm -rf "$out"
mkdir -p "$out"
say "seed $seed"
sed -e '/- name: cp[23]$/d' -e 's/name: kind-3-kubernetes/name: kind-1-kubernetes/' clusters/kind-3-kubernetes.yaml >"$out/kind-1.yaml"
trap '"$evenkeel" cluster down "$name" || true' EXIT
"$evenkeel" cluster up --topology "$out/kind-1.yaml" --name "$name"
node=$(docker ps --format '{{.Names}}' | grep -x "$name-[0-9a-f]*-control-plane")
say "the node is $node"

hack/indexedjob/image.sh "$image"
# What `kind load` does.
docker save "$image" | docker exec -i "$node" ctr --namespace k8s.io images import - >/dev/null
docker exec "$node" mkdir -p -m 0777 /bundles
until_true k get serviceaccount default
k apply -f - <<'END'
apiVersion: v1
kind: PersistentVolume
metadata: {name: bundles}
spec:
  capacity: {storage: 10Gi}
  accessModes: [ReadWriteMany]
  storageClassName: ""
  hostPath: {path: /bundles, type: Directory}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: bundles}
spec:
  accessModes: [ReadWriteMany]
  storageClassName: ""
  volumeName: bundles
  resources: {requests: {storage: 10Gi}}
END

# write_job NAME FLAG… plans a Job and applies it.
write_job() {
	local named=$1
	shift
	"$evenkeel" conformance job "$@" --name "$named" --image "docker.io/$image" --claim bundles --cpu "$cpu" --memory "$memory" --parallel "${PARALLEL:-1}" --out "$out/$named"
	k apply -f - <"$out/$named/job.yaml"
}

# ended NAME is whether the Job has ended, and status NAME tells how it is.
ended() { k get job "$1" -o 'jsonpath={.status.conditions[?(@.status=="True")].type}' | grep -qE 'Complete|Failed( |$)'; }
status() { k get job "$1" -o 'jsonpath={.status}'; }

# await_end NAME waits for its end, for at most an hour.
await_end() {
	local end=$((SECONDS + 3600))
	until ended "$1"; do
		[ "$SECONDS" -lt "$end" ] || fail "the Job $1 has not ended: $(status "$1")"
		sleep 2
	done
}

# delete_one deletes a Pod that runs, of an index of which none was deleted yet: what is
# deleted counts as failed, and after more than three of them an index is given up.
deleted=' '
delete_one() {
	local index pod
	while read -r index pod; do
		[[ $deleted != *" $index "* ]] || continue
		deleted+="$index "
		k delete pod "$pod" --wait=false
		return
	done < <(k get pods -l "batch.kubernetes.io/job-name=$job" --field-selector status.phase=Running -o 'jsonpath={range .items[*]}{.metadata.annotations.batch\.kubernetes\.io/job-completion-index} {.metadata.name}{"\n"}{end}' | shuf)
	return 1
}

# a_pod_runs is whether one does.
a_pod_runs() { k get pods -l "batch.kubernetes.io/job-name=$job" --field-selector status.phase=Running -o name | grep -q .; }

# stop_node stops the node and all that it runs, and starts it again.
stop_node() {
	say "the node is stopped"
	docker stop --time 20 "$node" >/dev/null
	docker start "$node" >/dev/null
	until_true k get --raw /readyz
	say "its API server is ready again"
}

write_job "$job" "${plan[@]}"
began=$SECONDS
for ((n = 1; n <= deletions; n++)); do
	sleep $((5 + RANDOM % 40))
	until delete_one; do
		if ended "$job"; then fail "the Job ended before Pods were deleted at $deletions moments: $(status "$job")"; fi
		sleep 1
	done
	if [ "$n" -eq "$stop_after" ]; then
		until_true a_pod_runs
		sleep $((5 + RANDOM % 10))
		stop_node
	fi
done
await_end "$job"
say "the Job took $((SECONDS - began)) s: $(status "$job")"
k get pods -l "batch.kubernetes.io/job-name=$job" -o json >"$out/pods.json"
[ -z "$(k get job "$job" -o 'jsonpath={.status.failedIndexes}')" ] || fail "indexes have failed"

write_job planted "${plan[@]:0:8}" --repeat 1 --scenario restart-skew --defect "$defect"
await_end planted
say "the Job with the defect: $(status planted)"
[ "$(k get job planted -o 'jsonpath={.status.failedIndexes}')" = 0 ] || fail "the index with the planted defect has not failed"
pods=$(k get pods -l batch.kubernetes.io/job-name=planted -o 'jsonpath={range .items[*]}{.status.containerStatuses[0].state.terminated.exitCode}{"\n"}{end}')
[ "$pods" = 1 ] || fail "its Pods have ended with $pods, want one with the status 1"

docker cp "$node:/bundles" "$out/store"
collected=0
"$evenkeel" conformance collect --plan "$out/$job/plan.yaml" --store "$out/store" --out "$out/merged" || collected=$?
red=0
"$evenkeel" conformance collect --plan "$out/planted/plan.yaml" --store "$out/store" --out "$out/red" || red=$?
[ "$red" -eq 1 ] || fail "collect of the planted defect ended with $red"
"$evenkeel" verify "$out/merged" "$out/red"
bundles=$(find "$out/merged/runs" -mindepth 1 -maxdepth 1 -type d | wc -l)
say "$bundles bundles were collected"
[ "$bundles" -ge $((2 * ${#scenarios[@]})) ] || fail "want $((2 * ${#scenarios[@]})) at least"

"$evenkeel" cluster down "$name"
trap - EXIT
alone=0
"$evenkeel" conformance run "${plan[@]}" --out "$out/local" || alone=$?
"$evenkeel" diff "$out/local" "$out/merged" || fail "the merged report is worse than the local one"
"$evenkeel" diff "$out/merged" "$out/local" || fail "the merged report is better than the local one"
[ "$collected" -eq "$alone" ] || fail "collect ended with $collected, and the campaign on this machine with $alone"
say "the merged report equals the local one"
