# Lists what is in a node image's store; start-containerd.sh stands before.
ctr --namespace k8s.io images list --quiet
