package storageversion

import (
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// sv20: the collector never strips the entry of a server that lives, whatever its look-ups
// return (KEP-2339, garbage collection: what is removed are stale entries, and a server that
// takes part has none). It was put to the test only if look-ups of identity Leases failed
// after objects had changed that gave the collector something to do, a stale entry beside
// those of participants; and if it was at work, which shows when it takes the stale entry out
// later, and the others with it or not.
var sv20 = law.Written[*facts]{
	Row: law.Row{ID: "SV-20", Sources: []fact.Source{fact.Etcd}, Needs: []law.Need{
		{Name: "blind", Tag: "blind"}, {Name: "tempted", Tag: "tempted"},
	}},
	Judge: func(f *facts, l *law.Ledger, bounds law.Bounds) {
		stripped := map[int64]bool{}
		for _, x := range f.losses() {
			if f.raced(x, bounds.Of("underWay")) {
				continue // SV-19's
			}
			stripped[x.Seq] = true
			what := "lost the entry of"
			if x.withObject {
				what = "was removed with the entry of"
			}
			l.Broken(x.v.Name, f.When(x.Stamp), []int64{x.Seq}, "%s %s %s, which takes part", x.v.Name, what, x.id)
		}
		blind := f.blindLookups()
		for _, at := range blind {
			l.Met("identity Leases", at, "blind")
		}
		for _, v := range f.StorageVersions() {
			f.judgeTempted(l, v, blind, stripped)
		}
	},
}

// blindLookups are when look-ups of identity Leases by the controller manager that leads
// failed.
func (f *facts) blindLookups() []fact.Moment {
	var out []fact.Moment
	for _, x := range f.exchanges {
		if at := f.When(x.Stamp); x.failedLookup() && f.leads(x.member).During(at) != fact.No {
			out = append(out, at)
		}
	}
	return out
}

// leasesPath is where API servers have the Leases among which identity Leases are.
const leasesPath = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases"

// failedLookup is whether a controller manager asked for identity Leases and got no answer,
// or one that tells of a failure. A missing Lease is no failure. Other controllers list and
// watch the Leases of all namespaces, and all of them watch.
func (x exchange) failedLookup() bool {
	if x.Method != "GET" || x.Watch || x.Code != 0 && x.Code < 400 || x.Code == 404 {
		return false
	}
	name, one := strings.CutPrefix(x.Path, leasesPath+"/")
	return x.Path == leasesPath || one && fact.IdentityLeasePrefix+name != leaderLease
}

// judgeTempted follows the stale entries of an object: those beside others that must stay,
// and that were there when a look-up failed, show by their going that the collector worked.
func (f *facts) judgeTempted(l *law.Ledger, v *fact.StorageVersion, blind []fact.Moment, stripped map[int64]bool) {
	tempted := map[string]bool{} // by server of a stale entry, whether a look-up has failed since
	for i := range v.Revisions {
		now := &v.Revisions[i]
		at := f.When(now.Stamp)
		if i > 0 && v.Revisions[i-1].Content != nil {
			before := &v.Revisions[i-1]
			for id := range tempted {
				tempted[id] = tempted[id] || slices.ContainsFunc(blind, func(b fact.Moment) bool { return b.Earliest > before.At && b.Seq < now.Seq })
			}
			if f.takesTempting(before, now, tempted) && (stripped[now.Seq] || f.collected(v, before, now, at)) {
				l.Met(v.Name, at, "tempted")
			}
		}
		next := map[string]bool{}
		for _, id := range f.tempting(now) {
			next[id] = tempted[id]
		}
		tempted = next
	}
}

// tempting are the servers whose stale entries a revision has beside others that must stay.
func (f *facts) tempting(r *fact.VersionRevision) []string {
	if r.Content == nil {
		return nil
	}
	var stale []string
	for _, e := range r.Content.Entries {
		if !f.TakesPart(e.ServerID, r.Revision) {
			stale = append(stale, e.ServerID)
		}
	}
	if len(stale) == len(r.Content.Entries) {
		return nil
	}
	return stale
}

// takesTempting is whether a stale entry goes that was there when a look-up failed.
func (f *facts) takesTempting(before, now *fact.VersionRevision, tempted map[string]bool) bool {
	return slices.ContainsFunc(before.Content.Entries, func(e history.Entry) bool {
		return tempted[e.ServerID] && !f.TakesPart(e.ServerID, now.Revision) && !hasEntry(now, e.ServerID)
	})
}

// collected is whether a change is the work of a collector: it takes stale entries out and
// nothing else, while the controller manager that leads runs, and neither the harness nor a
// server that starts can have made it.
func (f *facts) collected(v *fact.StorageVersion, before, now *fact.VersionRevision, at fact.Moment) bool {
	if !onlyTakes(before, now) || now.Content == nil && f.harness.removed(v.Name, at) || f.harness.edited(v.Name, now.Stamp) {
		return false
	}
	for _, e := range before.Content.Entries {
		if f.TakesPart(e.ServerID, now.Revision) && !hasEntry(now, e.ServerID) {
			return false
		}
	}
	works := slices.ContainsFunc(f.Members(), func(m string) bool {
		return fact.And(f.leads(m), f.Running(m, history.ComponentControllerManager)).During(at) == fact.Yes
	})
	return works && !f.startsAt(now.Revision, at)
}

// startsAt is whether an API server was starting at a revision: it takes stale entries out,
// too.
func (f *facts) startsAt(revision int64, at fact.Moment) bool {
	return slices.ContainsFunc(f.Members(), func(member string) bool {
		s := f.serverOf(member, revision)
		if s == nil || s.Alive().During(at) == fact.No {
			return false
		}
		served := s.revision
		if served == 0 && len(s.looks) > 0 {
			served = s.looks[0].EtcdRevision
		}
		return served == 0 || revision <= served
	})
}
