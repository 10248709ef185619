package main

import "math/big"

// played is what a member plays, of two releases: whether its binaries are the newer ones, and
// whether they behave like the newer release. Newer binaries may emulate the older release
// (KEP-4330).
type played struct{ binary, behaves bool }

// What members play.
var (
	plainOld   = played{}
	emulating  = played{binary: true}
	plainNewer = played{binary: true, behaves: true}
)

// member is a control-plane member. All its components play the same.
type member struct {
	played
	// born counts the starts of members: the member that started last has the highest.
	born int
}

// none stands in place of a member's index: no member leads, or no member is away.
const none = -1

// plane is a control plane at one moment.
type plane struct {
	members []member
	// away is the member that is being replaced, or none.
	away int
}

// present returns the members whose components run.
func (p plane) present() []int {
	var out []int
	for i := range p.members {
		if i != p.away {
			out = append(out, i)
		}
	}
	return out
}

// skewed is whether the leader behaves like a newer release than a running API server. The
// version skew policy forbids that to every component other than an API server; KEP-4330
// has it go by the emulated versions.
func (p plane) skewed(leader int) bool {
	if leader == none || !p.members[leader].behaves {
		return false
	}
	for _, i := range p.present() {
		if !p.members[i].behaves {
			return true
		}
	}
	return false
}

// election is a way in which leaders come to lead.
type election interface {
	// vacant returns the chance of each member to lead next, where no member leads. The
	// chances add up to one.
	vacant(p plane) map[int]*big.Rat
	// settled returns the leader after the election has taken all the decisions that it
	// takes about a healthy leader.
	settled(p plane, leader int) int
	// alike is whether the election does not tell members of the same release apart, so
	// that every order of the members has the same result.
	alike() bool
}
