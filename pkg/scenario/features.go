package scenario

import (
	"errors"
	"fmt"

	"github.com/evenkeel/evenkeel/pkg/cluster"
)

// switchOff says what a member's components are started without the next time. A
// provider that cannot say that has never switched anything off.
func (r *Runner) switchOff(member string, off []cluster.Feature) error {
	if switchable, can := r.cluster.(cluster.FeatureSwitcher); can {
		return switchable.SwitchOff(member, off)
	}
	return nil
}

// checkSwitches is an error where the cluster cannot start members without these features.
// What its distribution has no switch for shows when a member is told to be without it.
func (r *Runner) checkSwitches(off []cluster.Feature) error {
	if len(off) == 0 {
		return nil
	}
	switchable, can := r.cluster.(cluster.FeatureSwitcher)
	if !can {
		return fmt.Errorf("starts a member without %v, and this provider cannot switch features off: %w", off, cluster.ErrUnsupported)
	}
	member := r.members()[0]
	return errors.Join(switchable.SwitchOff(member, off), switchable.SwitchOff(member, nil))
}

func featureNames(features []cluster.Feature) []string {
	var names []string
	for _, feature := range features {
		names = append(names, string(feature))
	}
	return names
}

// disabledBy are the features that a step starts members without.
func disabledBy(a Action) []cluster.Feature {
	if d, ok := a.(disabling); ok {
		return d.disabled()
	}
	return nil
}
