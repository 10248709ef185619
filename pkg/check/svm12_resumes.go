package check

import (
	"fmt"
	"maps"
	"net/http"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// svm12: when the controller that migrates has ended and come back, it goes on near
// the point where it was interrupted. To write an object again that is stored in
// the target version changes nothing in etcd, so etcd cannot tell: what is counted
// are the writes that a fault on the controller's link has seen, and etcd tells
// whether all of them were.
type svm12 struct {
	findings
	judged, before, after int64
	// runs are the migrations with what was seen of them, oldest first; last is the
	// latest of each resource, which may be told of when it has ended.
	runs []*rewritings
	last map[groupResource]*rewritings
}

// rewritings are what one migration writes.
type rewritings struct {
	m *migrationSeen
	// asked are the objects that a write was seen of, done those of which one was
	// answered for good, and rewritten those that etcd has in another version since.
	asked, done, rewritten map[string]bool
	interrupted            []*interruption
}

// interruption is an end of the controller while a migration ran.
type interruption struct {
	when moment
	// before are the objects that were done by then, and again those of them that
	// were written again. after counts the writes that were seen since.
	before, again map[string]bool
	after         int64
}

func newSVM12() *svm12 { return &svm12{last: map[groupResource]*rewritings{}} }

func (c *svm12) Observe(w *World, ev *history.Event) {
	if move := w.migrations.moved; move != nil && move.started {
		r := &rewritings{m: move.m, asked: map[string]bool{}, done: map[string]bool{}, rewritten: map[string]bool{}}
		c.runs, c.last[move.m.gr] = append(c.runs, r), r
	}
	if t := w.migrations.touched; t != nil && t.byMigration() && t.before.version != t.now.version {
		if r := c.last[t.gr]; r != nil {
			r.rewritten[t.now.name] = true
		}
	}
	if ev.Process != nil {
		for _, r := range c.last {
			if r.m.crashed.seq == ev.Seq {
				r.interrupted = append(r.interrupted, &interruption{when: r.m.crashed, before: maps.Clone(r.done), again: map[string]bool{}})
			}
		}
	}
	if ev.Exchange == nil {
		return
	}
	if gr, name, ok := writtenBy(ev.Exchange); ok && c.last[gr] != nil {
		c.last[gr].note(name, ev.Exchange.Code)
	}
}

func (r *rewritings) note(name string, code int) {
	r.asked[name] = true
	if n := len(r.interrupted); n > 0 {
		now := r.interrupted[n-1]
		now.after++
		if now.before[name] {
			now.again[name] = true
		}
	}
	if code >= 200 && code < 300 || code == http.StatusConflict || code == http.StatusNotFound {
		r.done[name] = true
	}
}

func (c *svm12) Finish(w *World) {
	for _, r := range c.runs {
		if !r.m.held() {
			continue // it may have had to begin anew
		}
		total := len(r.asked)
		for _, i := range r.interrupted {
			// So early in a migration nearly everything comes after the interruption,
			// wherever it goes on; and of what did not go on there is nothing to say.
			if len(i.before)*interruptedBeyond < total || i.after == 0 {
				continue
			}
			c.judged++
			c.before += int64(len(i.before))
			c.after += i.after
			if len(i.again)*resumesWithin > total {
				c.infer(w, at(r.m.started.seq, i.when.seq), "the controller of migration %s ended when %d of %d objects were done, and %d of those were written again afterwards",
					r.m.name, len(i.before), total, len(i.again))
			}
		}
	}
}

// doubts: whoever did not see all writes cannot say how many there were twice.
func (c *svm12) doubts() []string {
	unseen := 0
	for _, r := range c.runs {
		for name := range r.rewritten {
			if len(r.interrupted) > 0 && !r.asked[name] {
				unseen++
			}
		}
	}
	if unseen == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%d objects were rewritten by interrupted migrations and no write of them was seen on the controller's link, so that others may have been missed too", unseen)}
}

func (c *svm12) Observations() []Observation {
	return []Observation{
		{What: "interruptions of migrations after which the controller went on", Seen: c.judged, Need: needMigrations},
		{What: "objects that were done before them", Seen: c.before, Need: needDone},
		{What: "writes seen after them", Seen: c.after, Need: needMigrated},
	}
}
