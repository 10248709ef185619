package migration

import (
	"cmp"
	"slices"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// svm22: a success is true of what came after the checkpoint too, and stays true: as long
// as the servers announce the same, none of them stores an older version. One that had
// joined before the success must never do so, whatever it announces afterwards: the
// migration was to wait for it (KEP-25 with KEP-2339).
var svm22 = together{
	Row: law.Row{ID: "SVM-22", Also: []string{history.LackTraffic}, Sources: []fact.Source{fact.Etcd}, Needs: []law.Need{{Name: "writes", Tag: "writes"}, {Name: "each", Tag: "writes", Each: true}}},
	Parts: parts{
		// Without any agreement it is not known what objects are to be stored in.
		leavesNone("which were created on the way", func(m *Migration, c *Change) bool { return m.finished() == "" || c.created > m.checkpoint() }),
		untoldWrites,
		written{Judge: func(f *Facts, l *law.Ledger, _ law.Bounds) {
			for _, m := range those((*Migration).Succeeded)(f) {
				if m.finished() != "" {
					m.staysTrue(l)
				}
			}
		}},
	},
}

// staysTrue judges what is stored after a success, until the next one.
func (m *Migration) staysTrue(l *law.Ledger) {
	until, target := int64(fact.Forever), m.finished()
	for _, o := range m.siblings() {
		if o.Succeeded() && o.Ended.Revision > m.Ended.Revision {
			until = min(until, o.Ended.Revision)
		}
	}
	met, excused := map[string]int64{}, map[string]fact.Moment{}
	joined := func(c *Change, e law.Entry) fact.Truth { return m.joinedBefore(c.By.member, e.Began, m.When(m.Ended)) }
	p := m.population(m.Of)
	for i := len(p.until(m.Ended.Revision)); i < len(p.changes) && p.changes[i].Revision < until; i++ {
		c := &p.changes[i]
		e := c.Entry()
		now := m.agreement(m.Of, c.Revision)
		agreed := now.Is.Version == target
		switch {
		case c.Gone:
		case c.Version() == target:
			if agreed && c.tagged() {
				met[c.By.member]++
			}
		// A server that was started without the StorageVersion API since leaves what it had
		// announced as it was.
		case agreed && (m.silent(c.By.member, m.Ended.At) || !m.silent(c.By.member, c.At)):
			l.Add(e.Broken("%s was stored as %s at revision %d, after migration %s to %s had succeeded, and with the servers in agreement on that",
				c, c.Version(), c.Revision, m.Name, target).Shown(m.Ended.Seq, c.Seq))
		// What a server stores of a built-in resource is settled when it is started, and of a
		// custom one by its definition; one that was started at another release since is the
		// user's will.
		case !m.redefined(c.Revision) && joined(c, e) != fact.No:
			l.Add(e.Broken("%s was stored as %s at revision %d by %s, which had joined before migration %s to %s succeeded at revision %d",
				c, c.Version(), c.Revision, c.By.member, m.Name, target, m.Ended.Revision).Shown(m.Ended.Seq, now.Seq, c.Seq).Owed(joined(c, e)))
		default:
			excused[c.By.member] = e.Began
		}
	}
	for _, member := range law.SortedKeys(met) {
		l.Add(tally(m.ended().By(member), met[member], "writes"))
	}
	for _, member := range law.SortedKeys(excused) {
		l.Add(law.Of(cmp.Or(member, "another client"), excused[member]).
			Excused("the servers agreed on the version no longer, and the API server was started since the success"))
	}
}

// redefined is whether the resource is a custom one whose definition may have named another
// version than that which it was migrated to, at its success or from then up to a revision.
func (m *Migration) redefined(revision int64) bool {
	d, target := m.definition(m.Of), m.finished()
	at := d.At(m.Ended.Revision)
	if at == nil {
		return m.custom(m.Of)
	}
	return slices.ContainsFunc(append([]Definition{*at}, d.In(m.Ended.Revision, revision)...), func(d Definition) bool {
		return !d.There || m.Of.Group+"/"+d.Is.Storage != target
	})
}

// silent is whether the API server's process that a member started last was started
// without the StorageVersion API.
func (f *Facts) silent(member string, at int64) bool {
	p := f.LastProcess(member, history.ComponentAPIServer, at)
	return p != nil && p.Without(history.FeatureStorageVersions)
}

// joinedBefore is whether the API server's process that a member ran at a moment took part at a
// revision before. That its identity Lease existed does not do, because a Lease outlives a process:
// the process must have been ready by then, or have created the Lease. It is Unknown where it is not
// certain which process that was, or what came first.
func (f *Facts) joinedBefore(member string, at, before fact.Moment) fact.Truth {
	p := f.ProcessAt(member, history.ComponentAPIServer, at)
	switch {
	case !f.TakesPart(f.ServerID(member), before.Revision):
		return fact.No
	case p == nil:
		return fact.Unknown
	}
	leases := fact.Where(f.Participation(f.ServerID(member)).Spans, func(s fact.ParticipationSpan) bool { return s.Joined.Revision <= before.Revision })
	created := p.Started.Before(f.When(leases[len(leases)-1].Joined))
	if ready := f.FirstReady(p); ready != nil {
		return max(created, ready.Before(before))
	}
	return created
}
