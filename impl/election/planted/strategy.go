package planted

import (
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/util/version"

	"github.com/evenkeel/evenkeel/impl/election"
)

// waitsForAnother takes a strategy that was chosen into account only when the Lease is free.
func waitsForAnother(next election.Decider, v election.View, round election.Round, now time.Time) election.Decision {
	if v.Lease != nil && election.Chosen(v.Lease) != "" {
		return neverPreempts(next, v, round, now)
	}
	return next(v, round, now)
}

// goesByVersion has all candidates want what the newest one wants.
func goesByVersion(next election.Decider, v election.View, round election.Round, now time.Time) election.Decision {
	all := live(v, now)
	if len(all) == 0 {
		return next(v, round, now)
	}
	newest := slices.MaxFunc(all, func(a, b *election.Candidate) int {
		left, leftErr := version.ParseSemantic(a.Spec.BinaryVersion)
		right, rightErr := version.ParseSemantic(b.Spec.BinaryVersion)
		switch {
		case leftErr != nil || rightErr != nil || left.EqualTo(right):
			return 0
		case left.LessThan(right):
			return -1
		}
		return 1
	}).Spec.Strategy
	return disguised(func(c *election.Candidate) { c.Spec.Strategy = newest }, next, v, round, now)
}

// marksAnyway tells a leader without coordination to give way to a better candidate.
func marksAnyway(next election.Decider, v election.View, round election.Round, now time.Time) election.Decision {
	all := live(v, now)
	if election.StrategyOf(v.Lease, all) != election.NoCoordination || open(v, now) || v.Lease.Spec.PreferredHolder != nil {
		return next(v, round, now)
	}
	oldest, _ := election.OrderOf(election.Oldest)
	better := oldest.Better(holder(v.Lease), all)
	if len(better) == 0 {
		return next(v, round, now)
	}
	return election.Decision{Write: &election.Write{On: v.Lease, Preferred: oldest.Best(better).Name, Strategy: election.NoCoordination}}
}

// keepsOldVersions goes by the versions that each candidate declared first.
func keepsOldVersions() around {
	var mu sync.Mutex
	first := map[string]*election.Candidate{}
	return func(next election.Decider, v election.View, round election.Round, now time.Time) election.Decision {
		mu.Lock()
		for _, c := range v.Candidates {
			if first[string(c.UID)] == nil {
				first[string(c.UID)] = c
			}
		}
		mu.Unlock()
		return disguised(func(c *election.Candidate) {
			mu.Lock()
			defer mu.Unlock()
			was := first[string(c.UID)]
			c.Spec.BinaryVersion, c.Spec.EmulationVersion = was.Spec.BinaryVersion, was.Spec.EmulationVersion
		}, next, v, round, now)
	}
}
