#!/usr/bin/env bash
# Prepares a machine for the kind provider: a Docker daemon that can run
# privileged containers, and debootstrap to build node images with. On Debian as
# root it starts from nothing; where all is there it does nothing, as any user.
#
# Where the machine's bounding set lacks CAP_SYS_RESOURCE, no container can be
# privileged with plain runc. There, and only there, the daemon gets a runtime
# that asks runc for what the machine has (runcwrapper/).
set -euo pipefail
cd "$(dirname "$0")"
. ./common.sh

runtime=evenkeel
wrapper=/usr/local/libexec/evenkeel-runcwrapper
settings=/etc/docker/daemon.json
cap_sys_resource=24

lacks_capability() {
	local set
	set=$(sed -n 's/^CapBnd:[[:space:]]*//p' /proc/self/status)
	[ $((0x$set >> cap_sys_resource & 1)) -eq 0 ]
}

answers() { docker version --format '{{.Server.Version}}' >/dev/null 2>&1; }
default_runtime() { docker info --format '{{.DefaultRuntime}}'; }
need_root() { [ "$(id -u)" -eq 0 ] || fail "$1 takes root: run this as root"; }

# packages installs what provides the commands that are missing.
packages() {
	local missing=()
	want() { command -v "$1" >/dev/null || [[ " ${missing[*]} " == *" $2 "* ]] || missing+=("$2"); }
	if ! answers; then
		want docker docker.io
		want dockerd docker.io
		want runc runc
		want iptables iptables
		# Where the kernel has AppArmor, Docker starts no container without its parser.
		if [ "$(cat /sys/module/apparmor/parameters/enabled 2>/dev/null)" = Y ]; then want apparmor_parser apparmor; fi
	fi
	if $needs_wrapper; then want jq jq; fi
	if [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null; then
		want debootstrap debootstrap
	elif ! command -v debootstrap >/dev/null; then
		say "debootstrap is missing: node images can be pulled and not built"
	fi
	[ ${#missing[@]} -gt 0 ] || return 0
	need_root "installing ${missing[*]}"
	command -v apt-get >/dev/null || fail "there is no apt-get: install ${missing[*]} by hand"
	say "installing ${missing[*]}"
	apt-get update -qq
	# Without a service manager the package cannot start the daemon; that is done
	# below.
	apt_install "${missing[@]}"
	# From Debian 13 on the client is a package of its own.
	command -v docker >/dev/null || apt_install docker-cli
}

# apt_install shows what apt said only where it failed.
apt_install() {
	local said
	said=$(DEBIAN_FRONTEND=noninteractive apt-get install -qq --no-install-recommends "$@" 2>&1) ||
		fail "installing $* failed:"$'\n'"$said"
}

# mount_cgroups does what an init would have done.
mount_cgroups() {
	grep -qE '^[^ ]+ /sys/fs/cgroup[^ ]* cgroup2? ' /proc/mounts && return
	need_root "mounting the control groups"
	command -v cgroupfs-mount >/dev/null || apt_install cgroupfs-mount
	cgroupfs-mount
	say "mounted the control groups"
}

install_wrapper() {
	local built
	built=$(mktemp -d)
	CGO_ENABLED=0 go build -C ../.. -o "$built/wrapper" ./hack/docker/runcwrapper
	if ! cmp -s "$built/wrapper" "$wrapper"; then
		need_root "installing a runtime"
		install -D -m 0755 "$built/wrapper" "$wrapper"
		say "installed $wrapper"
	fi
	rm -rf "$built"
}

# register_wrapper keeps whatever else the daemon's settings say.
register_wrapper() {
	local before='{}' after
	[ ! -s "$settings" ] || before=$(cat "$settings")
	after=$(jq --arg name "$runtime" --arg path "$wrapper" \
		'.runtimes[$name].path = $path | ."default-runtime" = $name' <<<"$before") ||
		fail "$settings is no JSON: repair it"
	[ "$(jq -S . <<<"$after")" != "$(jq -S . <<<"$before")" ] || return 0
	need_root "changing $settings"
	mkdir -p "$(dirname "$settings")"
	printf '%s\n' "$after" >"$settings"
	say "registered the runtime $runtime in $settings"
}

# raise_limit SYSCTL LEAST; each node's systemd and kubelet watch many files.
raise_limit() {
	local file=/proc/sys/${1//.//}
	[ "$(cat "$file")" -lt "$2" ] || return 0
	echo "$2" 2>/dev/null >"$file" || say "$1 is below $2 and cannot be raised: several nodes may run out of it"
}

start() {
	need_root "starting a daemon"
	mount_cgroups
	say "starting a daemon; its log is $log_file"
	# Free of this terminal and of this script's group, so that it outlives both.
	setsid dockerd --pidfile "$pid_file" >>"$log_file" 2>&1 </dev/null &
	local daemon=$!
	up_or_dead() { answers || ! kill -0 "$daemon" 2>/dev/null; }
	wait_until up_or_dead && answers || fail "the daemon does not answer: $(tail -n 1 "$log_file")"
}

needs_wrapper=false
if lacks_capability; then needs_wrapper=true; fi

if $needs_wrapper && answers && [ "$(default_runtime)" != "$runtime" ] && ! ours; then
	fail "a daemon runs that cannot start privileged containers, because this machine lacks CAP_SYS_RESOURCE, and it is not mine to restart: stop it and run this again"
fi
packages
if $needs_wrapper; then
	install_wrapper
	register_wrapper
	if answers && [ "$(default_runtime)" != "$runtime" ]; then stop_ours; fi
fi
raise_limit fs.inotify.max_user_watches 524288
raise_limit fs.inotify.max_user_instances 512
answers || start
say "ready: Docker $(docker version --format '{{.Server.Version}}'), runtime $(default_runtime)"
