package migration

import (
	"cmp"
	"time"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// releaseAt is that of the API server of the member whose controller manager led.
func (f *Facts) releaseAt(revision, at int64) string {
	if led := f.Managers().At(revision); led != nil {
		if p := f.LastProcess(led.Is.Member, history.ComponentAPIServer, at); p != nil {
			return p.Release
		}
	}
	return ""
}

// clock is that of migrations: it runs while a controller manager is able to migrate that
// has had the time to start, and may run while it starts.
func (f *Facts) clock() fact.Signal {
	type key struct{}
	return fact.Cached(f.History, key{}, func() fact.Signal { return f.ManagerAble().Warm(int64(controllerStarts())) })
}

// clock is that of all migrations, without the times in which API servers did not proxy the
// resource to the aggregated servers that host it.
func (m *Migration) clock() fact.Signal {
	runs := []fact.Signal{m.Facts.clock()}
	for _, away := range m.Unproxied(m.Of.Group) {
		end := fact.Exactly(away.End, 0)
		runs = append(runs, fact.Not(fact.Between(fact.Exactly(away.Begin, 0), &end)))
	}
	return fact.And(runs...)
}

// lasted is for how long a condition held between two moments: at least, and at most.
func lasted(holds fact.Signal, from, to fact.Moment) (least, most time.Duration) {
	return time.Duration(holds.Lasts(from.Latest, to.Earliest, fact.Yes)), time.Duration(holds.Lasts(from.Earliest, to.Latest, fact.Unknown))
}

// ends are the processes of a component that ended while a migration ran, or may have.
func (m *Migration) ends(component string, ran fact.Truth) []*fact.Process {
	return fact.Where(m.AllProcesses(), func(p *fact.Process) bool {
		return p.Component == component && p.Exited != nil && m.Running().During(*p.Exited) >= ran
	})
}

// crashes are those of controller managers that led, or may have.
func (m *Migration) crashes(led fact.Truth) []*fact.Process {
	return fact.Where(m.ends(history.ComponentControllerManager, led), func(p *fact.Process) bool { return m.crashed(p) >= led })
}

// crashed is whether a controller manager ended that led, while a migration ran.
func (m *Migration) crashed(p *fact.Process) fact.Truth {
	return min(m.Running().During(*p.Exited), m.ManagerLeads(p.Member).At(p.Exited.Earliest))
}

// survivesEnds is the obligation to come to a success in spite of the ends of processes.
func (m *Migration) survivesEnds(ends []*fact.Process, after string) law.Entry {
	if len(ends) == 0 {
		return law.Entry{}
	}
	return m.survives(*ends[0].Exited, after, func(e law.Entry) law.Entry { return e.Met() })
}

// takeovers are when a member's controller manager came to lead, after another one, while
// it ran.
func (m *Migration) takeovers() []fact.Stamp {
	var out []fact.Stamp
	led := ""
	for _, l := range m.Managers().All() {
		if l.Is.Member == "" {
			continue
		}
		if led != "" && led != l.Is.Holder && m.ran(l.Revision) {
			out = append(out, l.Stamp)
		}
		led = l.Is.Holder
	}
	return out
}

// lastProgress is when it showed last, before a revision, that it went on: at its start, with an
// object that it rewrote, or with a change of its status.
func (m *Migration) lastProgress(before int64) fact.Stamp {
	last := m.Started
	for _, r := range m.Reports {
		if r.Revision > last.Revision && r.Revision < before && m.ran(r.Revision) {
			last = r.Stamp
		}
	}
	all := m.rewritten()
	if i := fact.Last(all, before-1, func(c *Change) int64 { return c.Revision }); i >= 0 && all[i].Revision > last.Revision {
		last = all[i].Stamp
	}
	return last
}

// passesDone is how long it may take controllers between two revisions to come again past the
// objects that are in the target version, which leaves no trace in etcd. One that takes over begins
// anew, and so may each when the servers agree again.
func (m *Migration) passesDone(since, until fact.Stamp) time.Duration {
	anew := append(m.takeovers(), fact.Each(m.losses(), func(l loss) fact.Stamp { return l.back })...)
	passes := 1 + len(fact.Where(anew, func(s fact.Stamp) bool { return s.Revision > since.Revision && s.Revision < until.Revision }))
	target := cmp.Or(m.target().Version, m.agreement(m.Of, until.Revision-1).Is.Version)
	return time.Duration(int64(passes)*m.storedAt(m.Of, until.Revision-1).in[target]) * passesObject()
}
