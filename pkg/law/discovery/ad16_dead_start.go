package discovery

import (
	"fmt"
	"slices"
	"time"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// ad16: a dead aggregated server costs readiness no more than a small bound (KEP-3352: the
// health check waits for local servers only). How long a start takes anyway is learned from
// restarts while none was dead, no foreign one either.
var ad16 = law.Written[*Facts]{
	Row: law.Row{ID: "AD-16", Sources: []fact.Source{fact.Requests, fact.Readyz}, Needs: []law.Need{{Name: "burdened", Tag: "burdened"}, {Name: "free", Tag: "free"}}},
	Judge: func(f *Facts, l *law.Ledger, b law.Bounds) {
		var longest *start
		var burdened []*start
		for _, s := range f.restarts() {
			switch {
			case s.dead != nil:
				burdened = append(burdened, s)
			case s.free && s.ready != nil:
				l.MetBy(s.process.Member, "a start", s.process.Started, "free")
				if longest == nil || s.most > longest.most {
					longest = s
				}
			}
		}
		for _, s := range burdened {
			l.Add(s.judge(longest, b.Of("deadCosts"), f))
		}
	},
}

// start is a restart of an API server.
type start struct {
	process *fact.Process
	// ready is when it was ready first, and nil if it never was.
	ready       *fact.Moment
	least, most time.Duration
	// dead is the outage of an aggregated server that it met, and free whether there was
	// none of any kind.
	dead *outage
	free bool
}

func (f *Facts) restarts() []*start {
	var out []*start
	for _, m := range f.all() {
		for _, p := range f.Processes(m.name, history.ComponentAPIServer) {
			if p.Before == nil {
				continue
			}
			s := &start{process: p, ready: f.FirstReady(p)}
			until := f.Over()
			if s.ready != nil {
				until = *s.ready
			} else if p.Exited != nil {
				until = *p.Exited
			}
			s.least, s.most = p.Started.Until(until)
			s.free = len(f.active(p.Started.Earliest, until.Latest)) == 0 && f.trouble(p.Started.Earliest, until.Latest) == nil
			for _, o := range f.active(p.Started.Earliest, p.Started.Earliest) {
				if o.bitten > 0 && o.bitten < until.Latest && o.takesNothing() && o.until >= until.Latest && f.wanted(o.group, p.Started.Earliest) {
					s.dead = o
				}
			}
			out = append(out, s)
		}
	}
	slices.SortFunc(out, func(a, b *start) int { return int(a.process.Started.Seq - b.process.Started.Seq) })
	return out
}

// wanted is whether an APIService of the group was there at a time.
func (f *Facts) wanted(group string, at int64) bool {
	d := f.defined[wish{remote: true, group: group}]
	if d == nil {
		return false
	}
	c := d.latest(at)
	return c != nil && c.known && len(c.versions) > 0
}

// judge compares a start beside a dead aggregated server with the longest one without.
func (s *start) judge(longest *start, bound time.Duration, f *Facts) law.Entry {
	m, p := s.process.Member, s.process
	e := law.Entry{About: "a start beside a dead server", Member: m, Began: p.Started, Least: s.least, Most: s.most, Tags: []string{"burdened"}}
	if longest == nil {
		e.Ending, e.Why = law.Excused, "no start without a dead server was seen to compare with"
		return e
	}
	switch allowed := longest.most + bound; {
	case s.least > allowed:
		e.Ending, e.Evidence = law.Late, law.Evidence(longest.process.Started.Seq, longest.ready.Seq, p.Started.Seq)
		if s.ready != nil {
			e.Evidence = append(e.Evidence, s.ready.Seq)
		}
		e.Why = fmt.Sprintf("%s was not ready for %s while the server of %s was dead, and without that a start takes no more than %s", m, s.least, s.dead.group, longest.most)
	case s.ready == nil && p.Exited != nil:
		e.Ending, e.Why = law.Excused, "the process ended before it was ready"
	case s.ready == nil:
		e.Ending, e.Why = law.Open, "the history ended before the server was ready"
	case s.most > allowed:
		e.Ending, e.Why = law.Unclear, fmt.Sprintf("the start took between %s and %s, and may take %s", s.least, s.most, allowed)
	default:
		e.Ending = law.Met
	}
	return e
}
