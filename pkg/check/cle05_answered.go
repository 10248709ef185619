package check

import (
	"strings"
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// cle05: only candidates that answered can be elected. KEP-4355 has the leader
// picked from those that have acknowledged.
type cle05 struct {
	findings
	elected, beside int64
}

func (c *cle05) Observe(w *World, ev *history.Event) {
	m := w.elections.elects(w)
	if m == nil {
		return
	}
	who := w.elections.candidateOf(m.lease, m.lease.now.Holder)
	switch {
	case who == nil:
		// It may have withdrawn after it had answered.
		if gone := w.elections.departedOf(m.lease, m.lease.now.Holder); gone != nil {
			if ago := time.Duration(ev.At - gone.goneAt); ago > answeredLately+w.aways.between(gone.goneAt, ev.At) {
				c.infer(w, at(gone.renewedSeq, ev.Seq), "%s was elected for %s, and had withdrawn %s before", gone.name, m.lease.key, ago.Round(time.Second))
			}
		} else if len(w.elections.of(m.lease.key)) > 0 && !triedOut(m.lease) {
			c.infer(w, at(ev.Seq), "%s was elected for %s, and has never been a candidate for it", m.lease.now.Holder, m.lease.key)
		}
		return
	case !who.now.Answered():
		c.infer(w, at(who.pingedSeq, ev.Seq), "%s was elected for %s, and had not answered the ping before", who.name, m.lease.key)
		return
	case time.Duration(ev.At-who.renewed) > answeredLately+w.aways.between(who.renewed, ev.At):
		c.infer(w, at(who.renewedSeq, ev.Seq), "%s was elected for %s, and had answered nothing for %s", who.name, m.lease.key, time.Duration(ev.At-who.renewed).Round(time.Second))
		return
	}
	if time.Duration(ev.At-who.renewed) > answeredLately {
		return // nobody knows
	}
	c.elected++
	for _, other := range w.elections.of(m.lease.key) {
		if !other.now.Answered() || w.dead(other) || strings.HasPrefix(own(other.name), ownPrefix) && time.Duration(ev.At-other.renewed) > answeredLately {
			c.beside++
			break
		}
	}
}

// elects is the election by a coordinator that the event in hand is; nil if it is
// none.
func (e *elections) elects(w *World) *leaseMove {
	m := e.moved
	if m == nil || !m.taken || !e.byCoordinator(m.lease.now) || m.lease.now.Strategy != byOldest {
		return nil
	}
	// Without an annotation it could as well be somebody who takes part for the
	// harness and knows nothing of coordination.
	return m
}

func (c *cle05) Finish(*World) {}

func (c *cle05) Observations() []Observation {
	return []Observation{
		{What: "candidates elected that had answered", Seen: c.elected, Need: needElections},
		{What: "elections beside a candidate that had not answered", Seen: c.beside, Need: needSilent},
	}
}
