package check

import (
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// cle02: candidates renew rarely while nothing happens. KEP-4355 has them do so
// every 300 seconds, and when they are pinged.
type cle02 struct {
	findings
	rare int64
}

func (c *cle02) Observe(w *World, ev *history.Event) {
	r := w.elections.renewed
	if r == nil || r.process == nil {
		return
	}
	if !r.unprompted {
		return
	}
	since := time.Duration(ev.At - r.before)
	if since < rarely {
		c.infer(w, at(r.beforeSeq, ev.Seq), "candidate %s renewed without being asked, %s after the last time", r.name, since.Round(time.Second))
		return
	}
	c.rare++
}

func (c *cle02) Finish(*World) {}

func (c *cle02) Observations() []Observation {
	return []Observation{{What: "renewals of candidates that nobody had asked for", Seen: c.rare, Need: needUnasked}}
}
