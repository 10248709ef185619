# What prepare.sh and stop.sh agree on.

# The daemon that prepare.sh starts is known by this file: another one has its own.
pid_file=/run/evenkeel-dockerd.pid
log_file=/var/log/evenkeel-dockerd.log

# Seconds that the daemon may take to answer or to end. A start takes two or
# three; with containers of a former one to restore it takes longer.
patience=60

say() { echo "docker: $*"; }
fail() {
	echo "docker: $*" >&2
	exit 1
}

# ours tells whether the daemon that prepare.sh started is there.
ours() {
	[ -s "$pid_file" ] && [ "$(cat "/proc/$(cat "$pid_file")/comm" 2>/dev/null)" = dockerd ]
}

# wait_until CONDITION… asks again and again, and is false after $patience.
wait_until() {
	local deadline=$((SECONDS + patience))
	until "$@"; do
		[ $SECONDS -lt $deadline ] || return 1
		sleep 0.2
	done
}

stop_ours() {
	local pid
	pid=$(cat "$pid_file")
	kill "$pid"
	gone() { [ ! -e "/proc/$pid" ]; }
	wait_until gone || fail "the daemon $pid does not end; look at $log_file"
	rm -f "$pid_file"
}
