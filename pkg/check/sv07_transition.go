package check

import (
	"slices"
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// sv07: the transition time moves exactly when the outcome of the agreement
// changes, the outcome being the agreed version or its absence.
type sv07 struct {
	findings
	changed, unchanged int64
	last               map[string]agreement
}

// agreement is what an object's condition said at its last revision.
type agreement struct {
	seq        int64
	common     *string
	status     string
	transition time.Time
}

func (c *sv07) Observe(w *World, ev *history.Event) {
	if ev.Stored == nil || (ev.Stored.StorageVersion == nil && ev.Stored.Type != history.StoredDelete) {
		return
	}
	name := ev.Stored.Name
	if ev.Stored.StorageVersion == nil {
		delete(c.last, name)
		return
	}
	sv := ev.Stored.StorageVersion
	i := slices.IndexFunc(sv.Conditions, func(k history.Condition) bool { return k.Type == conditionType })
	if i < 0 {
		return
	}
	now := agreement{ev.Seq, sv.Common, sv.Conditions[i].Status, sv.Conditions[i].Transition}
	before, known := c.last[name]
	c.last[name] = now
	if !known {
		return
	}
	if sameString(before.common, now.common) {
		c.unchanged++
		if !now.transition.Equal(before.transition) {
			c.violate(at(before.seq, ev.Seq), "in %s the transition time moved from %s to %s, but the outcome stayed %s",
				name, stamp(before.transition), stamp(now.transition), showCommon(now.common))
		}
		return
	}
	c.changed++
	seen := w.Header.Started.Add(time.Duration(ev.At))
	switch {
	case now.transition.Before(before.transition):
		c.violate(at(before.seq, ev.Seq), "in %s the transition time went back from %s to %s", name, stamp(before.transition), stamp(now.transition))
	case now.transition.Equal(before.transition) && seen.Sub(now.transition) > transitionResolution:
		c.violate(at(before.seq, ev.Seq), "in %s the outcome changed from %s to %s, but the transition time stayed %s",
			name, showCommon(before.common), showCommon(now.common), stamp(now.transition))
	}
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

func (c *sv07) Finish(*World) {}

func (c *sv07) Observations() []Observation {
	return []Observation{
		{"revisions that changed the outcome", c.changed, needDisagreements},
		{"revisions that left the outcome as it was", c.unchanged, needContentChanges},
	}
}
