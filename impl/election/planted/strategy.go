package planted

import (
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/util/version"

	"github.com/evenkeel/evenkeel/impl/defects"
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

// followsLate takes a strategy that was chosen into account only some time after it was seen.
func followsLate(long time.Duration) around {
	var chosen defects.Waits
	return func(next election.Decider, v election.View, round election.Round, now time.Time) election.Decision {
		if v.Lease == nil || election.Chosen(v.Lease) == "" {
			return next(v, round, now)
		}
		left := chosen.Left(string(v.Lease.UID)+"/"+string(election.Chosen(v.Lease)), now, long)
		if left == 0 {
			return next(v, round, now)
		}
		return sooner(neverPreempts(next, v, round, now), left)
	}
}

// sooner has a decision looked at again at the latest in a time.
func sooner(decision election.Decision, left time.Duration) election.Decision {
	if left > 0 && (decision.Recheck == 0 || left < decision.Recheck) {
		decision.Recheck = left
	}
	return decision
}

// keepsOldVersions goes by the versions that a candidate declared before, for a while after it
// declares others.
func keepsOldVersions(long time.Duration) around {
	var mu sync.Mutex
	var declared defects.Waits
	counts := map[string]*election.Candidate{}
	return func(next election.Decider, v election.View, round election.Round, now time.Time) election.Decision {
		mu.Lock()
		defer mu.Unlock()
		soon := time.Duration(0)
		for _, c := range v.Candidates {
			uid, was := string(c.UID), counts[string(c.UID)]
			if was == nil || was.Spec.BinaryVersion == c.Spec.BinaryVersion && was.Spec.EmulationVersion == c.Spec.EmulationVersion {
				counts[uid] = c
				continue
			}
			left := declared.Left(uid+"/"+c.Spec.BinaryVersion+"/"+c.Spec.EmulationVersion, now, long)
			if left == 0 {
				counts[uid] = c
			} else if soon == 0 || left < soon {
				soon = left
			}
		}
		return sooner(disguised(func(c *election.Candidate) {
			was := counts[string(c.UID)].Spec
			c.Spec.BinaryVersion, c.Spec.EmulationVersion = was.BinaryVersion, was.EmulationVersion
		}, next, v, round, now), soon)
	}
}
