package election

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// cle04: where a Lease does not exist and candidates do, the coordinator creates it for one
// of them (KEP-4355, "Coordinated Election Controller").
var cle04 = law.Deadline[*Facts, *Lease]{
	Row: law.Row{ID: "CLE-04", Sources: []fact.Source{fact.Etcd}, Needs: []law.Need{
		{Name: "made", Tag: "made"}, {Name: "anew", Tag: "anew"},
	}},
	Bound:    "electsWithin",
	Over:     (*Facts).electedLeases,
	Describe: (*Lease).entry,
	Begin:    func(l *Lease) []fact.Moment { return l.vacancies().begun },
	Running:  (*Lease).electable,
	Done:     func(l *Lease) []fact.Moment { return l.vacancies().over },
	Breach: func(l *Lease, _ fact.Moment, _ *fact.Moment, took time.Duration) string {
		return fmt.Sprintf("%s was made for no candidate for %s, though there are candidates and a coordinator", l.Key, took.Round(time.Second))
	},
	Tag: func(l *Lease, _, done fact.Moment) []string {
		c := l.changeAt(done.Seq)
		switch {
		case c == nil || !c.Taken() || c.Before != nil || !c.ByCoordinator():
			return nil
		case c.deletedSince:
			return []string{"made", "anew"}
		}
		return []string{"made"}
	},
}

// vacancies are when a Lease began to be wanted and not there, and when that was over.
type vacancies struct{ begun, over []fact.Moment }

// vacancies of the Lease: it is vacant while candidates stand for it and it does not exist,
// or was made for no holder and has had none since.
func (l *Lease) vacancies() vacancies {
	return cached(l.facts, "vacancies "+l.Key, func() vacancies {
		var v vacancies
		vacant := false
		for _, m := range l.allChanges() {
			is := l.vacant(m.Revision)
			switch {
			case is && !vacant:
				v.begun = append(v.begun, m)
			case !is && vacant:
				v.over = append(v.over, m)
			}
			vacant = is
		}
		return v
	})
}

// vacant is whether the Lease is vacant once a revision was made.
func (l *Lease) vacant(revision int64) bool {
	if len(l.standing(revision+1)) == 0 {
		return false
	}
	c := l.at(revision + 1)
	if c == nil || c.Deleted() {
		return true
	}
	return c.Now.Holder == "" && c.Now.Strategy == oldest && (c.deletedSince || c.last == "")
}

// allChanges are when the Lease or its candidates changed, in the order of revisions.
func (l *Lease) allChanges() []fact.Moment {
	out := l.candidateChanges()
	for _, c := range l.changes {
		out = append(out, c.When())
	}
	slices.SortFunc(out, func(a, b fact.Moment) int { return cmp.Compare(a.Revision, b.Revision) })
	return out
}

// entry is what a ledger says of the Lease.
func (l *Lease) entry() law.Entry { return law.Entry{About: l.Key} }

// changeAt is the change that an event tells of; nil if it tells of none.
func (l *Lease) changeAt(seq int64) *Change {
	for _, c := range l.changes {
		if c.Seq == seq {
			return c
		}
	}
	return nil
}
