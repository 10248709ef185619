package discovery

import (
	"fmt"
	"time"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

// ad16: a dead aggregated server costs readiness no more than a small bound (KEP-3352: the
// health check waits for local servers only). How long a start takes anyway is learned from
// restarts while none was dead, no foreign one either. The clock stands while something else
// keeps a member from being ready.
var ad16 = law.Together[*Facts]{
	Row: law.Row{ID: "AD-16", Sources: []fact.Source{fact.Requests, fact.Readyz}, Needs: anyOf("burdened", "free")},
	Parts: []law.Law[*Facts]{
		law.Each[*Facts, start]{Row: law.Row{ID: "AD-16"}, Over: (*Facts).restarts, End: func(s start, _ law.Bounds) law.Entry {
			if !s.free || len(s.ready) == 0 {
				return law.Entry{}
			}
			return s.Entry().Met("free")
		}},
		law.Deadline[*Facts, start]{
			Row:   law.Row{ID: "AD-16"},
			Over:  func(f *Facts) []start { return fact.Where(f.restarts(), func(s start) bool { return s.dead != nil }) },
			Begin: law.Once(func(s start) fact.Moment { return s.process.Started }),
			BoundOf: func(s start, _ fact.Moment) time.Duration {
				return s.longest + requirement.MustBound("AD-16", "deadCosts")
			},
			Running: func(s start) fact.Signal { return s.clock },
			Done:    func(s start) []fact.Moment { return s.ready },
			Void: func(s start) []law.Void {
				if s.longest == 0 {
					return law.Voids("no start without a dead server was seen to compare with", s.process.Started)
				}
				return append(law.Ended(s.process), law.Voids("the server answered again before the bound was over", fact.Exactly(s.relieved, 0))...)
			},
			Lacking: func(s start) string {
				return fmt.Sprintf("%s was not ready while the server of %s was dead, and without that a start takes no more than %s,", s.process.Member, s.dead.group, s.longest)
			},
			Breaks: start.besideStarved,
			Tag:    func(start, fact.Moment, fact.Moment) []string { return []string{"burdened"} },
		},
	},
}

// start is a restart of an API server.
type start struct {
	process *fact.Process
	// ready is when it was ready first; empty if it never was.
	ready []fact.Moment
	// dead is the outage of an aggregated server that it met, relieved when that was over and
	// no other one had followed, and free whether there was none of any kind.
	dead     *outage
	relieved int64
	free     bool
	// longest is how long starts take at most that are free, and atWork without the time for
	// which the machine was starved; clock is that of this one.
	longest, atWork time.Duration
	clock           fact.Signal
}

// Entry is the obligation.
func (s start) Entry() law.Entry { return law.Of("a start", s.process.Started).By(s.process.Member) }

// besideStarved is the obligation of a start that is in time only if the machine is not why one that
// it is compared with took so long.
func (s start) besideStarved(e law.Entry) law.Entry {
	if bound := s.atWork + requirement.MustBound("AD-16", "deadCosts"); e.Ending == law.Met && e.Least > bound {
		return e.Unclear("%s was ready %s after it was started beside a dead server, and the start that takes longest without one was starved", s.process.Member, e.Least.Round(time.Millisecond))
	}
	return e
}

func (f *Facts) restarts() []start {
	var out []start
	longest, atWork := time.Duration(0), time.Duration(0)
	for _, p := range f.AllProcesses() {
		if p.Component != history.ComponentAPIServer || p.Before == nil {
			continue
		}
		s, until := start{process: p, clock: f.unhindered(p.Member)}, f.Over()
		if first := f.FirstReady(p); first != nil {
			s.ready, until = []fact.Moment{*first}, *first
		} else if p.Exited != nil {
			until = *p.Exited
		}
		s.free = len(f.active(p.Started.Earliest, until.Latest)) == 0 && f.trouble(p.Started.Earliest, until.Latest) == nil
		s.meets(f, until)
		if s.free && len(s.ready) > 0 {
			took := time.Duration(s.clock.Lasts(p.Started.Earliest, until.Latest, fact.Unknown))
			longest, atWork = max(longest, took), max(atWork, took-f.Starved(s.clock, p.Started.Earliest, until.Latest))
		}
		out = append(out, s)
	}
	for i := range out {
		out[i].longest, out[i].atWork = longest, atWork
	}
	return out
}

// meets finds the outage that the start met, which bit before the start was over, and when
// outages that followed each other had ended. A start that was over only then was kept from it.
func (s *start) meets(f *Facts, over fact.Moment) {
	began := s.process.Started.Earliest
	for _, o := range f.outages {
		switch {
		case !o.takesNothing() || !f.hasService(o.group, max(o.since, began)):
		case o.since <= began && began < o.until && o.bitten > 0 && o.bitten < over.Latest && (s.dead == nil || o.until > s.relieved):
			s.dead, s.relieved = o, o.until
		case s.dead != nil && o.since > began && o.since <= s.relieved+int64(turnsWithin()):
			s.relieved = max(s.relieved, o.until)
		}
	}
}

// hasService is whether an APIService of the group was there at a time.
func (f *Facts) hasService(group string, at int64) bool {
	for _, d := range f.definitionsOf(group) {
		if c := d.certain(at); d.remote && c != nil && len(c.versions) > 0 {
			return true
		}
	}
	return false
}
