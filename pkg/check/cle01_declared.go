package check

import (
	"slices"
	"strings"
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// cle01: every instance of an enrolled component declares itself a candidate, which
// names its Lease and its versions. KEP-4355 has each component create a
// LeaseCandidate when it is ready to lead.
type cle01 struct {
	findings
	declared, versions int64
	each               tally
	// missing are processes that have not declared themselves yet, or whose candidate has
	// gone.
	missing map[*elected]*absence
	// stalled are those of them that stand still.
	stalled map[*elected]*absence
	// enrolled are the components that take part in coordination.
	enrolled map[string]bool
}

// absence is of a process that is no candidate: since when nothing was in its way, and in
// which time it has to be one.
type absence struct {
	since  int64
	within time.Duration
}

func newCLE01() *cle01 {
	return &cle01{missing: map[*elected]*absence{}, stalled: map[*elected]*absence{}, enrolled: map[string]bool{}}
}

func (c *cle01) Observe(w *World, ev *history.Event) {
	e := w.elections
	if ev.Process != nil {
		if p := e.processes[ev.Member+"/"+ev.Process.Component]; p != nil {
			switch ev.Process.Change {
			case history.ProcessStarted:
				delete(c.missing, p)
				if !slices.Contains(ev.Process.Off, history.FeatureCoordination) {
					c.missing[p] = &absence{ev.At, declaresWithin}
				}
			case history.ProcessResumed:
				if a := c.stalled[p]; a != nil {
					c.missing[p] = &absence{ev.At, a.within}
				}
				delete(c.stalled, p)
			case history.ProcessPaused:
				if a := c.missing[p]; a != nil {
					c.stalled[p] = a
				}
				delete(c.missing, p) // it has no time
			case history.ProcessExited:
				delete(c.missing, p) // it had no time
				delete(c.stalled, p)
			}
		}
	}
	if d := e.declared; d != nil && d.process != nil {
		p := d.process
		c.enrolled[p.component] = true
		delete(c.stalled, p) // what it did before is told late
		if a := c.missing[p]; a != nil {
			delete(c.missing, p)
			if a.within == declaresWithin {
				c.declared++
				c.each.add(w, p.member)
			}
		}
		c.compare(w, d, ev)
	}
	if gone := e.gone; gone != nil && gone.process != nil {
		// One that ends withdraws before; one that lives on has to come back.
		if p := gone.process; p.alive && !p.paused && c.missing[p] == nil && !slices.ContainsFunc(e.of(gone.lease), func(k *candidateSeen) bool { return k.process == p }) {
			c.missing[p] = &absence{ev.At, declaresAgainWithin}
		}
	}
	for _, member := range w.order {
		for _, component := range []string{history.ComponentControllerManager, history.ComponentScheduler} {
			c.wait(w, e.processes[member+"/"+component], ev)
		}
	}
}

// wait notes that a process has not declared itself for too long.
func (c *cle01) wait(w *World, p *elected, ev *history.Event) {
	a := c.missing[p]
	switch {
	case a == nil:
	case !w.answers(p.member) || w.faulty(p.member):
		a.since = ev.At
	case c.enrolled[p.component] && w.overdue(ev, a.since, a.within):
		delete(c.missing, p)
		c.infer(w, at(p.startSeq, ev.Seq), "the %s of %s has run for %s, and is no candidate", p.component, p.member, a.within)
	}
}

// compare holds what a candidate says of its versions against what was started.
func (c *cle01) compare(w *World, d *candidateSeen, ev *history.Event) {
	release := strings.TrimPrefix(d.process.release, "v")
	if release == "" || c.ofTheOneBefore(w, d, ev) {
		return
	}
	if d.now.Binary != release && !strings.HasPrefix(d.now.Binary, minor(release)+".") {
		c.infer(w, at(d.process.startSeq, ev.Seq), "candidate %s says that it is %q, and %s runs %s", d.name, d.now.Binary, d.process.member, d.process.release)
		return
	}
	// The providers have every component behave like the release that it is.
	if d.now.Emulation != "" && minor(d.now.Emulation) != minor(release) {
		c.infer(w, at(d.process.startSeq, ev.Seq), "candidate %s says that it behaves like %q, and %s runs %s and was not told to", d.name, d.now.Emulation, d.process.member, d.process.release)
		return
	}
	c.versions++
}

// ofTheOneBefore is whether a candidate may be that of the process before, and be told only
// now: it says what that one was, and this one had not yet started when it can have been
// made.
func (c *cle01) ofTheOneBefore(w *World, d *candidateSeen, ev *history.Event) bool {
	p := d.process
	before := strings.TrimPrefix(p.before, "v")
	return before != "" && minor(before) != minor(strings.TrimPrefix(p.release, "v")) && minor(d.now.Binary) == minor(before) &&
		w.aways.since(ev.At)-int64(recorderLag) < p.startedAt
}

// minor is the first two numbers of a release.
func minor(release string) string {
	parts := strings.SplitN(release, ".", 3)
	if len(parts) < 2 {
		return release
	}
	return parts[0] + "." + parts[1]
}

func (c *cle01) Finish(*World) {}

func (c *cle01) Observations() []Observation {
	return []Observation{
		{What: "processes that declared themselves candidates", Seen: c.declared, Need: needCandidates},
		{What: "processes that declared themselves candidates" + withFewest, Seen: c.each.least(), Need: needCandidates},
		{What: "candidates whose version was compared with their process's", Seen: c.versions, Need: needCandidates},
	}
}
