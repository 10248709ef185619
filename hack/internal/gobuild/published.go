package gobuild

import "github.com/evenkeel/evenkeel/pkg/cluster/kubernetes"

// Kubernetes are programs of a Kubernetes release, named as under its cmd/.
func Kubernetes(cache, release string, names ...string) Target {
	t := Target{
		What: "kubernetes", Version: release, Dir: kubernetes.ReleaseDir(cache, release),
		Module: kubernetesModule, Require: []string{kubernetesModule},
		Programs: map[string]string{}, Flags: versionFlags,
	}
	for _, name := range names {
		t.Programs[kubernetesModule+"/cmd/"+name] = name
	}
	return t
}

// Etcd is the server that all releases run on, and the client for reading a cluster by
// hand.
func Etcd(cache string) Target {
	const server, client = "go.etcd.io/etcd/server/v3", "go.etcd.io/etcd/etcdctl/v3"
	return Target{
		What: "etcd", Version: kubernetes.EtcdVersion(), Dir: kubernetes.EtcdDir(cache),
		Module: server, Require: []string{server, client},
		Programs: map[string]string{server: "etcd", client: "etcdctl"},
	}
}
