package migration

import (
	"cmp"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// svm22: a success is true of what came after the checkpoint too, and stays true: as long
// as the servers announce the same, none of them stores an older version. One that had
// joined before the success must never do so, whatever it announces afterwards: the
// migration was to wait for it (KEP-25 with KEP-2339). A server that was started at another
// release since is the user's will, and no false success; one that was started without the
// StorageVersion API since leaves what it had announced as it was.
var svm22 = written{
	Row: law.Row{ID: "SVM-22", Sources: []fact.Source{fact.Etcd}, Needs: []law.Need{{Name: "writes", Tag: "writes"}, {Name: "each", Tag: "writes", Each: true}}},
	Judge: func(f *Facts, l *law.Ledger, _ law.Bounds) {
		f.unshown(l)
		for _, m := range f.migrations((*Migration).Succeeded) {
			// Without any agreement it is not known what objects are to be stored in.
			m.leavesNone(l, "which were created on the way", func(c *Change) bool { return m.finished() == "" || c.created > m.checkpoint() })
			until := int64(fact.Forever)
			for _, o := range f.Migrations {
				if o.Of == m.Of && o.Succeeded() && o.Ended.Revision > m.Ended.Revision {
					until = min(until, o.Ended.Revision)
				}
			}
			if m.finished() != "" {
				m.staysTrue(l, until)
			}
		}
	},
}

// staysTrue judges what is stored after a success, until the next one.
func (m *Migration) staysTrue(l *law.Ledger, until int64) {
	f, target := m.facts, m.finished()
	silent, met, excused := map[string]bool{}, map[string]int64{}, map[string]fact.Moment{}
	for _, member := range f.Members() {
		silent[member] = f.silent(member, m.Ended.At)
	}
	p := f.population(m.Of)
	for i := p.until(m.Ended.Revision); i < len(p.changes) && p.changes[i].Revision < until; i++ {
		c := &p.changes[i]
		if c.Gone {
			continue
		}
		member := c.By.member
		agreed := f.agreement(m.Of, c.Revision).Version == target
		switch {
		case c.Version() == target:
			if agreed && c.tagged() {
				met[member]++
			}
		case agreed && (silent[member] || !f.silent(member, c.At)):
			l.Broken(c.Object.Name, f.when(c), law.Evidence(m.Ended.Seq, c.Seq), "%s %s was stored as %s at revision %d, after migration %s to %s had succeeded, and with the servers in agreement on that",
				m.Of.Name, c.Object.Name, c.Version(), c.Revision, m.Name, target)
		case !f.custom(m.Of) && f.joinedBefore(member, f.when(c), f.When(m.Ended)):
			// What a server stores of a built-in resource is settled when it is started.
			l.Broken(c.Object.Name, f.when(c), law.Evidence(m.Ended.Seq, f.agreement(m.Of, c.Revision).Announced, c.Seq), "%s %s was stored as %s at revision %d by %s, which had joined before migration %s to %s succeeded at revision %d",
				m.Of.Name, c.Object.Name, c.Version(), c.Revision, member, m.Name, target, m.Ended.Revision)
		default:
			excused[member] = f.when(c)
		}
	}
	m.enterWrites(l, met, excused)
}

func (m *Migration) enterWrites(l *law.Ledger, met map[string]int64, excused map[string]fact.Moment) {
	for _, member := range law.SortedKeys(met) {
		l.Add(law.Entry{Ending: law.Met, About: m.Name, Member: member, Began: m.facts.When(m.Ended), Tags: []string{"writes"}, Times: met[member]})
	}
	for _, member := range law.SortedKeys(excused) {
		l.Excused(cmp.Or(member, "another client"), excused[member], "the servers agreed on the version no longer, and the API server was started since the success")
	}
}
