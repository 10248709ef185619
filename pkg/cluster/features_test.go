package cluster

import (
	"slices"
	"testing"
)

func TestFeaturesOf(t *testing.T) {
	for component, want := range map[Component][]Feature{
		APIServer:         {FeatureStorageVersions, FeatureCoordination, FeatureAggregatedDiscovery},
		ControllerManager: {FeatureCoordination},
		Scheduler:         {FeatureCoordination},
		Etcd:              nil,
	} {
		if got := FeaturesOf(component, Features); !slices.Equal(got, want) {
			t.Errorf("%s can be without %v, want %v", component, got, want)
		}
	}
}
