package storageversion

import (
	"slices"
	"strings"
	"time"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// sv22: in a mixed control plane the disagreement can be seen, when the upgrade is finished
// the new version is agreed, and a rollback is no different. What is true is taken from the
// bytes that each member stored during a hold; what can be seen is what clients of every
// member were shown.
var sv22 = law.Written[*facts]{
	Row: law.Row{ID: "SV-22", Sources: []fact.Source{fact.Etcd, fact.Watches}, Needs: []law.Need{
		{Name: "mixed", Tag: "mixed"}, {Name: "rolledBack", Tag: "rolled back"}, {Name: "finished", Tag: "finished"},
	}},
	Judge: func(f *facts, l *law.Ledger, bounds law.Bounds) {
		f.doubtHosting(l, bounds)
		f.doubtTags(l)
		c := course{f: f, l: l, repaired: bounds.Of("tamperRepaired"), wrote: map[fact.Resource]string{}, agreed: map[fact.Resource]string{}}
		for _, hold := range f.Holds {
			if hold.Ended != nil {
				c.judge(hold)
			}
		}
	},
}

// course follows what is written from hold to hold.
type course struct {
	f        *facts
	l        *law.Ledger
	repaired time.Duration
	hold     *fact.Hold
	// wrote are the versions found to be written at the last hold that was judged, and agreed
	// the last one that was the only one, by resource. since is when the last hold was judged.
	wrote, agreed map[fact.Resource]string
	since         int64
}

// stored is what each member wrote of a resource during a hold: by version, the last event.
type stored map[string]map[string]int64

func (c *course) judge(hold *fact.Hold) {
	c.hold = hold
	all := map[fact.Resource]stored{}
	for _, w := range c.f.Writes() {
		r, ok := c.f.ResourceOfWrite(w)
		if !ok || w.Stored.Revision <= hold.BeganRevision || w.Stored.Seq < hold.Began.Seq || w.Stored.Seq > hold.Ended.Seq || c.f.Hosted(r) == fact.HostedOtherwise {
			continue
		}
		if all[r] == nil {
			all[r] = stored{}
		}
		if all[r][w.Member] == nil {
			all[r][w.Member] = map[string]int64{}
		}
		all[r][w.Member][w.APIVersion] = w.Stored.Seq
	}
	told := len(all) == 0
	for _, r := range sortedResources(all) {
		told = c.resource(r, all[r]) || told
	}
	if !told {
		c.l.Unclear(hold.Name, *hold.Ended, "no resource was seen to be written by all members that were up")
	}
	c.since = hold.Ended.Seq
}

func sortedResources[V any](of map[fact.Resource]V) []fact.Resource {
	out := make([]fact.Resource, 0, len(of))
	for r := range of {
		out = append(out, r)
	}
	slices.SortFunc(out, func(a, b fact.Resource) int { return strings.Compare(a.StorageVersionName(), b.StorageVersionName()) })
	return out
}

// resource is whether all was seen that can be seen of a resource in a hold. That members
// write different versions shows even if some are not seen to write.
func (c *course) resource(r fact.Resource, wrote stored) bool {
	name, end := r.StorageVersionName(), c.hold.Ended
	if c.f.Hosted(r) != fact.HostedBuiltIn {
		return true // not this law's
	}
	if c.f.harness.repairing(name, end.Latest, c.repaired) {
		c.l.Excused(name, *end, "the harness changed the object shortly before")
		return true
	}
	members := law.SortedKeys(c.hold.Releases)
	silent, idle, without := 0, 0, false
	for _, m := range members {
		without = without || c.f.lastServer(m, end.Latest).silent()
		if len(wrote[m]) > 0 {
			continue
		}
		if silent++; c.f.upAt(m, end.Latest) != nil {
			idle++
		}
	}
	versions := wrote.versions()
	switch {
	case silent > 0 && len(versions) == 1:
		return idle == 0
	case len(versions) == 1 && without:
		return true // a server without the StorageVersion API has agreed to nothing, which is SV-25's
	}
	seen := c.views(name, members, versions, wrote)
	if silent > 0 {
		return idle == 0
	}
	if seen {
		c.count(r, versions)
	}
	return true
}

func (s stored) versions() []string {
	all := map[string]bool{}
	for _, of := range s {
		for v := range of {
			all[v] = true
		}
	}
	return law.SortedKeys(all)
}

// views judges what clients of each member saw, and is false if those of any saw nothing.
func (c *course) views(name string, members, versions []string, wrote stored) bool {
	all := true
	for _, m := range members {
		v, known := c.f.shown.see(m, name, c.hold.Ended.Seq)
		if !known {
			all = false
			if c.f.upAt(m, c.hold.Ended.Latest) != nil {
				c.l.Unclear(name, *c.hold.Ended, "in hold %q clients of %s were shown no StorageVersions", c.hold.Name, m)
			}
			continue
		}
		if len(versions) == 1 && v.common == nil && c.outsider() {
			c.l.Excused(name, *c.hold.Ended, "a server that is no member took part, whose agreement counts too")
			continue
		}
		e := law.Entry{Ending: law.Met, About: name, Member: m, Began: *c.hold.Ended}
		if e.Why = c.wrong(name, m, v, versions); e.Why != "" {
			e.Ending, e.Evidence = law.Broken, wrote.evidence(v.seq, c.hold.Ended.Seq)
		}
		c.l.Add(e)
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

// evidence are the last writes of each version, and other events.
func (s stored) evidence(seqs ...int64) []int64 {
	for _, version := range s.versions() {
		last := int64(0)
		for _, of := range s {
			last = max(last, of[version])
		}
		seqs = append(seqs, last)
	}
	return law.Evidence(seqs...)
}

// wrong is what is wrong with a view, empty if nothing is.
func (c *course) wrong(name, member string, v view, versions []string) string {
	all := strings.Join(versions, " and ")
	switch {
	case v.gone:
		return sprintf("in hold %q the members write %s, but clients of %s see no %s", c.hold.Name, all, member, name)
	case len(versions) > 1 && v.common != nil:
		return sprintf("in hold %q the members write %s, but clients of %s see %s agreed in %s", c.hold.Name, all, member, *v.common, name)
	case len(versions) == 1 && (v.common == nil || *v.common != versions[0]):
		return sprintf("in hold %q all members write %s, but clients of %s see %s agreed in %s", c.hold.Name, all, member, showCommon(v.common), name)
	}
	return ""
}

// count notes which kind of hold it was.
func (c *course) count(r fact.Resource, versions []string) {
	now := strings.Join(versions, " and ")
	before, known := c.wrote[r]
	c.wrote[r] = now
	if known && before != now && c.rolledBack() {
		c.l.Met(c.hold.Name, *c.hold.Ended, "rolled back")
	}
	if len(versions) > 1 {
		c.l.Met(c.hold.Name, *c.hold.Ended, "mixed")
		return
	}
	if before, ok := c.agreed[r]; ok && before != now {
		c.l.Met(c.hold.Name, *c.hold.Ended, "finished")
	}
	c.agreed[r] = now
}

// rolledBack is whether a rollback ended since the last hold.
func (c *course) rolledBack() bool {
	return slices.ContainsFunc(c.f.Steps, func(s *fact.Step) bool {
		return s.Action == "rollback" && s.Phase == history.PhaseEnd && s.Ended.Seq > c.since && s.Ended.Seq < c.hold.Ended.Seq
	})
}
