package kubernetes

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/pkg/cluster"
)

// withPeers is the release with API servers that also tell of what their peers
// host. It is an error that wraps cluster.ErrUnsupported where the release cannot
// do that.
func (r Release) withPeers() (Release, error) {
	if len(r.PeerDiscovery) == 0 {
		return r, fmt.Errorf("the Kubernetes release %s cannot tell of what other API servers host, which peer discovery (KEP-4020) needs; use one of %s: %w",
			r.Name, strings.Join(releasesWithPeers(), ", "), cluster.ErrUnsupported)
	}
	gates := maps.Clone(r.FeatureGates)
	gates[APIServer] = slices.Concat(gates[APIServer], r.PeerDiscovery)
	r.FeatureGates = gates
	return r, nil
}

// releasesWithPeers are those that can, oldest first.
func releasesWithPeers() []string {
	var names []string
	for _, release := range known().Releases {
		if len(release.PeerDiscovery) > 0 {
			names = append(names, release.Name)
		}
	}
	return names
}
