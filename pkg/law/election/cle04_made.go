package election

import (
	"cmp"
	"slices"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// cle04: where a Lease does not exist and candidates do, the coordinator creates it for one
// of them (KEP-4355, "Coordinated Election Controller").
var cle04 = law.Deadline[*Facts, *Lease]{
	Row: law.Row{ID: "CLE-04", Sources: []fact.Source{fact.Etcd}, Needs: []law.Need{
		{Name: "made", Tag: "made"}, {Name: "anew", Tag: "anew"},
	}},
	Bound: "electsWithin",
	Over:  leases((*Lease).hasCandidates),
	Begin: func(l *Lease) []fact.Moment {
		return l.turns(func(revision int64) bool { return l.vacant(revision) && l.isElected(revision) }, true)
	},
	Running: func(l *Lease) fact.Signal { return fact.And(l.electable(), l.electing()) },
	Done: func(l *Lease) []fact.Moment {
		return fact.Where(l.turns(l.vacant, false), func(m fact.Moment) bool { return l.isElected(m.Revision) })
	},
	Void: (*Lease).electedOtherwise,
	Lacking: func(l *Lease) string {
		return "though there are candidates and a coordinator, " + l.Key + " was made for no candidate"
	},
	Tag: func(l *Lease, _, done fact.Moment) []string {
		switch c := l.at(done.Revision); {
		case c == nil || c.Seq != done.Seq || !c.Taken() || c.Before != nil || !c.ByCoordinator():
			return nil
		case c.deletedSince:
			return []string{"made", "anew"}
		}
		return []string{"made"}
	},
}

// vacant is whether candidates stand for the Lease at a revision and it does not exist, or
// was made for no holder and has had none since.
func (l *Lease) vacant(revision int64) bool {
	c := l.at(revision)
	return len(l.standing(revision)) > 0 &&
		(c == nil || c.Deleted() || c.Now.Holder == "" && c.Now.Strategy == oldest && (c.deletedSince || c.last == ""))
}

// turns are when a condition begins to hold, or ends, that rests on the Lease and its candidates at a
// revision, by the changes of these.
func (l *Lease) turns(holds func(revision int64) bool, begins bool) []fact.Moment {
	held := false
	return fact.Where(l.moments(), func(m fact.Moment) bool {
		before := held
		held = holds(m.Revision)
		return held != before && held == begins
	})
}

// moments are those of all changes of the Lease and of its candidates.
func (l *Lease) moments() []fact.Moment {
	all := fact.Each(l.changes, (*Change).When)
	for _, k := range l.candidates {
		all = append(all, fact.Each(k.said, k.when)...)
		if gone := k.Gone(); gone != nil {
			all = append(all, *gone)
		}
	}
	slices.SortFunc(all, func(a, b fact.Moment) int { return cmp.Compare(a.Revision, b.Revision) })
	return all
}
