package storageversion

import (
	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// sv03: each participating server appears exactly once in each object, under its own ID
// (KEP-2339, updating StorageVersion). Two entries of one server are a breach in any
// revision; completeness is judged at the end of holds, when nothing is on its way.
var sv03 = law.Written[*facts]{
	Row: law.Row{ID: "SV-03", Sources: []fact.Source{fact.Etcd, fact.Discovery, fact.Requests}, Needs: []law.Need{
		{Name: "entries", Tag: "entry"}, {Name: "compared", Tag: "compared"}, {Name: "comparedEach", Tag: "compared", Each: true},
		{Name: "refusedEach", Tag: tagRefusedLasting, Each: true},
	}},
	Judge: func(f *facts, l *law.Ledger, bounds law.Bounds) {
		f.doubtHosting(l, bounds)
		for _, r := range f.revisions() {
			f.judgeOnce(l, r)
		}
		f.judgeProbes(l, history.InvalidDuplicate, "in which one server has two entries")
		for _, hold := range f.Holds {
			if hold.Ended != nil {
				c := completeness{f, l, bounds, hold}
				c.judge()
			}
		}
	},
}

func (f *facts) judgeOnce(l *law.Ledger, r revision) {
	at := f.When(r.Stamp)
	for i := range r.Content.Entries {
		e := &r.Content.Entries[i]
		if fact.EntryIn(r.Content.Entries, e.ServerID) == e {
			l.Met(r.version.Name, at, "entry")
			continue
		}
		selfEvident(l, r.version.Name, at, "%s has more than one entry of %s at revision %d", r.version.Name, e.ServerID, r.Revision)
	}
}

// completeness is what is looked up at the end of a hold.
type completeness struct {
	*facts
	*law.Ledger
	bounds law.Bounds
	hold   *fact.Hold
}

func (c completeness) judge() {
	at := c.hold.Ended.Latest
	for _, member := range c.Members() {
		s, id := c.lastServer(member, at), c.serverID(member)
		// One that is still booting may have to report yet, and one without the
		// StorageVersion API never does.
		if s == nil || !s.knownBy(at) || !s.readyBy(at) || s.silent() || !c.TakesPart(id, c.hold.EndedRevision) {
			continue
		}
		for _, r := range s.lookBy(at).Resources {
			if fact.BuiltIn(r) {
				c.reported(s, fact.Resource{Group: r.Group, Resource: r.Resource}.StorageVersionName())
			}
		}
	}
	for _, v := range c.StorageVersions() {
		c.foreign(v)
	}
}

// reported looks for the entry of a server in an object that it has to report in.
func (c completeness) reported(s *server, name string) {
	v := c.StorageVersion(name)
	now := v.At(c.hold.EndedRevision)
	switch {
	case v.EntryAt(s.id, c.hold.EndedRevision) != nil:
		c.MetBy(s.Member, name, *c.hold.Ended, "compared")
	case c.harness.repairing(name, c.hold.Ended.Latest, c.bounds.Of("tamperRepaired")):
		c.Excused(name, *c.hold.Ended, "the harness changed the object shortly before")
	case now == nil:
		c.Broken(name, *c.hold.Ended, []int64{c.hold.Ended.Seq}, "%s takes part and hosts the resource, but there is no %s at the end of hold %q", s.id, name, c.hold.Name)
	default:
		c.Broken(name, *c.hold.Ended, law.Evidence(now.Seq, c.hold.Ended.Seq), "%s takes part and hosts the resource, but has no entry in %s at the end of hold %q", s.id, name, c.hold.Name)
	}
}

// foreign looks for entries of servers without an identity Lease, which have been there for
// longer than a collector may take that nothing hinders.
func (c completeness) foreign(v *fact.StorageVersion) {
	revision := c.hold.EndedRevision
	now := v.At(revision)
	if now == nil {
		return
	}
	able, bound := c.collectorAble(c.bounds.Of("collectorStarts")), int64(c.bounds.Of("departedGoes"))
	for _, e := range now.Content.Entries {
		if c.TakesPart(e.ServerID, revision) {
			continue
		}
		since := c.When(v.ChangeAt(e.ServerID, revision).Stamp).Latest
		for _, s := range c.Participation(e.ServerID).Spans {
			if s.Left != nil && s.Left.Revision <= revision {
				since = max(since, c.When(*s.Left).Latest)
			}
		}
		if able.Lasts(since, c.hold.Ended.Earliest, fact.Yes) > bound {
			c.Broken(v.Name, *c.hold.Ended, law.Evidence(now.Seq, c.hold.Ended.Seq), "%s has an entry of %q, which has no identity Lease, at the end of hold %q", v.Name, e.ServerID, c.hold.Name)
			continue
		}
		c.Excused(v.Name, *c.hold.Ended, "the collector had no time to remove the entry of a server without an identity Lease")
	}
}
