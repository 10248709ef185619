package election

import (
	"strings"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
)

// activityProbe is a change by which the harness gives the leader of a component work, where
// leaders otherwise leave no evidence of acting: it creates an unschedulable Pod for the
// scheduler, or deletes an object that the controller manager restores.
type activityProbe struct {
	component, key string
	fact.Stamp
	// over is whether the harness has taken the work back, so that nothing is left to do.
	over bool
}

// activityProbeNamespace is the part of an etcd key that names the namespace of the probes.
const activityProbeNamespace = "/evenkeel-errands/" // quoted: published bundles have it

func (f *Facts) observeActivityProbe(ev *history.Event) {
	s := ev.Stored
	pod, deleted := strings.HasPrefix(s.Key, "/registry/pods/"), s.Type == history.StoredDelete
	switch {
	case pod && !deleted && s.Created == s.Revision, pod && deleted && f.lastPod() == s.Key:
		f.activityProbes = append(f.activityProbes, activityProbe{history.ComponentScheduler, s.Key, fact.StampOf(ev), deleted})
	case !pod && deleted:
		f.activityProbes = append(f.activityProbes, activityProbe{history.ComponentControllerManager, s.Key, fact.StampOf(ev), false})
	}
}

// lastPod returns the key of the Pod that the harness created or deleted last.
func (f *Facts) lastPod() string {
	pods := fact.Where(f.activityProbes, func(p activityProbe) bool { return p.component == history.ComponentScheduler })
	if len(pods) == 0 {
		return ""
	}
	return pods[len(pods)-1].key
}

// hasWork holds while the leader of a Lease has something to do: from its first action on,
// or, where the harness runs activity probes, from each probe until a leader acts or the
// harness takes the probe back.
func (l *Lease) hasWork() fact.Signal {
	if l.actions[0].Host == "" {
		return fact.From(fact.Exactly(l.actions[0].At, 0))
	}
	var b fact.Builder
	left := l.actions
	acted := func(before int64) {
		for ; len(left) > 0 && left[0].Revision < before; left = left[1:] {
			b.SetAt(l.When(left[0].Stamp).Latest+1, fact.No)
		}
	}
	for _, p := range l.activityProbes {
		if p.component == l.component() {
			acted(p.Revision)
			b.SetAt(l.When(p.Stamp).Latest, fact.Of(!p.over))
		}
	}
	acted(fact.Forever)
	return b.Signal()
}
