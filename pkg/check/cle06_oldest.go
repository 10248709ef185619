package check

import (
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// cle06: the candidate with the lowest version is elected, of those that answered.
// KEP-4355 compares the binary version first, and the published API the emulated
// one: a breach is only what is wrong in either order.
type cle06 struct {
	findings
	judged, disputed int64
}

func (c *cle06) Observe(w *World, ev *history.Event) {
	m := w.elections.elects(w)
	if m == nil {
		return
	}
	who := w.elections.candidateOf(m.lease, m.lease.now.Holder)
	if who == nil {
		return
	}
	differ, dispute := false, false
	for _, other := range w.elections.of(m.lease.key) {
		if other == who || !c.took(w, other, ev) {
			continue
		}
		differ = differ || !alike(who, other)
		dispute = dispute || disputed(who, other)
		if older(other, who) {
			c.infer(w, at(other.renewedSeq, ev.Seq), "%s (%s, behaving like %s) was elected for %s, and %s (%s, behaving like %s) had answered",
				who.name, who.now.Binary, who.emulation(), m.lease.key, other.name, other.now.Binary, other.emulation())
			return
		}
	}
	if differ {
		c.judged++
	}
	if dispute {
		c.disputed++
	}
}

// took is whether a candidate certainly took part in the election that the event
// is: it answered soon after it was asked, and was not new.
func (c *cle06) took(w *World, k *candidateSeen, ev *history.Event) bool {
	if !k.now.Answered() || w.dead(k) || time.Duration(ev.At-k.created) < settledIn || time.Duration(ev.At-k.renewed) > answeredLately {
		return false
	}
	if w.aways.between(max(k.pinged, k.created), ev.At) > 0 {
		return false // what came all at once was not in time for that
	}
	return k.pinged == 0 && time.Duration(ev.At-k.renewed) < certainlyAnswered || k.answered > 0 && time.Duration(k.answered-k.pinged) < certainlyAnswered
}

func (c *cle06) Finish(*World) {}

func (c *cle06) Observations() []Observation {
	return []Observation{
		{What: "elections among candidates of different versions", Seen: c.judged, Need: needElections},
		{What: "of those, elections that depend on which version is compared first", Seen: c.disputed, Need: 0},
	}
}
