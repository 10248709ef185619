package local

import (
	"context"
	"fmt"
	"strings"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/cluster/kubernetes"
)

// ExamineMachine tells which releases of Kubernetes are built.
func (Provider) ExamineMachine(context.Context) []cluster.Finding {
	return []cluster.Finding{publishedKubernetes()}
}

// publishedKubernetes tells which releases of Kubernetes could be judged with
// binaries that are at hand. A run of the reference needs none.
func publishedKubernetes() cluster.Finding {
	f := cluster.Finding{What: "local provider, kubernetes"}
	var ready, lacking []string
	for _, release := range kubernetes.Releases() {
		if complete(release) {
			ready = append(ready, release)
		} else {
			lacking = append(lacking, release)
		}
	}
	if _, err := kubernetes.LookUpEtcd(nil); err != nil {
		f.Detail = fmt.Sprintf("etcd %s is not built: run `make binaries`", kubernetes.EtcdVersion())
		return f
	}
	f.OK = len(ready) > 0
	if f.OK {
		f.Detail = "releases " + strings.Join(ready, ", ")
	}
	if len(lacking) > 0 {
		if f.OK {
			f.Detail += "; "
		}
		f.Detail += fmt.Sprintf("not built: %s (`make binaries RELEASES=\"…\"`)", strings.Join(lacking, ", "))
	}
	return f
}

func complete(release string) bool {
	for _, binary := range kubernetes.Binaries {
		if _, err := kubernetes.LookUp(binary, release, nil); err != nil {
			return false
		}
	}
	return true
}
