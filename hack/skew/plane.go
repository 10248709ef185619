package main

import "math/big"

// member is a control-plane member: all its components have one release.
type member struct {
	// newer is whether it runs the newer one of the two releases.
	newer bool
	// born counts the starts of members, so that the youngest has the highest.
	born int
}

// nobody leads, or is away.
const nobody = -1

// plane is a control plane at one moment.
type plane struct {
	members []member
	// away is the member that is being replaced, or nobody.
	away int
}

// present are the members whose components run.
func (p plane) present() []int {
	var out []int
	for i := range p.members {
		if i != p.away {
			out = append(out, i)
		}
	}
	return out
}

// skewed is whether the leader is newer than an API server that runs, which the
// version skew policy forbids to every component that is no API server.
func (p plane) skewed(leader int) bool {
	if leader == nobody || !p.members[leader].newer {
		return false
	}
	for _, i := range p.present() {
		if !p.members[i].newer {
			return true
		}
	}
	return false
}

// election is a way in which leaders come to lead.
type election interface {
	// vacant gives the chances of members to lead next, if nobody does. They add up
	// to one.
	vacant(p plane) map[int]*big.Rat
	// settled is who leads when all has been done that an election does about a
	// leader who is well.
	settled(p plane, leader int) int
	// alike is whether members of the same release are alike to it, so that what comes
	// of one order of the members comes of all.
	alike() bool
}
