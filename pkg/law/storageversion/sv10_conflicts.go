package storageversion

import (
	"slices"
	"time"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

// sv10: however many conflicts there are, a registration comes to its end (KEP-2339,
// updating a StorageVersion: on a conflict the server begins again). It is judged of
// servers that start while the harness edits StorageVersions which they have to write to,
// more often than once a second; that they met conflicts they count themselves. The
// registration is over when the server is ready and has its entry in all of them: one that
// is ready without has given up.
var sv10 = law.Together[*facts]{
	Row: law.Row{ID: "SV-10", Sources: []fact.Source{fact.Etcd, fact.Readyz, fact.Requests}, Needs: []law.Need{
		{Name: "conflicts", Tag: "conflict"}, {Name: "conflictsEach", Tag: "conflict", Each: true},
		{Name: "registeredEach", Tag: "registered", Each: true}, {Name: "editsEach", Tag: "edit", Each: true},
	}},
	Parts: []law.Law[*facts]{sv10Registers, sv10Whole},
}

// sv10Registers: a server that starts in a storm is ready in time. The clock stands while the
// harness keeps the server or its etcd from running, and while etcd has no majority. It does not
// begin anew when a server that ended by itself starts again.
var sv10Registers = law.Deadline[*facts, storm]{
	Bound:    "registers",
	Over:     (*facts).storms,
	Describe: func(s storm) law.Entry { return law.Of("registration", s.Injected).By(s.Member) },
	Begin: func(s storm) []fact.Moment {
		return fact.Each(s.started, func(p *server) fact.Moment { return p.Started })
	},
	Running: func(s storm) fact.Signal {
		stopped := fact.Or(s.f.Stopped(s.Member, history.ComponentAPIServer), s.f.Stopped(s.Member, history.ComponentEtcd))
		return fact.And(s.Active(), s.f.EtcdQuorum(), fact.Not(stopped))
	},
	Done: func(s storm) []fact.Moment {
		ready := fact.Where(s.started, func(p *server) bool { return p.ready != nil })
		return fact.Each(ready, func(p *server) fact.Moment { return *p.ready })
	},
	Tag: func(s storm, began, done fact.Moment) []string {
		every := int64(requirement.MustBound("SV-10", "editsAtLeastEvery"))
		often := slices.ContainsFunc(s.Objects, func(name string) bool { return s.edits(name, began, done)*every > done.Latest-began.Latest })
		return tagIf(often && s.Active().At(done.Latest) != fact.No, "registered")
	},
	Breach: func(s storm, _ fact.Moment, done *fact.Moment, took time.Duration) string {
		if done != nil {
			return sprintf("%s was ready only %s after its start", s.Member, took.Round(time.Second))
		}
		return sprintf("%s is not ready %s after its start, while the harness edited %d StorageVersions", s.Member, took.Round(time.Second), len(s.Objects))
	},
}

// sv10Whole: a server that is ready in a storm has given up no object of it. The conflicts
// that it met it tells when the storm is over.
var sv10Whole = law.Written[*facts]{Judge: func(f *facts, l *law.Ledger, _ law.Bounds) {
	for _, s := range f.storms() {
		if s.Count > 0 {
			l.Add(law.Of("conflict", s.Injected).By(s.Member).Met("conflict").For(s.Count))
		}
		for _, p := range s.started {
			switch {
			case p.ready == nil || s.Active().At(p.ready.Latest) == fact.No:
				continue
			case p.revision == 0 || len(p.looks) == 0:
				l.Unclear(s.Member, *p.ready, "it is not known what %s hosted when it was ready", s.Member)
				continue
			}
			for _, d := range p.duties(p.looks[0], *p.ready, p.revision) {
				if slices.Contains(s.Objects, d.name) {
					l.Add(s.end(d))
				}
			}
		}
	}
}}

func (s storm) end(d duty) law.Entry {
	switch e, edits := d.Entry(), s.edits(d.name, d.s.Started, d.at); {
	case e.Ending != "":
		return e
	case !d.reported():
		return e.Broken("%s was ready at revision %d and had no entry in %s, which the harness edited all the time", s.Member, d.revision, d.name).Shown(d.evidence()...)
	case edits > 0:
		return e.Met("edit").For(edits)
	default:
		return e.Met()
	}
}

// storm is a storm of edits at a member, with the processes of its API server that started
// in it.
type storm struct {
	*fact.Fault
	f       *facts
	started []*server
}

func (f *facts) storms() (out []storm) {
	for _, x := range f.Faults {
		if x.Type == history.FaultConflictStorm {
			out = append(out, storm{x, f, fact.Where(f.servers().all, func(s *server) bool {
				return s.Member == x.Member && s.Started.Latest >= x.Injected.Earliest && (x.Healed == nil || s.Started.Earliest <= x.Healed.Latest)
			})})
		}
	}
	return out
}

// edits counts those of an object by other members between two moments.
func (s storm) edits(name string, from, to fact.Moment) int64 {
	return int64(len(fact.Where(s.f.asked(name), func(a *fact.Asked) bool {
		return a.Took() == fact.Yes && a.Member != s.Member && a.At >= from.Latest && a.At <= to.Latest
	})))
}
