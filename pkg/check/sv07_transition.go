package check

import (
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// sv07: the transition time moves exactly when the outcome of the agreement
// changes, the outcome being the agreed version or its absence.
type sv07 struct {
	findings
	// gained and lost count the changes of outcome that show whether the time moved:
	// to an agreed version, and away from one.
	gained, lost, unchanged int64
	last                    map[string]agreement
}

// agreement is what an object's condition said at its last revision.
type agreement struct {
	seq        int64
	common     *string
	transition time.Time
}

func newSV07() *sv07 { return &sv07{last: map[string]agreement{}} }

func (c *sv07) Observe(w *World, ev *history.Event) {
	name, sv, ok := changedStorageVersion(ev)
	if !ok {
		return
	}
	if sv == nil {
		delete(c.last, name)
		return
	}
	condition, ok := agreementCondition(sv)
	if !ok {
		return
	}
	now := agreement{ev.Seq, sv.Common, condition.Transition}
	before, known := c.last[name]
	c.last[name] = now
	if known {
		c.compare(w, ev, name, before, now)
	}
}

func (c *sv07) compare(w *World, ev *history.Event, name string, before, now agreement) {
	evidence := at(before.seq, ev.Seq)
	if sameString(before.common, now.common) {
		c.unchanged++
		if !now.transition.Equal(before.transition) {
			c.infer(w, evidence, "in %s the transition time moved from %s to %s, but the outcome stayed %s",
				name, stamp(before.transition), stamp(now.transition), showCommon(now.common))
		}
		return
	}
	seen := w.Header.Started.Add(time.Duration(ev.At))
	unmoved := now.transition.Equal(before.transition)
	// It is given in seconds, so that two changes within one may have the same.
	told := seen.Sub(now.transition) > clockSkew+w.aways.lag(int64(now.transition.Sub(w.Header.Started)), ev.At)
	switch {
	case unmoved && !told:
	case now.common != nil:
		c.gained++
	default:
		c.lost++
	}
	switch {
	case before.transition.Sub(now.transition) > clockSkew:
		c.infer(w, evidence, "in %s the transition time went back from %s to %s", name, stamp(before.transition), stamp(now.transition))
	case unmoved && told:
		c.infer(w, evidence, "in %s the outcome changed from %s to %s, but the transition time stayed %s",
			name, showCommon(before.common), showCommon(now.common), stamp(now.transition))
	}
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

func (c *sv07) Finish(*World) {}

func (c *sv07) Observations() []Observation {
	return []Observation{
		{What: "revisions that brought an agreed version, at another time than the change before", Seen: c.gained, Need: needDisagreements},
		{What: "revisions that took the agreed version away, at another time than the change before", Seen: c.lost, Need: needDisagreements},
		{What: "revisions that left the outcome as it was", Seen: c.unchanged, Need: needUnchangedOutcomes},
	}
}
