package local

import (
	"fmt"
	"slices"
	"sync"

	"github.com/evenkeel/evenkeel/pkg/cluster"
)

// switches are the features that are switched off at a member. A process that
// exits is started again at any moment, so they are set and read by several
// goroutines.
type switches struct {
	mu  sync.Mutex
	off []cluster.Feature
}

func (s *switches) set(off []cluster.Feature) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.off = slices.Clone(off)
}

func (s *switches) get() []cluster.Feature {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.off)
}

// SwitchOff implements cluster.FeatureSwitcher.
func (c *local) SwitchOff(name string, features []cluster.Feature) error {
	m, err := c.look(name)
	if err != nil {
		return err
	}
	before := m.site.off.get()
	m.site.off.set(features)
	// Whether the distribution can do it shows when its command line is made.
	if _, err := c.distribution.command(cluster.APIServer, m.site, c.Release(name)); err != nil {
		m.site.off.set(before)
		return fmt.Errorf("cannot switch %v off at member %s: %w", features, name, err)
	}
	return nil
}
