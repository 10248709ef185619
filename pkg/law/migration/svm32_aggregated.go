package migration

import (
	"slices"
	"time"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// svm32: a resource of aggregated servers is migrated as any other (KEP-25, Goals). API
// servers may cease to proxy its group for a while, as while an APIService is replaced: its
// servers store it all the same, and announce in which version they do, so that the
// migration waits.
var svm32 = each[*Migration]{
	Row:  law.Row{ID: "SVM-32", Also: []string{history.LackTraffic, history.LackBackends}, Sources: []fact.Source{fact.Etcd, fact.Discovery}, Needs: needs("rewritten", "away")},
	Over: those(func(m *Migration) bool { return m.aggregated() && !m.Found && was(m.begun()) }),
	End: func(m *Migration, bounds law.Bounds) law.Entry {
		after, tags := ", as one of a resource of aggregated servers", []string{"rewritten"}
		if m.proxiedAgain() {
			after, tags = " after API servers had ceased to proxy its resource for a while", append(tags, "away")
		}
		if m.Failed() && m.unproxiedFor() >= bounds.Of("gone") {
			return m.Entry().Excused("no API server had proxied its resource for so long that it may count as gone")
		}
		return m.survives(m.When(m.begun()), after, func(e law.Entry) law.Entry {
			return tally(e, int64(len(m.rewritten())), tags...)
		})
	},
}

// aggregated is whether aggregated servers host its resource.
func (m *Migration) aggregated() bool {
	return m.Facts.Aggregated(fact.Resource{Group: m.Of.Group, Resource: m.Of.Name})
}

// proxiedAgain is whether API servers did not proxy its resource for a while after it had
// begun, and did again before it ended.
func (m *Migration) proxiedAgain() bool {
	begun, over := m.When(m.begun()), m.over()
	return slices.ContainsFunc(m.Unproxied(m.Of.Group), func(away fact.Span) bool {
		return away.Begin > begun.Latest && away.End < over.Earliest
	})
}

// unproxiedFor is for how long API servers may not have proxied its resource when it ended; 0
// if they did.
func (m *Migration) unproxiedFor() (most time.Duration) {
	over := m.over()
	for _, away := range m.Unproxied(m.Of.Group) {
		if away.Begin <= over.Latest && over.Earliest <= away.End {
			most = max(most, time.Duration(over.Latest-away.Begin))
		}
	}
	return most
}
