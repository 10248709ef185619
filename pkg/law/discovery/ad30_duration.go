package discovery

import (
	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// ad30: aggregator_discovery_aggregation_duration is the time that it takes to aggregate all
// resources (KEP-3352, Monitoring Requirements): it counts as many aggregations as the
// counter does. By these metrics operators determine whether the feature is in use, so that
// a server without it has none.
var ad30 = law.Written[*Facts]{
	Row: law.Row{ID: "AD-30", Takes: law.AnyRun, Sources: definitions, Needs: each("timed")},
	Judge: func(f *Facts, l *law.Ledger, b law.Bounds) {
		last := map[*fact.Process]*counted{}
		for _, s := range f.quiet() {
			c := s.counted()
			if c == nil || c.last.Durations == nil {
				continue
			}
			l.Add(c.timed(last[s.by], int64(b.Number("underWay"))))
			last[s.by] = c
		}
	},
}

// timed judges whether the durations of the aggregations since an earlier quiet look of the
// same process were measured.
func (c *counted) timed(before *counted, underWay int64) law.Entry {
	e, has := law.Of("durations", c.moment()).By(c.member.name), *c.last.Durations >= 0
	switch off := withoutAggregation(c.by); {
	case off && has:
		return e.Broken("%s was started without aggregated discovery, and its metrics have the duration of aggregations", c.member.name).Shown(c.last.seq)
	case off:
		return e.Met()
	case !has:
		return e.Broken("%s has no metric of the duration of aggregations", c.member.name).Shown(c.last.seq)
	case before == nil || before.last.Aggregations == nil || c.last.Aggregations == nil || *c.last.Aggregations == *before.last.Aggregations:
		return law.Entry{}
	}
	counted, measured := *c.last.Aggregations-*before.last.Aggregations, *c.last.Durations-*before.last.Durations
	if measured == 0 || measured+underWay < counted {
		return e.Broken("%s counted %d aggregations, and measured the duration of %d of them", c.member.name, counted, measured).Shown(before.last.seq, c.last.seq)
	}
	return e.Met("timed")
}
