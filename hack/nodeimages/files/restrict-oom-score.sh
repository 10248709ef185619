#!/bin/sh
# Runs before containerd. Without CAP_SYS_RESOURCE (bit 24) no process may lower an
# OOM score, and every pod sandbox would die of trying: then containerd is told
# to leave scores below its own alone.
set -eu
bounding=$(sed -n 's/^CapBnd:[[:space:]]*//p' /proc/self/status)
if [ $((0x$bounding >> 24 & 1)) -eq 0 ]; then
	sed -i 's/restrict_oom_score_adj = false/restrict_oom_score_adj = true/' /etc/containerd/config.toml
fi
