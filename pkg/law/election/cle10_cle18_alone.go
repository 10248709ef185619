package election

import (
	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// cle10: two instances never act as leader at once (KEP-4355, "Goals"). It is judged by
// what leaders do, and by the order in which they took the Lease.
var cle10 = actsAlone(law.Row{ID: "CLE-10", Sources: []fact.Source{fact.Etcd}, Needs: []law.Need{
	{Name: "changes", Tag: "changes"}, {Name: "outlived", Tag: "outlived", Distinct: true},
}}, func(s *succession, e law.Entry) law.Entry {
	if s.follows() {
		e = e.Met("changes")
		if s.outlived() {
			e.About += " of " + s.before.Holder
			e = e.Met("outlived")
		}
	}
	return e
})

// cle18: instances can be moved to coordination and back one by one: those with it and
// those without share the Lease, and none acts beside a leader of the other sort
// (KEP-4355, "Enabling on a component", "Version Skew").
var cle18 = actsAlone(law.Row{ID: "CLE-18", Sources: []fact.Source{fact.Etcd}, Needs: []law.Need{
	{Name: "toCoordinated", Tag: "toCoordinated"}, {Name: "toLegacy", Tag: "toLegacy"},
}}, func(s *succession, e law.Entry) law.Entry {
	switch {
	case !s.follows() || s.by.coordinated() == s.byBefore.coordinated():
		return e
	case s.by.coordinated():
		return e.Met("toCoordinated")
	}
	return e.Met("toLegacy")
})
