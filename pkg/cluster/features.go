package cluster

import (
	"fmt"
	"slices"
)

// Feature is something that a member's API server can be started without.
type Feature string

// FeatureStorageVersions is the StorageVersion API of KEP-2339: a server without it
// publishes no storage versions and does not hold writes back until it has. It
// takes part all the same, which its identity Lease says.
const FeatureStorageVersions Feature = "storageVersions"

// Features are all that are known.
var Features = []Feature{FeatureStorageVersions}

// CheckFeatures is an error that names the features that are none.
func CheckFeatures(names []Feature) error {
	for _, name := range names {
		if !slices.Contains(Features, name) {
			return fmt.Errorf("there is no feature %q that could be switched off; there are: %v", name, Features)
		}
	}
	return nil
}

// Switchable is a Cluster whose members' API servers can be started with features
// switched off, each by itself.
type Switchable interface {
	// SwitchOff says which features a member's API server is without from its next
	// start on, whoever starts it; none means that it has all of them again.
	SwitchOff(member string, features []Feature) error
}
