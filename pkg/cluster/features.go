package cluster

import (
	"fmt"
	"slices"
)

// Feature is something that components of a member can be started without.
type Feature string

// FeatureStorageVersions is the StorageVersion API of KEP-2339: a server without it
// publishes no storage versions and does not hold writes back until it has. It
// takes part all the same, which its identity Lease says.
const FeatureStorageVersions Feature = "storageVersions"

// FeatureCoordination is coordinated leader election, KEP-4355: an API server without
// it coordinates nothing and takes no notice of what Leases say of coordination, and
// a controller without it claims its Lease by itself.
const FeatureCoordination Feature = "coordinatedLeaderElection"

// FeatureAggregatedDiscovery is aggregated discovery, KEP-3352: an API server without it
// gives every client the documents that are not aggregated.
const FeatureAggregatedDiscovery Feature = "aggregatedDiscovery"

// Features are all that are known.
var Features = []Feature{FeatureStorageVersions, FeatureCoordination, FeatureAggregatedDiscovery}

// FeaturesOf are those of the features that a component can be without.
func FeaturesOf(component Component, features []Feature) []Feature {
	var out []Feature
	for _, feature := range features {
		if component == APIServer || feature == FeatureCoordination && component != Etcd {
			out = append(out, feature)
		}
	}
	return out
}

// Union are the features of both, each once.
func Union(some, more []Feature) []Feature {
	out := slices.Clone(some)
	for _, feature := range more {
		if !slices.Contains(out, feature) {
			out = append(out, feature)
		}
	}
	return out
}

// CheckFeatures is an error that names the features that are none.
func CheckFeatures(names []Feature) error {
	for _, name := range names {
		if !slices.Contains(Features, name) {
			return fmt.Errorf("there is no feature %q that could be switched off; there are: %v", name, Features)
		}
	}
	return nil
}

// FeatureSwitcher is a Cluster whose members can be started with features switched off,
// each by itself.
type FeatureSwitcher interface {
	// SwitchOff says which features a member's components are without from their next
	// start on, whichever operation starts them; none means that they have all of them again.
	SwitchOff(member string, features []Feature) error
}
