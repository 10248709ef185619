package main

import (
	"math/big"
	"slices"
)

// course is one way to take all members from one release to the other, one by one, several
// times where it has several steps.
type course struct {
	name  string
	from  played
	steps []played
}

// The courses. Where an upgrade has two steps, the binaries come first and emulate the older
// release, and all that is emulated is raised later, in the same order of members.
var (
	upgrade    = course{way(false), plainOld, []played{plainNewer}}
	rollback   = course{way(true), plainNewer, []played{plainOld}}
	twoSteps   = course{"upgrade in two steps", plainOld, []played{emulating, plainNewer}}
	beforeLast = course{"rollback after the first", emulating, []played{plainOld}}
)

var courses = []course{upgrade, rollback, twoSteps, beforeLast}

// rollout is a course of all members.
type rollout struct {
	course
	// outlived is whether a member is back before the Lease that it held expires. Then
	// the member takes part in the election of its own successor.
	outlived bool
}

// chances of a skew violation.
type chances struct {
	// ever is the chance of a violation at any moment, and lasting the chance of one
	// that only the next replacement ends.
	ever, lasting *big.Rat
}

// state is a possible state of a rollout.
type state struct {
	leader        int
	ever, lasting bool
}

// enumerate returns the chances over every order of the members, every first leader
// (all equally likely) and every hand-over.
func enumerate(members int, e election, r rollout) chances {
	out := chances{new(big.Rat), new(big.Rat)}
	orders := int64(0)
	permute(members, func(order []int) {
		if orders > 0 && e.alike() {
			return
		}
		orders++
		for s, chance := range follow(order, e, r) {
			if s.ever {
				out.ever.Add(out.ever, chance)
			}
			if s.lasting {
				out.lasting.Add(out.lasting, chance)
			}
		}
	})
	out.ever.Quo(out.ever, new(big.Rat).SetInt64(orders))
	out.lasting.Quo(out.lasting, new(big.Rat).SetInt64(orders))
	return out
}

// follow replaces the members in one order, and returns the chance of each final state.
func follow(order []int, e election, r rollout) map[state]*big.Rat {
	p := plane{members: make([]member, len(order)), away: none}
	now := map[state]*big.Rat{}
	for i := range p.members {
		p.members[i] = member{r.from, i}
		now[state{leader: i}] = big.NewRat(1, int64(len(order)))
	}
	for pass, to := range r.steps {
		for step, gone := range order {
			now = p.replace(now, gone, member{to, (pass+1)*len(order) + step}, e, r.outlived)
		}
	}
	return now
}

// replace has a member stop, which loses its Lease, and come back as another one.
func (p plane) replace(now map[state]*big.Rat, gone int, as member, e election, outlived bool) map[state]*big.Rat {
	p.away = gone
	now = p.each(now, func(s state) map[int]*big.Rat {
		switch {
		case s.leader != gone:
			return certain(s.leader)
		case outlived:
			return certain(none)
		default:
			return e.vacant(p)
		}
	}, e)
	p.away = none
	p.members[gone] = as
	return p.each(now, func(s state) map[int]*big.Rat {
		if s.leader == none {
			return e.vacant(p)
		}
		return certain(s.leader)
	}, e)
}

// each moves every state on to its possible successors. It checks for a violation before
// and after the election settles.
func (p plane) each(states map[state]*big.Rat, next func(state) map[int]*big.Rat, e election) map[state]*big.Rat {
	out := map[state]*big.Rat{}
	for s, chance := range states {
		for leader, share := range next(s) {
			after := s
			after.leader = leader
			after.ever = after.ever || p.skewed(leader)
			if leader != none {
				after.leader = e.settled(p, leader)
			}
			lasts := p.skewed(after.leader)
			after.ever, after.lasting = after.ever || lasts, after.lasting || lasts
			if out[after] == nil {
				out[after] = new(big.Rat)
			}
			out[after].Add(out[after], new(big.Rat).Mul(chance, share))
		}
	}
	return out
}

func certain(leader int) map[int]*big.Rat { return map[int]*big.Rat{leader: big.NewRat(1, 1)} }

// permute calls take with each order of n things once.
func permute(n int, take func([]int)) {
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	var from func(int)
	from = func(at int) {
		if at == n {
			take(slices.Clone(order))
			return
		}
		for i := at; i < n; i++ {
			order[at], order[i] = order[i], order[at]
			from(at + 1)
			order[at], order[i] = order[i], order[at]
		}
	}
	from(0)
}
