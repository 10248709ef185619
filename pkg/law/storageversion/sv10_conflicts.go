package storageversion

import (
	"fmt"
	"slices"
	"time"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// sv10: however many conflicts there are, a registration comes to its end (KEP-2339,
// updating a StorageVersion: on a conflict the server begins again). It is judged of
// servers that start while the harness edits StorageVersions which they have to write to,
// more often than once a second; that they met conflicts they count themselves. The
// registration is over when the server is ready and has its entry in all of them: one that
// is ready without has given up.
var sv10 = law.Written[*facts]{
	Row: law.Row{ID: "SV-10", Sources: []fact.Source{fact.Etcd, fact.Readyz, fact.Requests}, Needs: []law.Need{
		{Name: "conflicts", Tag: "conflict"}, {Name: "conflictsEach", Tag: "conflict", Each: true},
		{Name: "registeredEach", Tag: "registered", Each: true}, {Name: "editsEach", Tag: "edit", Each: true},
	}},
	Judge: func(f *facts, l *law.Ledger, bounds law.Bounds) {
		for _, storm := range f.Faults {
			if storm.Type != history.FaultStorm {
				continue
			}
			// What the server counts it tells when the storm is over.
			for range storm.Count {
				l.MetBy(storm.Member, "conflict", storm.Injected, "conflict")
			}
			f.judgeStorm(l, storm, bounds)
		}
	},
}

func (f *facts) judgeStorm(l *law.Ledger, storm *fact.Fault, bounds law.Bounds) {
	within := bounds.Of("registers")
	began, ended, s := f.stormed(storm, within)
	if began == nil {
		return // no server started in it
	}
	e := law.Entry{Ending: law.Met, About: "registration", Member: storm.Member, Began: *began, Tags: []string{"registered"}}
	end := f.Over()
	if s != nil {
		end = *s.ready
	} else if ended != nil {
		end = *ended
	}
	e.Least, e.Most = began.Until(end)
	edits := f.edits(storm, began.Latest, end.Latest)
	e.Evidence = law.Evidence(storm.Injected.Seq, began.Seq, end.Seq)
	switch {
	case e.Least > within && s == nil:
		// It was overdue by then, whatever was missed later.
		e.Ending, e.Evidence = law.Late, law.Evidence(storm.Injected.Seq, began.Seq, f.Evidence(began.Latest+int64(within)+1))
		e.Why = fmt.Sprintf("%s is not ready %s after its start, in which time the harness edited %d StorageVersions %d times", storm.Member, e.Least.Round(time.Second), len(storm.Objects), edits)
	case e.Least > within:
		e.Ending, e.Why = law.Late, fmt.Sprintf("%s was ready only %s after its start", storm.Member, e.Least.Round(time.Second))
	case s == nil && ended != nil:
		e.Ending, e.Why = law.Excused, "the storm or the process was ended before the registration had to be over"
	case s == nil:
		e.Ending, e.Why = law.Open, "the history ended while it registered"
	case e.Most > within:
		e.Ending, e.Why = law.Unclear, fmt.Sprintf("it took between %s and %s", e.Least, e.Most)
	case !f.often(storm, began.Latest, end.Latest, bounds.Of("editsAtLeastEvery")):
		e.Tags = nil
	}
	l.Add(e)
	if s != nil && e.Ending == law.Met {
		for range edits {
			l.MetBy(storm.Member, "edit", *began, "edit")
		}
		f.judgeWhole(l, storm, s)
	}
}

// stormed is when the member's server was started first in a storm, when the storm was
// ended before it was ready, and the process that was ready. A server that ends by itself
// is not given its time anew; one that the harness ends has to be started again.
func (f *facts) stormed(storm *fact.Fault, within time.Duration) (began, ended *fact.Moment, ready *server) {
	for _, s := range f.servers(storm.Member) {
		if s.Started.Latest < storm.Injected.Earliest {
			continue
		}
		if storm.Healed != nil && s.Started.Earliest > storm.Healed.Latest {
			break
		}
		if began == nil {
			began = &s.Started
		}
		ended = storm.Healed
		if s.ready != nil && (ended == nil || s.ready.Latest <= ended.Latest) {
			return began, ended, s
		}
		if s.Exited != nil && s.Expected && (storm.Healed == nil || s.Exited.Latest < storm.Healed.Latest) {
			if s.After == nil {
				return began, s.Exited, nil
			}
			if least, _ := began.Until(*s.Exited); least > within {
				return began, s.Exited, nil
			}
			began = nil
		}
	}
	return began, ended, nil
}

// judgeWhole looks for objects that a ready server has given up.
func (f *facts) judgeWhole(l *law.Ledger, storm *fact.Fault, s *server) {
	if s.revision == 0 || len(s.looks) == 0 {
		l.Unclear(storm.Member, *s.ready, "it is not known what %s hosted when it was ready", storm.Member)
		return
	}
	if !f.told(l, storm.Member, *s.ready, s.revision) {
		return
	}
	for _, name := range storm.Objects {
		if s.looks[0].Hosts(name) && f.StorageVersion(name).EntryAt(s.id, s.revision) == nil {
			l.Broken(name, *s.ready, law.Evidence(storm.Injected.Seq, s.ready.Seq, f.ToldBy(s.revision)), "%s was ready at revision %d and had no entry in %s, which the harness edited all the time", storm.Member, s.revision, name)
		}
	}
}

// edits counts those of a storm's objects by other members between two times.
func (f *facts) edits(storm *fact.Fault, from, to int64) (n int64) {
	for _, name := range storm.Objects {
		n += f.editsOf(storm, name, from, to)
	}
	return n
}

func (f *facts) editsOf(storm *fact.Fault, name string, from, to int64) (n int64) {
	for _, e := range f.harness.stormed[name] {
		if e.member != storm.Member && e.at >= from && e.at <= to {
			n++
		}
	}
	return n
}

// often is whether any of the objects was edited that often on average. A busy machine
// holds single edits up.
func (f *facts) often(storm *fact.Fault, from, to int64, every time.Duration) bool {
	return slices.ContainsFunc(storm.Objects, func(name string) bool { return f.editsOf(storm, name, from, to)*int64(every) > to-from })
}
