package kubernetes

import (
	"fmt"
	"strings"

	"github.com/evenkeel/evenkeel/pkg/cluster"
)

// releasing is the release with controller managers that release their Lease on exit or do
// not, or with the default where wanted is empty. It is an error that wraps
// cluster.ErrUnsupported where the release cannot do that. A release without the gate does
// not release the Lease, so that it can be asked for that.
func (r Release) releasing(wanted cluster.Switch) (Release, error) {
	switch {
	case wanted == "", wanted == cluster.SwitchOff && r.ReleaseOnExit == "":
	case r.ReleaseOnExit == "":
		return r, fmt.Errorf("kube-controller-manager of the Kubernetes release %s cannot release its Lease on exit (KEP-5366); use one of %s: %w",
			r.Name, strings.Join(releasesThatRelease(), ", "), cluster.ErrUnsupported)
	default:
		r.releaseGate = fmt.Sprintf("%s=%t", r.ReleaseOnExit, wanted == cluster.SwitchOn)
	}
	return r, nil
}

// releasesThatRelease are those that have the gate, oldest first.
func releasesThatRelease() []string {
	var names []string
	for _, release := range known().Releases {
		if release.ReleaseOnExit != "" {
			names = append(names, release.Name)
		}
	}
	return names
}
