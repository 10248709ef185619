package scenario

import (
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

func featureNames(features []cluster.Feature) []string {
	var names []string
	for _, feature := range features {
		names = append(names, string(feature))
	}
	return names
}
