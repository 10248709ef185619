package check

import (
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
	c.changed++
	seen := w.Header.Started.Add(time.Duration(ev.At))
	switch {
	case before.transition.Sub(now.transition) > clockSkew:
		c.infer(w, evidence, "in %s the transition time went back from %s to %s", name, stamp(before.transition), stamp(now.transition))
	case now.transition.Equal(before.transition) && seen.Sub(now.transition) > clockSkew+w.aways.lag(int64(now.transition.Sub(w.Header.Started)), ev.At):
		c.infer(w, evidence, "in %s the outcome changed from %s to %s, but the transition time stayed %s",
			name, showCommon(before.common), showCommon(now.common), stamp(now.transition))
	}
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

func (c *sv07) Finish(*World) {}

func (c *sv07) Observations() []Observation {
	return []Observation{
		{"revisions that changed the outcome", c.changed, needDisagreements},
		{"revisions that left the outcome as it was", c.unchanged, needUnchangedOutcomes},
	}
}
