package storageversion

import (
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// sv22: in a mixed control plane the disagreement can be seen, when the upgrade is finished
// the new version is agreed, and a rollback is no different. What is true is taken from the
// bytes that each member stored during a hold; what can be seen is what clients of every
// member were shown.
var sv22 = law.Together[*facts]{
	Row: law.Row{ID: "SV-22", Sources: []fact.Source{fact.Etcd, fact.Watches}, Needs: []law.Need{
		{Name: "mixed", Tag: "mixed"}, {Name: "rolledBack", Tag: "rolled back"}, {Name: "finished", Tag: "finished"},
	}},
	Parts: []law.Law[*facts]{hostingKnown, tagsKnown, law.Written[*facts]{Judge: func(f *facts, l *law.Ledger, bounds law.Bounds) {
		c := course{f: f, l: l, bounds: bounds, wrote: map[string]string{}, agreed: map[string]string{}}
		for _, c.hold = range f.endedHolds() {
			c.judge()
			c.since = c.hold.Ended.Seq
		}
	}}},
}

// course follows what is written from hold to hold.
type course struct {
	f      *facts
	l      *law.Ledger
	bounds law.Bounds
	hold   *fact.Hold
	// wrote are the versions that were written at the last hold that was judged, and agreed
	// the last one that was the only one, by StorageVersion. since is when the last hold ended.
	wrote, agreed map[string]string
	since         int64
}

func (c *course) judge() {
	all := map[string][]*storing{}
	for _, w := range c.f.builtInStoringsIn(c.hold) {
		if w.Stored.Revision > c.hold.BeganRevision {
			all[w.name] = append(all[w.name], w)
		}
	}
	told := len(all) == 0
	for _, name := range law.SortedKeys(all) {
		told = c.f.Hosted(all[name][0].resource) != fact.HostedBuiltIn || c.object(name, all[name]) || told
	}
	if !told {
		c.l.Unclear(c.hold.Name, *c.hold.Ended, "no resource was seen to be written by all members that were up")
	}
}

// object is whether all was seen that can be seen of an object in a hold. That members write
// different versions shows even if some are not seen to write.
func (c *course) object(name string, wrote []*storing) bool {
	if e := c.f.tampered(law.Of(name, *c.hold.Ended), name, c.hold.Ended.Latest, c.bounds); e.Ending != "" {
		c.l.Add(e)
		return true
	}
	quiet, idle, without := false, false, false
	for m := range c.hold.Releases {
		without = without || c.f.lastServer(m, c.hold.Ended.Latest).silent()
		if !slices.ContainsFunc(wrote, func(w *storing) bool { return w.Member == m }) {
			quiet, idle = true, idle || c.f.upAt(m, c.hold.Ended.Latest) != nil
		}
	}
	last := map[string]int64{} // the last write of each version
	for _, w := range wrote {
		last[w.APIVersion] = w.Stored.Seq
	}
	versions := law.SortedKeys(last)
	if len(versions) == 1 && (quiet || without) {
		return !idle || without && !quiet // without the API a server has agreed to nothing, which is SV-25's
	}
	seen := c.views(name, versions, last)
	if seen && !quiet {
		c.count(name, versions)
	}
	return !idle
}

// views judges what clients of each member saw, and is false if those of any saw nothing.
func (c *course) views(name string, versions []string, last map[string]int64) bool {
	all, who, want := true, "the members", "none"
	if len(versions) == 1 {
		who, want = "all members", versions[0]
	}
	for _, m := range law.SortedKeys(c.hold.Releases) {
		v, known := c.f.see(m, name, c.hold.Ended.Seq)
		e, sees := law.Of(name, *c.hold.Ended).By(m), showCommon(v.common)+" agreed in "+name
		if v.gone {
			sees = "no " + name
		}
		all = all && known
		switch {
		case !known && c.f.upAt(m, c.hold.Ended.Latest) == nil:
		case !known:
			c.l.Add(e.Unclear("in hold %q clients of %s were shown no StorageVersions", c.hold.Name, m))
		case len(versions) == 1 && v.common == nil && c.outsider():
			c.l.Add(e.Excused("a server that is no member took part, whose agreement counts too"))
		case v.gone || showCommon(v.common) != want:
			c.l.Add(e.Broken("in hold %q %s write %s, but clients of %s see %s", c.hold.Name, who, strings.Join(versions, " and "), m, sees).
				Shown(v.seq, c.hold.Ended.Seq, last[versions[0]], last[versions[len(versions)-1]]))
		default:
			c.l.Add(e.Met())
		}
	}
	return all
}

// outsider is whether a server that is no member, such as one that the harness simulates,
// took part during the hold: without its report there is no agreement (SV-08).
func (c *course) outsider() bool {
	return slices.ContainsFunc(c.f.Participants(), func(p *fact.Participation) bool {
		return c.f.MemberOfServer(p.Server) == "" && p.During(c.hold.BeganRevision, c.hold.EndedRevision)
	})
}

// count notes which kind of hold it was.
func (c *course) count(name string, versions []string) {
	now, before := strings.Join(versions, " and "), c.wrote[name]
	c.wrote[name] = now
	if before != "" && before != now && slices.ContainsFunc(c.f.Steps, func(s *fact.Step) bool {
		return s.Action == "rollback" && s.Phase == history.PhaseEnd && s.Ended.Seq > c.since && s.Ended.Seq < c.hold.Ended.Seq
	}) {
		c.l.Met(c.hold.Name, *c.hold.Ended, "rolled back")
	}
	if len(versions) > 1 {
		c.l.Met(c.hold.Name, *c.hold.Ended, "mixed")
		return
	}
	if agreed := c.agreed[name]; agreed != "" && agreed != now {
		c.l.Met(c.hold.Name, *c.hold.Ended, "finished")
	}
	c.agreed[name] = now
}
