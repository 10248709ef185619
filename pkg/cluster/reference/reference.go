// Package reference is what the harness knows of the reference control plane of
// this repository, without running it and without importing it: one binary,
// refplane, that plays every component and every release, and its command line.
//
// It is internal to Evenkeel: nothing outside of it should build on it.
package reference

import (
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/release"
)

// Name is what topologies call this distribution.
const Name = "reference"

// Components of a member, in the order in which they start.
var Components = []cluster.Component{cluster.Etcd, cluster.APIServer, cluster.ControllerManager}

// ComponentsOf are the components of a member with the settings.
func ComponentsOf(settings cluster.Settings) []cluster.Component {
	if !settings.AggregatedServers {
		return Components
	}
	return []cluster.Component{cluster.Etcd, cluster.APIServer, cluster.AggregatedServer, cluster.ControllerManager}
}

// Aggregated is the API that the aggregated servers of the members host, without where they
// are.
var Aggregated = cluster.AggregatedAPI{Group: "aggregated.reference.evenkeel.dev", Resource: "ballasts"}

// ReadyPath is where every component but etcd tells whether it is ready.
const ReadyPath = "/readyz"

// ServerID is the identity that the API server of a member is given.
func ServerID(member string) string { return "apiserver-" + member }

// aggregatedServerID is the identity that the aggregated server of a member is given.
func aggregatedServerID(member string) string { return "aggregated-apiserver-" + member }

// Binary is a refplane.
type Binary struct{ Path string }

// Releases that it plays, oldest first.
func (b Binary) Releases(ctx context.Context) ([]string, error) {
	var listed []struct {
		Name string `json:"name"`
	}
	if err := b.list(ctx, "releases", &listed); err != nil {
		return nil, err
	}
	names := make([]string, 0, len(listed))
	for _, one := range listed {
		names = append(names, one.Name)
	}
	return names, nil
}

// Uncoordinated are the releases that know no coordinated leader election, whether or not it is
// switched off.
func (b Binary) Uncoordinated(ctx context.Context) (Uncoordinated, error) {
	var listed []struct {
		Name string `json:"name"`
		// Coordination is not told by binaries that play no such release.
		Coordination *bool `json:"coordination"`
	}
	if err := b.list(ctx, "releases", &listed); err != nil {
		return nil, err
	}
	var names Uncoordinated
	for _, one := range listed {
		if one.Coordination != nil && !*one.Coordination {
			names = append(names, one.Name)
		}
	}
	return names, nil
}

// Uncoordinated are names of releases.
type Uncoordinated []string

// Lacks are the features that a component is without at a release, beside those that are switched off.
func (u Uncoordinated) Lacks(component cluster.Component, played string) []cluster.Feature {
	if !slices.Contains(u, release.Parse(played).Behaves()) {
		return nil
	}
	return cluster.FeaturesOf(component, []cluster.Feature{cluster.FeatureCoordination})
}

// Defects that it can be started with.
func (b Binary) Defects(ctx context.Context) ([]cluster.Defect, error) {
	var listed []cluster.Defect
	err := b.list(ctx, "defects", &listed)
	return listed, err
}

// list runs one of the binary's listing commands.
func (b Binary) list(ctx context.Context, what string, into any) error {
	ctx, cancel := context.WithTimeout(ctx, listBound)
	defer cancel()
	listing := exec.CommandContext(ctx, b.Path, what, "-o", "json")
	var complaint strings.Builder
	listing.Stderr = &complaint
	raw, err := listing.Output()
	if err != nil {
		return fmt.Errorf("`%s %s -o json` failed: %w: %s", b.Path, what, err, lastLine(complaint.String()))
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return fmt.Errorf("`%s %s -o json` printed no list: %w; is it a refplane of this version?", b.Path, what, err)
	}
	return nil
}

func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return lines[len(lines)-1]
}
