package check

import (
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// cle03: a healthy candidate answers a ping within the window of an election, which
// is five seconds by KEP-4355.
type cle03 struct {
	findings
	answers int64
	each    tally
	// open are the pings that were not answered so far, of candidates that were well.
	open map[*candidateSeen]int64
}

func newCLE03() *cle03 { return &cle03{open: map[*candidateSeen]int64{}} }

func (c *cle03) Observe(w *World, ev *history.Event) {
	e := w.elections
	if asked := e.asked; asked != nil && asked.process != nil && c.able(w, asked) {
		if _, owes := c.open[asked]; !owes {
			c.open[asked] = ev.At
		}
	}
	for _, owes := range inOrder(c.open) {
		from := c.open[owes]
		took := time.Duration(ev.At - from)
		switch {
		case owes.gone || !c.able(w, owes):
			delete(c.open, owes)
		case owes.now.Answered():
			delete(c.open, owes)
			if took <= answersWithin {
				c.answers++
				c.each.add(w, owes.process.member)
			}
			// What lies between is neither in time nor provably late.
			if took > answersWithin+w.aways.lag(from, ev.At) {
				c.infer(w, at(owes.pingedSeq, ev.Seq), "candidate %s answered a ping after %s", owes.name, took.Round(100*time.Millisecond))
			}
		// Only what etcd tells says that its recorder was not away.
		case ev.Stored != nil && took > answersWithin+w.aways.lag(from, ev.At):
			delete(c.open, owes)
			c.infer(w, at(owes.pingedSeq, ev.Seq), "candidate %s did not answer a ping within %s", owes.name, took.Round(time.Second))
		}
	}
}

// able is whether nothing stands between a candidate and its answer.
func (c *cle03) able(w *World, k *candidateSeen) bool {
	p := k.process
	return p.alive && !p.paused && k.created >= p.startedAt && !w.reboots(p.member) && !w.faulty(p.member) && !w.powerless(p.member)
}

func (c *cle03) Finish(*World) {}

func (c *cle03) Observations() []Observation {
	return []Observation{
		{What: "pings answered within " + answersWithin.String(), Seen: c.answers, Need: needAnswers},
		{What: "pings answered" + withFewest, Seen: c.each.least(), Need: needAnswersEach},
	}
}
