package check

import (
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// cle16: candidates that have expired cannot be elected, and are removed within a
// bound.
type cle16 struct {
	findings
	removed, beside int64
	// dead are those that were seen to be, since when.
	dead map[*candidateSeen]int64
	// gone are those of them that were removed.
	gone map[*candidateSeen]bool
}

func newCLE16() *cle16 {
	return &cle16{dead: map[*candidateSeen]int64{}, gone: map[*candidateSeen]bool{}}
}

func (c *cle16) Observe(w *World, ev *history.Event) {
	e := w.elections
	for _, k := range []*candidateSeen{e.declared, e.renewed} {
		if k == nil {
			continue
		}
		if w.dead(k) {
			c.dead[k] = ev.At
		} else {
			delete(c.dead, k)
		}
	}
	if k := e.gone; k != nil {
		if _, was := c.dead[k]; was {
			delete(c.dead, k)
			c.gone[k] = true
			c.removed++
		}
	}
	if m := e.elects(w); m != nil {
		who := e.candidateOf(m.lease, m.lease.now.Holder)
		if gone := e.departedOf(m.lease, m.lease.now.Holder); who == nil && gone != nil && c.gone[gone] {
			c.infer(w, at(gone.renewedSeq, ev.Seq), "%s was elected for %s, and had expired and was removed before", gone.name, m.lease.key)
			return
		}
		if _, is := c.dead[who]; is {
			c.infer(w, at(who.renewedSeq, ev.Seq), "%s was elected for %s, and had expired %s before", who.name, m.lease.key,
				(time.Duration(ev.At) - who.now.Renewed.Sub(w.Header.Started) - candidateValidity).Round(time.Second))
			return
		}
		for _, other := range e.of(m.lease.key) {
			if _, is := c.dead[other]; is {
				c.beside++
				break
			}
		}
	}
	for _, k := range inOrder(c.dead) {
		if late := time.Duration(ev.At) - k.now.Renewed.Sub(w.Header.Started); late > deadCandidateGoes && time.Duration(ev.At-c.dead[k]) > deadCandidateGoes/2 {
			delete(c.dead, k)
			c.infer(w, at(k.renewedSeq, ev.Seq), "candidate %s is still there, %s after it has renewed", k.name, late.Round(time.Second))
		}
	}
}

func (c *cle16) Finish(*World) {}

func (c *cle16) Observations() []Observation {
	return []Observation{
		{What: "expired candidates that were removed", Seen: c.removed, Need: needHandovers},
		{What: "elections beside an expired candidate", Seen: c.beside, Need: needSilent},
	}
}
