package main

import (
	"math/big"
	"slices"
)

// rollout is one way to take all members from one release to the other, one by one.
type rollout struct {
	// back is whether the rollout goes to the older release.
	back bool
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
		p.members[i] = member{newer: r.back, born: i}
		now[state{leader: i}] = big.NewRat(1, int64(len(order)))
	}
	for step, gone := range order {
		p.away = gone
		now = p.each(now, func(s state) map[int]*big.Rat {
			switch {
			case s.leader != gone:
				return certain(s.leader)
			case r.outlived:
				return certain(none)
			default:
				return e.vacant(p)
			}
		}, e)
		p.away = none
		p.members[gone] = member{newer: !r.back, born: len(order) + step}
		now = p.each(now, func(s state) map[int]*big.Rat {
			if s.leader == none {
				return e.vacant(p)
			}
			return certain(s.leader)
		}, e)
	}
	return now
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
