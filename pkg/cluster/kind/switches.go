//go:build linux

package kind

import (
	"fmt"
	"slices"

	"github.com/evenkeel/evenkeel/pkg/cluster"
)

// SwitchOff implements cluster.FeatureSwitcher. What the kubelet starts again by itself is of
// the static Pod that it has, so that it counts for the next one that is put.
func (c *kindCluster) SwitchOff(name string, features []cluster.Feature) error {
	m, err := c.look(name)
	if err != nil {
		return err
	}
	if err := cluster.CheckFeatures(features); err != nil {
		return fmt.Errorf("cannot switch %v off at member %s: %w", features, name, err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.without = slices.Clone(features)
	return nil
}

// lacks are the features that a component's next static Pod is without.
func (m *member) lacks(component cluster.Component) []cluster.Feature {
	m.mu.Lock()
	defer m.mu.Unlock()
	return cluster.FeaturesOf(component, m.without)
}
