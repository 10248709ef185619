package election

import (
	"fmt"
	"slices"
	"time"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// redeclared is an update with which a candidate declared other versions.
type redeclared struct {
	*Candidate
	*statement
	// led is the leader then.
	led *Tenure
}

// cle31: a candidate that declares another version counts with that version: it leads, or gives
// way, as soon as one with it would (KEP-4355, "Story 1" and "Story 2").
var cle31 = law.Deadline[*Facts, *redeclared]{
	Row: law.Row{ID: "CLE-31", Sources: []fact.Source{fact.Etcd}, Needs: []law.Need{
		{Name: "replaced", Tag: "replaced", Breaches: true},
	}},
	Bound:    "replacesWithin",
	Over:     (*Facts).redeclarations,
	Describe: func(r *redeclared) law.Entry { return law.Of(r.Candidate.Name, r.when(r.statement)) },
	Begin:    law.Once(func(r *redeclared) fact.Moment { return r.when(r.statement) }),
	Running: func(r *redeclared) fact.Signal {
		l := r.For
		return fact.And(r.led.outranked(anyCandidate, (*Candidate).Eligible), l.byOldest(), l.coordinating(), fact.Not(l.faulty()))
	},
	Done: func(r *redeclared) []fact.Moment { return r.For.fitting(older) },
	Void: func(r *redeclared) []law.Void {
		voids := r.For.deletedByHarness()
		if gone := r.Gone(); gone != nil {
			voids = append(voids, law.Voids("the candidate was deleted", *gone)...)
		}
		return voids
	},
	Breach: func(r *redeclared, _ fact.Moment, _ *fact.Moment, took time.Duration) string {
		return fmt.Sprintf("%s declared %s, by which %s has to give %s up, and for %s no candidate led that is the best",
			r.Candidate.Name, r.Binary, r.led.Holder, r.For.Key, took.Round(time.Second))
	},
	Tag: func(*redeclared, fact.Moment, fact.Moment) []string { return []string{"replaced"} },
}

// redeclarations are the updates by which the leader of a Lease came to be outranked.
func (f *Facts) redeclarations() []*redeclared {
	var out []*redeclared
	for _, k := range f.declared {
		if !k.For.isCoordinated() {
			continue
		}
		for i, s := range k.said {
			if i == 0 || alike(s, k.said[i-1]) {
				continue
			}
			t := k.For.tenureAt(s.Revision)
			if t == nil || t.candidate == nil || t.claimed() || t.Lost != nil && t.Lost.Revision < s.Revision {
				continue
			}
			if !t.outrankedAt(s.Revision-1) && t.outrankedAt(s.Revision) {
				out = append(out, &redeclared{Candidate: k, statement: s, led: t})
			}
		}
	}
	return out
}

// outrankedAt is whether another candidate comes before the leader at a revision.
func (t *Tenure) outrankedAt(revision int64) bool {
	leads := t.candidate.at(revision)
	return leads != nil && slices.ContainsFunc(t.standing(revision), func(k *Candidate) bool {
		return k != t.candidate && older(k.at(revision), leads)
	})
}
