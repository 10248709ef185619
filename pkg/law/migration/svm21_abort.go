package migration

import (
	"fmt"
	"slices"
	"time"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

// svm21: a migration whose servers do not agree any more stops, and does not succeed
// (KEP-2339, "Storage version migrator"). An agreement on the same version that is back
// before the end is for the migration to deal with: it may begin anew. That the definition of its
// resource goes is no loss of an agreement: then there is nothing to migrate (SVM-18).
var svm21 = together{
	Row:   law.Row{ID: "SVM-21", Also: []string{history.LackTraffic}, Sources: []fact.Source{fact.Etcd}, Needs: []law.Need{{Name: "ended", Tag: "ended", Breaches: true}}, Kinds: []string{kindDisagreed}},
	Parts: parts{stopsWhenLost, endsWhenLost, each[*Migration]{Over: all, End: (*Migration).endsWithoutSuccess}},
}

// endsWhenLost has a migration end soon enough after a loss, whatever comes of it later.
var endsWhenLost = deadline{
	Bound: "endsWithin",
	Over:  all,
	Begin: func(m *Migration) []fact.Moment {
		return fact.Each(m.disagreements(), func(l loss) fact.Moment { return m.When(l.from) })
	},
	Running: (*Migration).clock,
	Done:    func(m *Migration) []fact.Moment { return m.Moments(m.Ended) },
	Void: func(m *Migration) []law.Void {
		back := m.Moments(fact.Each(m.losses(), func(l loss) fact.Stamp { return l.back })...)
		undefined := fact.Where(m.agreements(m.Of).All(), func(a fact.Value[Agreement]) bool { return was(a.Stamp) && !a.Is.Told })
		return slices.Concat(law.Voids("the servers agreed again before the bound was over", back...),
			law.Voids("it was deleted before the bound was over", m.Moments(m.Gone)...),
			law.Voids("the definition of its resource was deleted before the bound was over", fact.Each(undefined, func(a fact.Value[Agreement]) fact.Moment { return m.When(a.Stamp) })...))
	},
	Breach: func(m *Migration, _ fact.Moment, _ *fact.Moment, _ time.Duration) string {
		return fmt.Sprintf("migration %s has not ended %v after it lost its agreement", m.Name, requirement.MustBound("SVM-21", "endsWithin"))
	},
	Kind:    kindDisagreed,
	Release: func(m *Migration, began fact.Moment) string { return m.releaseAt(began.Revision, began.Latest) },
}

// stopsWhenLost judges what is rewritten after a loss and before the servers agree again, by
// the migration that runs or by one that says that it has failed.
var stopsWhenLost = written{Judge: func(f *Facts, l *law.Ledger, bounds law.Bounds) {
	for _, m := range f.Migrations {
		for _, lost := range m.disagreements() {
			back := m.agreedAgain(lost)
			for t := range f.touches(m.Of) {
				if t.rewrites() && t.Revision >= lost.from.Revision && t.Revision <= back && (t.During == m || m.goesOnAfterFailure(t)) {
					l.Add(t.tooLate(f.When(lost.from), bounds.Of("stopsWithin"), "migration "+m.Name+" had lost its agreement").
						As(kindDisagreed, m.releaseAt(t.Revision, t.when().Latest)))
				}
			}
		}
	}
}}

// agreedAgain is the revision at which the servers agreed again after a loss: on the same
// version, while the migration had not ended.
func (m *Migration) agreedAgain(lost loss) int64 {
	again := fact.Where(m.agreements(m.Of).In(lost.from.Revision, fact.Forever), func(a fact.Value[Agreement]) bool {
		return a.Is.Version != "" && (a.Revision > m.end().Revision || a.Is.Version == m.target().Version)
	})
	if len(again) == 0 {
		return fact.Forever
	}
	return again[0].Revision
}

// goesOnAfterFailure is whether a migration that says that it has failed may have made a
// change, and no other migration that began since. A client that writes for reasons of its
// own changes more than the version.
func (m *Migration) goesOnAfterFailure(t *Touch) bool {
	next := fact.Where(m.begunOf(m.Of), func(o *Migration) bool {
		return o.Started.Revision > m.Ended.Revision && o.Started.Revision < t.Revision
	})
	return m.Failed() && t.During == nil && t.Revision > m.Ended.Revision && len(next) == 0 &&
		t.Before.Metadata != 0 && t.Version() == m.target().Version && t.altered() == ""
}

// endsWithoutSuccess judges how it ended. One that had nothing left to migrate when it lost
// its agreement, or when it started if that came after, had looked before, and its success
// was being written.
func (m *Migration) endsWithoutSuccess(law.Bounds) law.Entry {
	lost, ok := m.lost()
	switch {
	case !ok || !was(m.Ended) || lost.undefined:
		return law.Entry{}
	case m.Failed():
		return m.ended().Met("ended")
	}
	target := m.target().Version
	stored := m.storedAt(m.Of, max(lost.from.Revision, m.Started.Revision))
	writing := min(fact.Of(stored.total == stored.in[target]), m.writing(lost.from, m.Ended))
	if writing == fact.Yes {
		return m.ended().Excused("its success was being written when the agreement was lost")
	}
	return m.ended().Met("ended").Broken("migration %s succeeded at revision %d, and since revision %d the servers do not agree on %s any more",
		m.Name, m.Ended.Revision, lost.from.Revision, target).
		Shown(m.Started.Seq, lost.from.Seq, m.Ended.Seq).As(kindDisagreed, m.releaseAt(m.Ended.Revision, m.When(m.Ended).Latest)).Owed(writing.Not())
}
