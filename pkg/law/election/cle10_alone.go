package election

import (
	"fmt"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// cle10: two instances never act as leader at once (KEP-4355, "Goals"). It is judged by
// what leaders do, and by the order in which they took the Lease.
var cle10 = law.Together[*Facts]{
	Row: law.Row{ID: "CLE-10", Sources: []fact.Source{fact.Etcd}, Needs: []law.Need{
		{Name: "changes", Tag: "changes"}, {Name: "outlived", Tag: "outlived", Distinct: true},
	}},
	Parts: []law.Law[*Facts]{law.OnlyIf[*Facts, *succession]{
		Events: (*Facts).successions,
		Describe: func(s *succession) law.Entry {
			e := s.entry()
			if s.follows() {
				e.Tags = append(e.Tags, "changes")
				if s.outlived() {
					e.Tags, e.About = append(e.Tags, "outlived"), e.About+" of "+s.before.Holder
				}
			}
			return e
		},
		If:     (*succession).alone,
		Excuse: (*succession).excuse,
		Breach: func(s *succession) (string, []int64) {
			if s.taken == 0 {
				return fmt.Sprintf("%s acted as the leader of %s, and has never had the Lease, which another one held", s.now.Holder, s.lease.Key), law.Evidence(s.now.Seq)
			}
			return fmt.Sprintf("%s acted as the leader of %s%s, and %s, which took the Lease later%s, had acted before", s.now.Holder, s.lease.Key, s.now.term(), s.before.Holder, s.before.term()),
				law.Evidence(s.before.Seq, s.now.Seq)
		},
	}},
}
