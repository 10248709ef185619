# Makes a container of the base image a node of a release: names the release and
# its pause image, and puts the archive on standard input into containerd's
# store. Wants $release, $pause and $patience; start-containerd.sh stands before.
chmod 0755 /usr/bin/kubeadm /usr/bin/kubelet /usr/bin/kubectl
printf %s "$release" >/kind/version

# Pinned, so that the kubelet does not remove what no registry may have. Not
# unpacked: that takes mounts, and each node does it for itself.
ctr --namespace k8s.io images import --no-unpack --label io.cri-containerd.pinned=pinned -
kill "$daemon"
wait "$daemon" || true
rm -f /tmp/containerd.log

sed -i "s|sandbox_image = .*|sandbox_image = \"$pause\"|" /etc/containerd/config.toml
grep -qF "sandbox_image = \"$pause\"" /etc/containerd/config.toml
