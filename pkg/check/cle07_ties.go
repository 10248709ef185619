package check

import (
	"strings"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// cle07: equal candidates are told apart the same way every time. KEP-4355 does so
// by their names.
type cle07 struct {
	findings
	again int64
	// winners are who was elected of the same candidates before, and where.
	winners map[string]winner
}

type winner struct {
	name string
	seq  int64
}

func newCLE07() *cle07 { return &cle07{winners: map[string]winner{}} }

func (c *cle07) Observe(w *World, ev *history.Event) {
	m := w.elections.elects(w)
	if m == nil {
		return
	}
	who := w.elections.candidateOf(m.lease, m.lease.now.Holder)
	if who == nil {
		return
	}
	var names []string
	for _, other := range w.elections.of(m.lease.key) {
		if !w.healthy(other) || other != who && !(&cle06{}).took(w, other, ev) {
			return // who took part is not certain
		}
		if alike(who, other) {
			names = append(names, other.name)
		}
	}
	if len(names) < 2 {
		return
	}
	key := strings.Join(names, " ")
	before, again := c.winners[key]
	if !again {
		c.winners[key] = winner{who.name, ev.Seq}
		return
	}
	if before.name != who.name {
		c.infer(w, at(before.seq, ev.Seq), "%s was elected of %s, and before it was %s", who.name, key, before.name)
		return
	}
	c.again++
}

func (c *cle07) Finish(*World) {}

func (c *cle07) Observations() []Observation {
	return []Observation{{What: "elections of the same one among equal candidates", Seen: c.again, Need: needSameAgain}}
}
