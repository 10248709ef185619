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
	Parts: []law.Law[*facts]{sv10Conflicts, sv10Registers, sv10Whole},
}

// sv10Conflicts counts the conflicts that a server met. It tells when the storm is over.
var sv10Conflicts = law.Each[*facts, storm]{Over: (*facts).storms, End: func(s storm, _ law.Bounds) law.Entry {
	if s.Count == 0 {
		return law.Entry{}
	}
	return law.Of("conflict", s.Injected).By(s.Member).Met("conflict").For(s.Count)
}}

// sv10Registers: a server that starts in a storm is ready in time. The clock stands while the
// harness keeps the server from running, and does not begin anew when a server that ended by
// itself starts again.
var sv10Registers = law.Deadline[*facts, storm]{
	Bound:    "registers",
	Over:     (*facts).storms,
	Describe: func(s storm) law.Entry { return law.Of("registration", s.Injected).By(s.Member) },
	Begin: func(s storm) []fact.Moment {
		return fact.Each(s.started, func(p *server) fact.Moment { return p.Started })
	},
	Running: func(s storm) fact.Signal {
		return fact.And(s.Active(), fact.Not(s.f.Stopped(s.Member, history.ComponentAPIServer)))
	},
	Done: func(s storm) []fact.Moment {
		ready := fact.Where(s.started, func(p *server) bool { return p.ready != nil })
		return fact.Each(ready, func(p *server) fact.Moment { return *p.ready })
	},
	Tag: func(s storm, began, done fact.Moment) []string {
		every := int64(requirement.MustBound("SV-10", "editsAtLeastEvery"))
		if s.Active().At(done.Latest) != fact.No && slices.ContainsFunc(s.Objects, func(name string) bool {
			return s.edits(name, began, done)*every > done.Latest-began.Latest
		}) {
			return []string{"registered"}
		}
		return nil
	},
	Breach: func(s storm, _ fact.Moment, done *fact.Moment, took time.Duration) string {
		if done != nil {
			return sprintf("%s was ready only %s after its start", s.Member, took.Round(time.Second))
		}
		return sprintf("%s is not ready %s after its start, while the harness edited %d StorageVersions", s.Member, took.Round(time.Second), len(s.Objects))
	},
}

// sv10Whole: a server that is ready has given up no object of the storm, whose edits count.
var sv10Whole = law.Each[*facts, stormedDuty]{
	Over: func(f *facts) (out []stormedDuty) {
		for _, s := range f.storms() {
			for _, p := range s.started {
				if p.ready != nil && (p.revision == 0 || len(p.looks) == 0) {
					out = append(out, stormedDuty{duty{s: p, at: *p.ready}, s})
				}
			}
			for _, d := range f.dutiesWhenReady() {
				if slices.Contains(s.started, d.s) && slices.Contains(s.Objects, d.name) && s.Active().At(d.at.Latest) != fact.No {
					out = append(out, stormedDuty{d, s})
				}
			}
		}
		return out
	},
	End: func(d stormedDuty, _ law.Bounds) law.Entry {
		e, edits := d.Entry(), d.storm.edits(d.name, d.s.Started, d.at)
		switch {
		case d.look == nil:
			return e.Unclear("it is not known what %s hosted when it was ready", d.s.Member)
		case e.Ending != "":
			return e
		case !d.reported():
			return e.Broken("%s was ready at revision %d and had no entry in %s, which the harness edited all the time", d.s.Member, d.revision, d.name).Shown(d.evidence()...)
		case edits > 0:
			return e.Met("edit").For(edits)
		default:
			return e.Met()
		}
	},
}

// storm is a storm of edits at a member, with the processes of its API server that started
// in it.
type storm struct {
	*fact.Fault
	f       *facts
	started []*server
}

type stormedDuty struct {
	duty
	storm storm
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
