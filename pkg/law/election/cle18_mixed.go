package election

import (
	"fmt"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// cle18: instances can be moved to coordination and back one by one: those with it and
// those without share the Lease, and none acts beside a leader of the other sort
// (KEP-4355, "Enabling on a component", "Version Skew").
var cle18 = law.OnlyIf[*Facts, *succession]{
	Row: law.Row{ID: "CLE-18", Sources: []fact.Source{fact.Etcd}, Needs: []law.Need{
		{Name: "toCoordinated", Tag: "toCoordinated"}, {Name: "toLegacy", Tag: "toLegacy"},
	}},
	Events: (*Facts).successions,
	Describe: func(s *succession) law.Entry {
		e := s.entry()
		if s.follows() {
			switch before, now := s.lease.coordinated(s.takenBefore), s.lease.coordinated(s.taken); {
			case !before && now:
				e.Tags = []string{"toCoordinated"}
			case before && !now:
				e.Tags = []string{"toLegacy"}
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
		return fmt.Sprintf("%s acted as the leader of %s %s, and %s, which took the Lease later %s, had acted before",
			s.now.Holder, s.lease.Key, s.lease.how(s.taken), s.before.Holder, s.lease.how(s.takenBefore)), law.Evidence(s.before.Seq, s.now.Seq)
	},
}

// coordinated is whether the Lease said at a revision that it is coordinated.
func (l *Lease) coordinated(revision int64) bool {
	c := l.at(revision + 1)
	return c != nil && c.Now != nil && c.Now.Strategy != ""
}

// how is how a holder took the Lease at a revision.
func (l *Lease) how(revision int64) string {
	if l.coordinated(revision) {
		return "by coordination"
	}
	return "without coordination"
}
