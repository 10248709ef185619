# Sourced in a container of a node image: starts containerd, and returns when it
# answers. Wants the seconds that this may take in $patience.
containerd >/tmp/containerd.log 2>&1 &
daemon=$!
since=$(date +%s)
until ctr version >/dev/null 2>&1; do
	if ! kill -0 "$daemon" 2>/dev/null || [ $(($(date +%s) - since)) -gt "$patience" ]; then
		cat /tmp/containerd.log >&2
		echo "containerd did not start" >&2
		exit 1
	fi
	sleep 0.1
done
