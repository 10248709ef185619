#!/bin/sh
# A hook of a topology that hack/external has written. It operates a node of a cluster
# that `evenkeel cluster up` has made, with the means of the cluster's owner.
#
# usage: node.sh kind            docker; the node is the container EVENKEEL_HOST
#        node.sh local CLUSTER   signals to the processes of the cluster of that ID
set -eu

member=$EVENKEEL_MEMBER
component=${EVENKEEL_COMPONENT:-}
manifests=/etc/kubernetes/manifests
away=/etc/kubernetes/evenkeel-away

fail() {
	echo "$*" >&2
	exit 1
}

# --- Processes of this machine ---

# pids prints the processes of the member's API server, the only component that hooks
# operate alone, or all processes of the member.
pids() {
	for environment in /proc/[0-9]*/environ; do
		pid=$(basename "$(dirname "$environment")")
		tr '\0' '\n' 2>/dev/null <"$environment" | grep -qx "EVENKEEL_CLUSTER=$cluster" || continue
		line=$(tr '\0' ' ' <"/proc/$pid/cmdline")
		case $line in
		*" apiserver "*" --hostname $member "*) echo "$pid" ;;
		*" --hostname $member "* | *" --name $member "*) [ -n "$component" ] || echo "$pid" ;;
		esac
	done
}

signal() {
	found=$(pids)
	[ -n "$found" ] || fail "no process of $member runs"
	# shellcheck disable=SC2086 # several
	kill "-$1" $found
}

on_this_machine() {
	case $EVENKEEL_HOOK in
	kill) signal KILL ;; # the owner of the cluster starts it again, as a kubelet does
	pause) signal STOP ;;
	resume) signal CONT ;;
	*) fail "local processes have no $EVENKEEL_HOOK" ;;
	esac
}

# --- kind nodes ---

in_node() { docker exec "$EVENKEEL_HOST" "$@"; }

others() {
	network=$(docker inspect --format '{{range $name, $_ := .NetworkSettings.Networks}}{{$name}}{{end}}' "$EVENKEEL_HOST")
	docker network inspect --format '{{range .Containers}}{{.Name}} {{.IPv4Address}}{{"\n"}}{{end}}' "$network" |
		while read -r name address; do
			if [ -n "$name" ] && [ "$name" != "$EVENKEEL_HOST" ]; then echo "${address%/*}"; fi
		done
}

firewall() {
	for address in $(others); do
		in_node iptables "$1" INPUT -s "$address" -j DROP
		in_node iptables "$1" OUTPUT -d "$address" -j DROP
	done
}

signal_in_node() {
	# shellcheck disable=SC2016 # for the node's own shell
	in_node sh -c 'for id in $(crictl ps --quiet --name "^(kube-)?apiserver$"); do
		crictl inspect --output go-template --template "{{.info.pid}}" "$id" | xargs kill "-$1"
	done' sh "$1"
}

# wait_away waits until the kubelet has ended the Pods whose manifests are gone.
wait_away() {
	# shellcheck disable=SC2016
	in_node sh -c 'while crictl ps --quiet --name "$1" | grep -q .; do sleep 0.2; done' sh "$1"
}

to_release() {
	[ "$EVENKEEL_FROM" != "$EVENKEEL_RELEASE" ] || fail "$member runs $EVENKEEL_RELEASE already"
	# The release of the reference is a flag. The release of Kubernetes is the tag of its
	# images, which the node must have. The script moves complete manifests into place,
	# because the kubelet reads them at any time.
	# shellcheck disable=SC2016
	in_node sh -ec 'for file in "$1"/*.yaml; do
		new=/etc/kubernetes/$(basename "$file").new
		sed -e "/- --release\$/{n;s|- .*|- \"$3\"|;}" -e "s|\(image: .*:\)$2\$|\1$3|" "$file" >"$new"
		for image in $(sed -n "s|^ *image: *||p" "$new"); do
			crictl inspecti --quiet "$image" >/dev/null || { echo "the node has no image $image" >&2; exit 1; }
		done
		if cmp -s "$new" "$file"; then rm "$new"; else mv "$new" "$file"; fi
	done' sh "$manifests" "$EVENKEEL_FROM" "$EVENKEEL_RELEASE"
}

in_docker() {
	case $EVENKEEL_HOOK:$component in
	upgrade:* | rollback:*) to_release ;;
	kill:apiserver) signal_in_node KILL ;; # the kubelet starts it again
	pause:) docker pause "$EVENKEEL_HOST" ;;
	resume:) docker unpause "$EVENKEEL_HOST" ;;
	pause:apiserver) signal_in_node STOP ;;
	resume:apiserver) signal_in_node CONT ;;
	cutOff:*) firewall -I ;;
	reconnect:*) firewall -D ;;
	powerOff:*) docker kill "$EVENKEEL_HOST" ;;
	powerOn:*) docker start "$EVENKEEL_HOST" ;;
	stop:apiserver)
		in_node sh -ec "mkdir -p $away; mv $manifests/*apiserver.yaml $away/"
		wait_away '^(kube-)?apiserver$'
		;;
	stop:)
		in_node sh -ec "mkdir -p $away; mv $manifests/*.yaml $away/"
		wait_away '^(kube-.*|apiserver|controller-manager|etcd)$'
		;;
	# A manifest that is in place runs already.
	start:*) in_node sh -ec "if [ -d $away ]; then find $away -name '*.yaml' -exec mv {} $manifests/ \;; fi" ;;
	*) fail "there is no $EVENKEEL_HOOK of $component here" ;;
	esac
}

case ${1:-} in
kind) in_docker ;;
local) cluster=$2 && on_this_machine ;;
*) fail "usage: node.sh kind | local CLUSTER" ;;
esac
